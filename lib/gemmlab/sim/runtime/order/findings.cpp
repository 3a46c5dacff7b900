#include "findings.h"

#include <algorithm>

namespace sim {

void Findings::add(const Finding& finding) {
  for (Finding& known : list_) {
    if (known.kind != finding.kind || known.pc != finding.pc || known.other_pc != finding.other_pc)
      continue;
    const u64 count = known.count + finding.count;
    if (finding.block < known.block) known = finding;
    known.count = count;
    return;
  }
  list_.push_back(finding);
}

void Findings::remove(Kind kind) {
  const auto is_one = [&](const Finding& finding) { return finding.kind == kind; };
  list_.erase(std::remove_if(list_.begin(), list_.end(), is_one), list_.end());
}

void Findings::explain_reads(u32 block, const std::vector<u32>& operations, const EarlyWait& why) {
  for (Finding& known : list_)
    if (known.kind == Kind::READ_BEFORE_WAIT && known.block == block && !known.early.pc &&
        std::find(operations.begin(), operations.end(), known.other_pc) != operations.end())
      known.early = why;
}

void Findings::change(Kind kind, const Finding& finding) {
  for (Finding& known : list_)
    if (known.kind == kind && known.pc == finding.pc && known.block == finding.block &&
        known.thread == finding.thread) {
      const u64 count = known.count;
      known = finding;
      known.count = count;
    }
}

bool Findings::holds(Kind kind) const {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const Finding& one) { return one.kind == kind; });
}

void Findings::add(const Findings& others) {
  for (const Finding& finding : others.list_) add(finding);
}

}  // namespace sim
