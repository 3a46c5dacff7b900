// Stores of the copy engine, and the groups in which a thread waits for them. PTX ISA,
// "cp.async.bulk.commit_group", "cp.async.bulk.wait_group".
//
// A store reads shared memory when its thread waits for that (.read), and writes global memory when
// it waits for all of it, or at the end of the block: the latest legal moments. One that nobody has
// waited for reads after the end, when the memory is another block's: NaN patterns.
#include "../../include/gemmlab_sim/abi_async.h"
#include "tma.h"

namespace sim {

namespace {

struct Store {
  AsyncOp op;
  Box box;
  std::vector<char> copy;  // what was read; empty until then

  bool is_read() const { return !copy.empty(); }
  void read(Fiber& fiber);
  // Whether it writes any of `width` bytes of global memory.
  bool writes(u32 offset, u32 width) const;
};

using Group = std::vector<Store>;

// Calls visit(address in shared memory, bytes) for what the store takes from shared memory: what
// lies outside of the tensor may be anything.
template <class Visit>
void for_each_taken(const Box& box, Visit visit) {
  for (u32 row = 0; row < box.rows(); ++row) {
    const RowPart part = box.part(row);
    box.for_each_chunk(row, part.begin, part.end,
                       [&](u32, u32 place, u32 count) { visit(place, count); });
  }
}

void Store::read(Fiber& fiber) {
  if (is_read()) return;
  Worker& worker = *fiber.worker;
  copy.resize(box.bytes());
  box.take(worker.shared().at(0), copy.data());
  if (!worker.launch().traced) return;
  for_each_taken(box, [&](u32 address, u32 bytes) {
    worker.races().end_read(op, fiber, fiber.slot, fiber.stamp, address, bytes);
  });
}

bool Store::writes(u32 offset, u32 width) const {
  const i64 base = i64(offset) - i64(arena.offset_of(reinterpret_cast<uintptr_t>(box.map.base)));
  const i64 stride = box.map.strides[0], y = box.at[1];
  for (u32 plane = 0; plane < box.planes(); ++plane) {
    i64 from;
    if (!box.find_plane(plane, from)) continue;
    const i64 begin = base - from, end = begin + width;
    if (end <= 0) continue;
    // A tensor of one dimension has one row.
    const i64 first = stride ? std::max(std::max<i64>(begin, 0) / stride - y, i64(0)) : 0;
    const i64 most = i64(box.map.box[1]) - 1;
    const i64 last = stride ? std::min((end - 1) / stride - y, most) : most;
    for (i64 row = first; row <= last; ++row) {
      const RowPart part = box.part(plane * box.map.box[1] + u32(row));
      if (part.begin == part.end) continue;
      const i64 start = part.global - box.map.base - from;
      if (start < end && begin < start + (part.end - part.begin)) return true;
    }
  }
  return false;
}

class BulkGroups : public Mechanism {
 public:
  struct Thread {
    Group open;                 // started, not committed
    std::vector<Group> groups;  // oldest first; not known to have written
  };

  void begin_block(Worker& worker) override {
    threads_.assign(worker.launch().threads(), Thread());
    worker.stores_under_way = 0;
  }
  void end_block(Worker& worker) override;
  // The store that will write any of these bytes, and the thread that has started it; or null.
  const Store* writer_of(u32 offset, u32 width, u32& thread) const;
  Thread& of(const Fiber& fiber) { return threads_[fiber.index]; }

 private:
  std::vector<Thread> threads_;
};

void BulkGroups::end_block(Worker& worker) {
  for (u32 t = 0; t < threads_.size(); ++t) {
    Thread& thread = threads_[t];
    thread.groups.push_back(std::move(thread.open));
    for (const Group& group : thread.groups)
      for (const Store& store : group) {
        if (store.is_read()) {
          store.box.store(store.copy.data());
          continue;
        }
        store.box.store(std::vector<char>(store.box.bytes(), char(0xff)).data());
        Finding finding = {Kind::UNFINISHED, store.op.pc, 0, worker.block(), t};
        finding.name = store.op.name;
        worker.mutable_findings().add(finding);
      }
  }
}

const Store* BulkGroups::writer_of(u32 offset, u32 width, u32& thread) const {
  const auto find = [&](const Group& group) -> const Store* {
    for (const Store& store : group)
      if (store.writes(offset, width)) return &store;
    return nullptr;
  };
  for (thread = 0; thread < threads_.size(); ++thread) {
    if (const Store* store = find(threads_[thread].open)) return store;
    for (const Group& group : threads_[thread].groups)
      if (const Store* store = find(group)) return store;
  }
  return nullptr;
}

void start_store(Fiber& fiber, const AsyncOp& op, const Box& box) {
  Worker& worker = *fiber.worker;
  if (worker.launch().traced)
    for_each_taken(
        box, [&](u32 address, u32 bytes) { worker.races().begin_read(fiber, op, address, bytes); });
  record_box(fiber, op, Op::TMA_STORE, box);
  worker.state<BulkGroups>().of(fiber).open.push_back({op, box, {}});
  ++worker.stores_under_way;
}

// Until only the newest groups are unfinished.
void wait_for_groups(Fiber& fiber, u32 newest, bool only_read) {
  auto& groups = fiber.worker->state<BulkGroups>().of(fiber).groups;
  const size_t done = groups.size() > newest ? groups.size() - newest : 0;
  for (size_t i = 0; i < done; ++i)
    for (Store& store : groups[i]) store.read(fiber);
  if (only_read) return;
  for (size_t i = 0; i < done; ++i)
    for (const Store& store : groups[i]) {
      store.box.store(store.copy.data());
      --fiber.worker->stores_under_way;
    }
  groups.erase(groups.begin(), groups.begin() + i64(done));
}

}  // namespace

void compare_with_stores(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc) {
  Worker& worker = *fiber.worker;
  u32 thread;
  const Store* store = worker.state<BulkGroups>().writer_of(offset, width, thread);
  if (!store) return;
  const Kind kind = access == Access::READ ? Kind::READ_BEFORE_WAIT : Kind::WRITE_BEFORE_WAIT;
  Finding finding = {kind, pc, store->op.pc, worker.block(), fiber.index};
  finding.name = store->op.name;
  finding.number[0] = true;
  finding.number[1] = thread;
  worker.mutable_findings().add(finding);
}

}  // namespace sim

extern "C" {

void sim_tma_store(const void* map, uint32_t from, SimPlace place) {
  static const char* const NAMES[] = {"tma_store_1d", "tma_store_2d", "tma_store_3d",
                                      "tma_store_4d", "tma_store_5d"};
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::AsyncOp op = {NAMES[place.rank - 1], fiber.pc_of(__builtin_return_address(0)), true};
  sim::start_store(fiber, op, sim::make_box(fiber, op, sim::Access::READ, map, from, place));
}

void sim_bulk_commit() {
  sim::Fiber& fiber = *sim::running_fiber();
  auto& thread = fiber.worker->state<sim::BulkGroups>().of(fiber);
  thread.groups.push_back(std::move(thread.open));
  thread.open.clear();
}

void sim_bulk_wait(unsigned newest) { sim::wait_for_groups(*sim::running_fiber(), newest, false); }

void sim_bulk_wait_read(unsigned newest) {
  sim::wait_for_groups(*sim::running_fiber(), newest, true);
}

}  // extern "C"
