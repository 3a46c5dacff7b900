// State that an asynchronous mechanism (cp.async, mbarriers, wgmma, ...) keeps for the block that a
// worker runs. Made when a kernel first uses the mechanism: worker.state<Mine>().
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "memory/types.h"

namespace sim {

class Worker;
struct Fiber;

struct Mechanism {
  virtual ~Mechanism() = default;
  virtual void begin_block(Worker&) {}
  // Every thread of the block has ended by itself: the place to report what is unfinished.
  virtual void end_block(Worker&) {}
  // After that, also where the block was given up: the place to say what explains its findings.
  virtual void explain(Worker&) {}
};

class Mechanisms {
 public:
  template <class M>
  M& get(Worker& worker) {
    static const u32 number = next_number_++;
    if (number >= all_.size()) all_.resize(number + 1);
    if (!all_[number]) {
      all_[number] = std::make_unique<M>();
      all_[number]->begin_block(worker);
    }
    return static_cast<M&>(*all_[number]);
  }

  void begin_block(Worker& worker) {
    for (const auto& mechanism : all_)
      if (mechanism) mechanism->begin_block(worker);
  }
  void end_block(Worker& worker) {
    for (const auto& mechanism : all_)
      if (mechanism) mechanism->end_block(worker);
  }
  void explain(Worker& worker) {
    for (const auto& mechanism : all_)
      if (mechanism) mechanism->explain(worker);
  }

 private:
  static inline std::atomic<u32> next_number_{0};
  std::vector<std::unique_ptr<Mechanism>> all_;
};

}  // namespace sim
