#include "findings.h"

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

void Findings::add(const Findings& others) {
  for (const Finding& finding : others.list_) add(finding);
}

}  // namespace sim
