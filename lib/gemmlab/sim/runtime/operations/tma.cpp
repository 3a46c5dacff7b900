#include "tma.h"

#include <memory>

#include "../../include/gemmlab_sim/abi_async.h"
#include "mbarrier.h"

namespace sim {

namespace {

constexpr u32 BOX_ALIGNMENT = 128;

// Along a row a box begins at a multiple of 16 bytes, before and after the tensor, too.
// Else the kernel ends with an illegal instruction (seen on an H200, bf16, every swizzle).
void check_column(Fiber& fiber, const AsyncOp& op, const Box& box) {
  if (box.at[0] * box.map.element_bytes % TensorMap::CHUNK == 0) return;
  Finding finding = {Kind::MISALIGNED_COLUMN, op.pc};
  finding.name = op.name;
  finding.number[0] = box.at[0];
  finding.number[1] = box.map.element_bytes;
  fiber.worker->abandon(fiber, finding);
}

void check_part(Fiber& fiber, const AsyncOp& op, const RowPart& part, Access access) {
  if (part.begin == part.end) return;
  const u32 width = part.end - part.begin;
  const size_t offset = arena.offset_of(reinterpret_cast<uintptr_t>(part.global));
  const int nearest = offset < Arena::BYTES ? arena.nearest(u32(offset)) : -1;
  const Arena::Buffer buffer = nearest < 0 ? Arena::Buffer{} : arena.buffer(nearest);
  if (offset < buffer.offset || offset + width > u64(buffer.offset) + buffer.bytes)
    refuse_global(fiber, u32(offset), width, access, op.pc);
}

// The part of a box that lies in the tensor must lie in one buffer of global memory: of each plane
// the first and the last row that have one.
void check_global(Fiber& fiber, const AsyncOp& op, const Box& box, Access access) {
  const u32 rows = box.map.box[1];
  for (u32 plane = 0; plane < box.planes(); ++plane) {
    RowPart first = {}, last = {};
    for (u32 row = plane * rows; row < (plane + 1) * rows; ++row) {
      const RowPart part = box.part(row);
      if (part.begin == part.end) continue;
      if (!first.global) first = part;
      last = part;
    }
    check_part(fiber, op, first, access);
    check_part(fiber, op, last, access);
  }
}

// An instruction names as many dimensions as the map has.
void check_rank(Fiber& fiber, const AsyncOp& op, const Box& box, u32 rank) {
  static const char* const EXPECTED[] = {"as its number of dimensions, and the tensor map has 1",
                                         "as its number of dimensions, and the tensor map has 2",
                                         "as its number of dimensions, and the tensor map has 3",
                                         "as its number of dimensions, and the tensor map has 4",
                                         "as its number of dimensions, and the tensor map has 5"};
  if (box.map.rank == rank) return;
  Finding finding = {Kind::BAD_ARGUMENT, op.pc};
  finding.name = op.name;
  finding.other_name = EXPECTED[box.map.rank - 1];
  finding.number[0] = rank;
  fiber.worker->abandon(fiber, finding);
}

}  // namespace

Box make_box(Fiber& fiber, const AsyncOp& op, Access shared, const void* map, u32 address,
             const SimPlace& place) {
  Box box = {{}, {}, offset_in_block(address)};
  std::copy_n(place.at, place.rank, box.at);
  if (!may_read(fiber, map, sizeof box.map) || !TensorMap::read(map, box.map)) {
    Finding finding = {Kind::BAD_TENSOR_MAP, op.pc};
    finding.name = op.name;
    fiber.worker->abandon(fiber, finding);
  }
  check_rank(fiber, op, box, place.rank);
  check_column(fiber, op, box);
  check_alignment(fiber, op, address, BOX_ALIGNMENT);
  const u32 shared_bytes = box.shared_bytes();
  if (rank_of(address, fiber.rank) != fiber.rank ||
      !fiber.worker->shared().contains(box.address, shared_bytes))
    refuse_shared(fiber, shared_bytes, shared, op.pc);
  const Access global = shared == Access::READ ? Access::WRITE : Access::READ;
  check_global(fiber, op, box, global);
  if (fiber.worker->launch().traced)
    for (u32 row = 0; row < box.rows(); ++row) {
      const RowPart part = box.part(row);
      const u32 offset = u32(arena.offset_of(reinterpret_cast<uintptr_t>(part.global)));
      if (part.begin != part.end) check_use(fiber, offset, part.end - part.begin, global, op.pc);
    }
  return box;
}

void record_box(Fiber& fiber, const AsyncOp& op, Op kind, const Box& box) {
  if (!fiber.worker->launch().traced) return;
  Counter counter;
  counter.requests = counter.lanes = 1;
  u64 bytes = 0;
  for (u32 row = 0; row < box.rows(); ++row) {
    const RowPart part = box.part(row);
    if (part.begin == part.end) continue;
    const u32 start = u32(arena.offset_of(reinterpret_cast<uintptr_t>(part.global)));
    const u32 end = start + (part.end - part.begin);
    if (kind == Op::TMA_LOAD)
      fiber.worker->globals().read(fiber, start, end - start, op.pc);
    else
      fiber.worker->globals().write(fiber, start, end - start, op.pc);
    counter.sectors += (end - 1) / SECTOR - start / SECTOR + 1;
    bytes += end - start;
  }
  counter.sectors_min = (bytes + SECTOR - 1) / SECTOR;
  const u32 log2_width = u32(__builtin_ctz(box.map.element_bytes));
  fiber.worker->requests().add(what_of(make_event(op.pc, kind, log2_width, 0)), counter);
}

namespace {

// A box on its way into the shared memory of one or several blocks, at equal places.
struct Load {
  Fiber* fiber;  // that started it
  AsyncOp op;
  Box box;
  std::vector<Mbarrier*> barriers;  // by rank; null: not for this block

