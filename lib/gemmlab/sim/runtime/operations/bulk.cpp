// Stores of the copy engine, and the groups in which a thread waits for them. PTX ISA,
// "cp.async.bulk.commit_group", "cp.async.bulk.wait_group".
//
// A store reads shared memory when its thread waits for that (.read), and writes global memory when
// it waits for all of it, or at the end of the block: the latest legal moments.
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
};

using Group = std::vector<Store>;

// Calls visit(address in shared memory, bytes) for what the store takes from shared memory: what
// lies outside of the tensor may be anything.
template <class Visit>
void for_each_taken(const Box& box, Visit visit) {
  for (u32 row = 0; row < box.map.box_rows; ++row) {
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

class BulkGroups : public Mechanism {
 public:
  struct Thread {
    Group open;                 // started, not committed
    std::vector<Group> groups;  // oldest first; not known to have written
  };

  void begin_block(Worker& worker) override {
    threads_.assign(worker.launch().threads(), Thread());
  }
  void end_block(Worker& worker) override;
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
        Finding finding = {Kind::UNFINISHED, store.op.pc, 0, worker.block(), t};
        finding.name = store.op.name;
        worker.mutable_findings().add(finding);
      }
  }
}

void start_store(Fiber& fiber, const AsyncOp& op, const Box& box) {
  Worker& worker = *fiber.worker;
  if (worker.launch().traced)
    for_each_taken(
        box, [&](u32 address, u32 bytes) { worker.races().begin_read(fiber, op, address, bytes); });
  record_box(fiber, op, Op::TMA_STORE, box);
  worker.state<BulkGroups>().of(fiber).open.push_back({op, box, {}});
}

// Until only the newest groups are unfinished.
void wait_for_groups(Fiber& fiber, u32 newest, bool only_read) {
  auto& groups = fiber.worker->state<BulkGroups>().of(fiber).groups;
  const size_t done = groups.size() > newest ? groups.size() - newest : 0;
  for (size_t i = 0; i < done; ++i)
    for (Store& store : groups[i]) store.read(fiber);
  if (only_read) return;
  for (size_t i = 0; i < done; ++i)
    for (const Store& store : groups[i]) store.box.store(store.copy.data());
  groups.erase(groups.begin(), groups.begin() + i64(done));
}

}  // namespace

}  // namespace sim

extern "C" {

void sim_tma_store(const void* map, uint32_t from, int x, int y) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::AsyncOp op = {"tma_store_2d", fiber.pc_of(__builtin_return_address(0)), true};
  sim::start_store(fiber, op, sim::make_box(fiber, op, sim::Access::READ, map, from, x, y));
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
