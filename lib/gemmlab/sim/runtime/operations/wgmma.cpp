#include "wgmma.h"

#include "engine/worker.h"

namespace sim {

namespace {

// The lanes give up the block as soon as they run.
bool refuse_wgmma(Fiber* fibers, const Finding& why) {
  for (u32 lane = 0; lane < WARP; ++lane) {
    wgmma_call_of(fibers[lane]).is_refused = true;
    wgmma_call_of(fibers[lane]).why = why;
  }
  return false;
}

// what: lanes or warps that should do the same.
bool refuse_divergence(Fiber* fibers, u32 other_pc, const char* what) {
  Finding finding = {Kind::DIVERGENT_WARPGROUP, fibers->wait.pc, other_pc};
  finding.name = Wgmma::NAME;
  finding.other_name = what;
  return refuse_wgmma(fibers, finding);
}

}  // namespace

void Wgmma::begin_block(Worker& worker) {
  const u32 threads = worker.launch().threads();
  groups_ = std::vector<Warpgroup>((threads + GROUP_THREADS - 1) / GROUP_THREADS);
  operands_.clear();
  watches_.resize(MAX_THREADS);
  for (u32 t = 0; t < threads; ++t) worker.fibers()[t].registers = nullptr;
}

void Wgmma::end_block(Worker& worker) {
  for (u32 g = 0; g < groups_.size(); ++g) {
    const Fiber& first = worker.fibers()[g * GROUP_THREADS];
    if (first.registers && first.registers->has_reported()) continue;  // for want of the same wait
    for (const Operation& operation : groups_[g].operations) {
      Finding finding = {Kind::UNFINISHED, operation.pc, 0, worker.block(), first.index};
      finding.name = NAME;
      worker.mutable_findings().add(finding);
    }
  }
}

RegisterWatch& Wgmma::watch(Fiber& fiber) {
  if (!fiber.registers) {
    fiber.registers = &watches_[fiber.index];
    fiber.registers->begin_block();
  }
  return *fiber.registers;
}

// ---- start ----

bool Wgmma::check_lanes(Fiber* fibers) {
  const WgmmaCall& first = wgmma_call_of(fibers[0]);
  for (u32 lane = 1; lane < WARP; ++lane) {
    const WgmmaCall& call = wgmma_call_of(fibers[lane]);
    if (call.form != first.form || call.desc_a != first.desc_a || call.desc_b != first.desc_b)
      return refuse_divergence(fibers, 0, "lanes of a warp");
  }
  return true;
}

void Wgmma::start(Worker& worker, Fiber* fibers) {
  if (!check_lanes(fibers)) return;
  Warpgroup& group = group_of(*fibers);
  WarpState& warp = warp_of(group, *fibers);
  const u64 number = warp.started;
  if (number - warp.finished == MOST_UNFINISHED) {
    uintptr_t lowest[WARP];
    for (u32 lane = 0; lane < WARP; ++lane) lowest[lane] = wgmma_call_of(fibers[lane]).lowest;
    finish(worker, fibers, warp.finished + 1, lowest);
  }
  if (number == group.first + group.operations.size() && !open(worker, group, fibers)) return;
  Operation& operation = group.operation(number);
  if (operation.line != fibers->wait.line || !operation.is_same(wgmma_call_of(*fibers))) {
    refuse_divergence(fibers, operation.pc, "warps of a warpgroup");
    return;
  }
  ++warp.started;
  for (u32 lane = 0; lane < WARP; ++lane) {
    WgmmaCall& call = wgmma_call_of(fibers[lane]);
    const u32 thread = fibers[lane].index % GROUP_THREADS;
    call.number = number;
    operation.d[thread] = call.d;
    operation.a_registers[thread] = call.a;
  }
  if (++operation.arrived < GROUP_WARPS || !worker.launch().traced) return;
  begin_reads(worker, group, operation, fibers);
  count_reads(worker, operation);
}

// The first of the four warps.
bool Wgmma::open(Worker& worker, Warpgroup& group, Fiber* fibers) {
  const WgmmaCall& call = wgmma_call_of(*fibers);
  Operation operation;
  operation.pc = fibers->wait.pc;
  operation.line = fibers->wait.line;
  operation.form = call.form;
  operation.desc_a = call.desc_a;
  operation.desc_b = call.desc_b;
  operation.b = operand(worker, call.desc_b, operation.n(), operation.has(SIM_WGMMA_TRANS_B));
  if (!call.a) {
    const u32 rows = GROUP_WARPS * WARP_ROWS;
    operation.a = operand(worker, call.desc_a, rows, operation.has(SIM_WGMMA_TRANS_A));
    if (!check_operand(worker, fibers, *operation.a, 0)) return false;
  }
  if (!check_operand(worker, fibers, *operation.b, 1)) return false;
  group.operations.push_back(std::move(operation));
  return true;
}

const SharedOperand* Wgmma::operand(Worker& worker, u64 descriptor, u32 rows, bool mn_major) {
  const auto key = std::make_tuple(descriptor, rows, mn_major);
  const auto known = operands_.find(key);
  if (known != operands_.end()) return &known->second;
  return &operands_.emplace(key, SharedOperand(descriptor, rows, mn_major, worker.shared()))
              .first->second;
}

// which: 0 A, 1 B.
bool Wgmma::check_operand(Worker& worker, Fiber* fibers, const SharedOperand& operand, u32 which) {
  if (operand.fault() == DescriptorFault::NONE) return true;
  Finding finding = {Kind::BAD_DESCRIPTOR, fibers->wait.pc, 0, worker.block(), fibers->index};
  if (operand.can_be_read()) finding.kind = Kind::DOUBTFUL_DESCRIPTOR;
  finding.name = NAME;
  finding.number[0] = i64(operand.fault());
  finding.number[1] = which;
  finding.number[2] = i64(operand.detail());
  finding.number[3] = operand.span();
  if (!operand.can_be_read()) return refuse_wgmma(fibers, finding);
  worker.mutable_findings().add(finding);
  return true;
}

// The tensor core reads for all four warps, so what one of them has not waited for is not there.
void Wgmma::begin_reads(Worker& worker, Warpgroup& group, const Operation& operation,
                        Fiber* fibers) {
  if (!group.agent) group.agent = worker.clocks().new_agent();
  Fiber* const first = fibers - fibers->index % GROUP_THREADS;
  const Fiber all = worker.clocks().common(first, GROUP_THREADS, group.agent);
  const AsyncOp op = {NAME, operation.pc, true};
  for (const SharedOperand* operand : {operation.a, operation.b})
    if (operand)
      for (const SharedOperand::Span& span : operand->memory())
        worker.races().begin_read(all, op, span.offset, span.bytes);
}

// One request for the warpgroup, and a wavefront for each eight pieces of 16 bytes, wherever they
// stand. An H200 counts so in every layout, width and form, and with offsets that make no sense.
void Wgmma::count_reads(Worker& worker, const Operation& operation) {
  const Event event = make_event(operation.pc, Op::WGMMA_READ, 4, 0);
  Counter counter;
  counter.requests = 1;
  counter.lanes = GROUP_THREADS;
  counter.wavefronts = (operation.b->pieces() + (operation.a ? operation.a->pieces() : 0)) / 8;
  counter.wavefronts_min = counter.wavefronts;
  worker.requests().add(what_of(event), counter);
}

bool Wgmma::is_complete(const Fiber& fiber, u64 number) {
  Warpgroup& group = group_of(fiber);
  return number < group.first || group.operation(number).arrived == GROUP_WARPS;
}

u32 Wgmma::missing_warp(const Fiber& fiber, u64 number) {
  const WarpState* warps = group_of(fiber).warps;
  u32 warp = 0;
  while (warp < GROUP_WARPS && warps[warp].started > number) ++warp;
  return warp;
}

// ---- commit and wait ----

void Wgmma::commit(const Fiber* fibers) {
  WarpState& warp = warp_of(group_of(*fibers), *fibers);
  if (warp.groups.size() == MOST_UNFINISHED) warp.groups.pop_front();  // the next one covers it
  warp.groups.push_back(warp.started);
}

void Wgmma::wait(Worker& worker, Fiber* fibers, u32 newest, const uintptr_t* lowest) {
  std::deque<u64>& groups = warp_of(group_of(*fibers), *fibers).groups;
  if (groups.size() <= newest) return;
  const auto end = groups.end() - newest;
  finish(worker, fibers, end[-1], lowest);
  groups.erase(groups.begin(), end);
}

void Wgmma::finish(Worker& worker, Fiber* fibers, u64 end, const uintptr_t* lowest) {
  Warpgroup& group = group_of(*fibers);
  WarpState& warp = warp_of(group, *fibers);
  const bool traced = worker.launch().traced;
  if (warp.finished >= end) return;
  for (; warp.finished < end; ++warp.finished) {
    Operation& operation = group.operation(warp.finished);
    if (!operation.finished++) {
      read(worker.shared(), operation);
      if (traced) end_reads(worker, group, operation, *fibers);
    }
    multiply(operation, fibers, lowest);
  }
  for (u32 lane = 0; traced && lane < WARP; ++lane) {
    worker.clocks().learn(fibers[lane], group.agent, group.operation(end - 1).stamp);
    watch(fibers[lane]).finish(end);
  }
  while (group.operations.size() && group.operations.front().finished == GROUP_WARPS)
    group.operations.pop_front(), ++group.first;
}

void Wgmma::end_reads(Worker& worker, Warpgroup& group, Operation& operation, Fiber& waiter) {
  operation.stamp = worker.clocks().new_stamp();
  worker.clocks().learn(waiter, group.agent, operation.stamp);
  const AsyncOp op = {NAME, operation.pc, true};
  for (const SharedOperand* operand : {operation.a, operation.b})
    if (operand)
      for (const SharedOperand::Span& span : operand->memory())
        worker.races().end_read(op, waiter, group.agent, operation.stamp, span.offset, span.bytes);
}

}  // namespace sim
