#include "wgmma_registers.h"

#include <algorithm>

#include "memory/access.h"

namespace sim {

void RegisterWatch::begin_block() {
  loans_.clear();
  touched_.clear();
  has_fenced_ = has_reported_ = false;
}

void RegisterWatch::fence() {
  has_fenced_ = true;
  touched_.clear();
  for (Loan& loan : loans_) loan.fenced = true;
}

void RegisterWatch::start(const Fiber& fiber, u32 pc, u64 number, const float* d, const u32* a,
                          u32 n) {
  if (!has_fenced_) {
    report_missing_fence(fiber, pc, 0);
    fence();  // once is enough
  }
  lend(fiber, {d, n / 2 * u32(sizeof *d)}, pc, number, n);
  if (a) lend(fiber, {a, 4 * sizeof *a}, pc, number, 0);
}

void RegisterWatch::lend(const Fiber& fiber, const Registers& registers, u32 pc, u64 number,
                         u32 n) {
  for (const Touch& touch : touched_)
    if (touch.registers.overlaps(registers)) report_missing_fence(fiber, pc, touch.pc);
  for (Loan& loan : loans_) {
    if (!loan.registers.overlaps(registers)) continue;
    if (loan.n == n && loan.registers.begin == registers.begin) {
      loan.number = number;
      loan.pc = pc;
      return;
    }
    if (!loan.fenced) report_missing_fence(fiber, pc, loan.pc);
  }
  loans_.push_back({registers, number, pc, n, false});
}

void RegisterWatch::finish(u64 number) {
  const auto ended = [number](const Loan& loan) { return loan.number < number; };
  loans_.erase(std::remove_if(loans_.begin(), loans_.end(), ended), loans_.end());
}

void RegisterWatch::touch(const Fiber& fiber, const Registers& memory, Access access, u32 pc) {
  for (const Loan& loan : loans_) {
    if (!loan.registers.overlaps(memory)) continue;
    Finding finding = {Kind::REGISTER_BEFORE_WAIT, pc, loan.pc, fiber.worker->block(), fiber.index};
    finding.number[0] = access != Access::READ;
    finding.number[1] = loan.n == 0;
    fiber.worker->mutable_findings().add(finding);
    has_reported_ = true;
    return;
  }
  for (Touch& touch : touched_) {
    Registers& known = touch.registers;
    if (memory.begin > known.end || memory.end < known.begin) continue;
    known.begin = std::min(known.begin, memory.begin);
    known.end = std::max(known.end, memory.end);
    touch.pc = pc;
    return;
  }
  touched_.push_back({memory, pc});
}

void RegisterWatch::report_missing_fence(const Fiber& fiber, u32 pc, u32 other_pc) const {
  fiber.worker->mutable_findings().add(
      {Kind::MISSING_REGISTER_FENCE, pc, other_pc, fiber.worker->block(), fiber.index});
}

}  // namespace sim