  void finish() const {
    Cluster& cluster = fiber->worker->cluster();
    for (u32 rank = 0; rank < barriers.size(); ++rank) {
      if (!barriers[rank]) continue;
      Worker& target = *cluster.worker(rank);
      box.load(target.shared().at(0));
      const u32 stamp = end_copy(target, *barriers[rank], box.bytes());
      if (!fiber->worker->launch().traced) continue;
      box.for_each_piece([&](u32 place, u32 bytes) {
        cluster.races.end_write(*fiber, op, barriers[rank]->agent, stamp, map_to_rank(place, rank),
                                bytes);
      });
    }
  }
};

// For a journal with values: what the engine brings, piece by piece as it will lie there.
void keep_box(Fiber& fiber, const AsyncOp& op, const Box& box) {
  mark(fiber, op.pc, Mark::TMA_LOAD, box.address);
  if (!fiber.worker->journal().has_values()) return;
  std::vector<char> memory(box.address + box.shared_bytes());
  box.load(memory.data());
  constexpr u32 MOST = 4 * JournalRow::WORDS;
  box.for_each_piece([&](u32 place, u32 bytes) {
    for (u32 at = 0; at < bytes; at += MOST) {
      mark(fiber, op.pc, Mark::BOX, place + at);
      keep_value(fiber, &memory[place + at], std::min(MOST, bytes - at), op.pc);
    }
  });
}

void start_load(Fiber& fiber, const AsyncOp& op, const Box& box, u32 barrier_address, u32 ranks) {
  Worker& worker = *fiber.worker;
  Cluster& cluster = worker.cluster();
  if (!ranks || ranks >> cluster.ranks()) {
    Finding finding = {Kind::BAD_ARGUMENT, op.pc};
    finding.name = op.name;
    finding.other_name = "as the mask of blocks; let it name blocks of the cluster, one at least";
    finding.number[0] = ranks;
    worker.abandon(fiber, finding);
  }
  if (rank_of(barrier_address, fiber.rank) != fiber.rank)
    refuse_shared(fiber, Mbarrier::BYTES, Access::WRITE, op.pc);
  auto load = std::make_shared<Load>(Load{&fiber, op, box, {}});
  load->barriers.resize(cluster.ranks());
  for (u32 rank = 0; rank < cluster.ranks(); ++rank) {
    if (!(ranks >> rank & 1)) continue;
    Mbarrier& barrier = use_mbarrier(fiber, op, map_to_rank(barrier_address, rank));
    begin_copy(fiber, barrier, op, box.bytes());
    load->barriers[rank] = &barrier;
    if (!worker.launch().traced) continue;
    box.for_each_piece([&](u32 place, u32 bytes) {
      worker.races().begin_write(fiber, op, map_to_rank(place, rank), bytes);
    });
  }
  record_box(fiber, op, Op::TMA_LOAD, box);
  cluster.copies.push_back([load] { load->finish(); });
}

}  // namespace

}  // namespace sim

extern "C" {

void sim_tma_load(uint32_t to, const void* map, uint32_t barrier, SimPlace place) {
  static const char* const NAMES[] = {"tma_load_1d", "tma_load_2d", "tma_load_3d", "tma_load_4d",
                                      "tma_load_5d"};
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::AsyncOp op = {NAMES[place.rank - 1], fiber.pc_of(__builtin_return_address(0)), true};
  const sim::Box box = sim::make_box(fiber, op, sim::Access::WRITE, map, to, place);
  sim::keep_box(fiber, op, box);
  sim::start_load(fiber, op, box, barrier, 1u << fiber.rank);
}

void sim_tma_load_multicast(uint32_t to, const void* map, uint32_t barrier, SimPlace place,
                            uint16_t ranks) {
  static const char* const NAMES[] = {"tma_load_1d_multicast", "tma_load_2d_multicast",
                                      "tma_load_3d_multicast", "tma_load_4d_multicast",
                                      "tma_load_5d_multicast"};
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::AsyncOp op = {NAMES[place.rank - 1], fiber.pc_of(__builtin_return_address(0)), true};
  const sim::Box box = sim::make_box(fiber, op, sim::Access::WRITE, map, to, place);
  sim::keep_box(fiber, op, box);
  sim::start_load(fiber, op, box, barrier, ranks);
}

void sim_tma_prefetch(const void* map) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::TensorMap copy;
  if (sim::may_read(fiber, map, sizeof copy) && sim::TensorMap::read(map, copy)) return;
  sim::Finding finding = {sim::Kind::BAD_TENSOR_MAP, fiber.pc_of(__builtin_return_address(0))};
  finding.name = "tma_prefetch";
  fiber.worker->abandon(fiber, finding);
}

}  // extern "C"
