// setmaxnreg changes how many registers a warp has, and there are none here. What is checked is who
// executes it: PTX ISA, "setmaxnreg", wants the same one in all four warps of a warpgroup.
#include <algorithm>

#include "../../include/gemmlab_sim/abi_matrix.h"
#include "engine/worker.h"

namespace sim {

namespace {

constexpr u32 WARPS = 4;  // of a warpgroup

class RegisterChanges : public Mechanism {
 public:
  void begin_block(Worker&) override { changes_.clear(); }

  void add(u32 warp, const Wait& wait, u32 request) {
    const auto same = [&](const Change& c) {
      return c.group == warp / WARPS && c.line == wait.line && c.request == request;
    };
    auto found = std::find_if(changes_.begin(), changes_.end(), same);
    if (found == changes_.end())
      found = changes_.insert(found, {warp / WARPS, request, wait.line, wait.pc, {}});
    ++found->times[warp % WARPS];
  }

  void end_block(Worker& worker) override {
    for (const Change& change : changes_) {
      const u32 most = *std::max_element(change.times, change.times + WARPS);
      const auto executed = std::count(change.times, change.times + WARPS, most);
      if (executed == WARPS) continue;
      Finding finding = {Kind::PARTIAL_WARPGROUP, change.pc, 0, worker.block(),
                         change.group * WARPS * WARP};
      finding.number[0] = executed;
      finding.name = "setmaxnreg";
      worker.mutable_findings().add(finding);
    }
  }

 private:
  struct Change {
    u32 group, request;
    int line;
    u32 pc;
    u32 times[WARPS];  // by warp
  };
  std::vector<Change> changes_;
};

void execute_change(Worker& worker, Fiber* fibers, u32) {
  const u32 request = *static_cast<u32*>(fibers[0].wait.operands);
  worker.state<RegisterChanges>().add(fibers[0].index / WARP, fibers[0].wait, request);
}

const Collective CHANGE = {"setmaxnreg", execute_change, true};

}  // namespace

}  // namespace sim

extern "C" void sim_setmaxnreg(unsigned registers, bool increase, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::u32 request = registers << 1 | increase;
  fiber.worker->meet(fiber,
                     {fiber.pc_of(__builtin_return_address(0)), line, &sim::CHANGE, ~0u, &request});
}
