// cp.async: copies of 4, 8 or 16 bytes from global to shared memory, in groups that a thread waits
// for. PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy".
//
// The source is read when the copy is issued, the destination is written when its thread waits for
// it: the latest moment that PTX allows. So where a wait is missing the values are wrong, in an
// untraced run too. A wait covers the copies of the thread that waits, and no other's.
//
// Copies that end at an mbarrier are finished when no thread can go on.
#pragma once
#include <algorithm>
#include <vector>

#include "mbarrier.h"
#include "engine/mechanism.h"
#include "memory/types.h"

namespace sim {

// First in, first out. Entries are numbered; the numbers go on from entry to entry, and wrap.
template <class T>
class Queue {
 public:
  void clear() { first_ = end_ = 0; }
  u32 first() const { return first_; }
  u32 end() const { return end_; }  // the number that the next entry will have
  u32 size() const { return end_ - first_; }
  T& operator[](u32 number) { return entries_[number & (entries_.size() - 1)]; }
  void push(const T& entry) {
    if (size() == entries_.size()) grow();
    (*this)[end_++] = entry;
  }
  T pop() { return (*this)[first_++]; }

 private:
  void grow() {
    std::vector<T> larger(std::max<size_t>(16, 2 * entries_.size()));
    for (u32 i = first_; i != end_; ++i) larger[i & (larger.size() - 1)] = (*this)[i];
    entries_.swap(larger);
  }

  std::vector<T> entries_;  // none, or a power of two of them
  u32 first_ = 0, end_ = 0;
};

class CpAsync : public Mechanism {
 public:
  static constexpr char NAME[] = "cp.async";
  struct Copy {
    u32 to, bytes;  // in shared memory
    u32 pc;
    const void* from;  // read when the copy is waited for, and no sooner
    u32 source_bytes;
  };

  void begin_block(Worker& worker) override;
  void end_block(Worker& worker) override;

  void issue(Fiber& fiber, const Copy& copy);
  // Whether a copy of the thread, issued at `pc`, is unfinished and lacks a group.
  bool is_ungrouped(const Fiber& fiber, u32 pc);
  // The copies since the last commit are a group; there may be none.
  void commit(Fiber& fiber);
  // Finishes all groups but the `newest`.
  void wait(Fiber& fiber, u32 newest);
  void wait_all(Fiber& fiber);
  // Starts to wait for all copies so far on behalf of a barrier, at which it will arrive.
  void arrive_later(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op);

 private:
  // Copies, or groups, of a thread. The oldest is finished before there are more, which is legal at
  // any moment, so that a loop without a wait does not use up this machine's memory.
  static constexpr u32 MOST_UNFINISHED = 4096;
  // Copies, from number `first` on, that were finished on behalf of a barrier, by its agent: the
  // thread itself knows of that when it has waited for them, too.
  struct Arrived {
    u32 first, slot, stamp;
  };
  struct Thread {
    Queue<Copy> copies;  // unfinished
    Queue<u32> groups;   // the end of each, as a number of a copy
    u32 committed = 0;   // the end of the last one, also when it has been waited for
    Queue<Arrived> arrived;
    u32 left = 0;             // the groups that the last wait left in flight
    bool by_barrier = false;  // copies are waited for at mbarriers, which need no groups
  };

  void finish_but(Fiber& fiber, u32 newest);
  void finish(Fiber& fiber, u32 end);
  // From now on as if `slot` had written the memory of the copies up to `end`, at `stamp`.
  void write(Fiber& fiber, u32 end, u32 slot, u32 stamp);
  void arrive(Fiber& fiber, u32 end, Mbarrier& barrier, const AsyncOp& op);

  std::vector<Thread> threads_;
};

}  // namespace sim
