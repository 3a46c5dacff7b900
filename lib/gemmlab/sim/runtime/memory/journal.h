// What one block did, thread by thread and in each thread's order: its accesses and, as marks,
// where it waited. Of the other blocks only the first store to global memory, which tells what they
// made.
#pragma once
#include <vector>

#include "requests.h"

namespace sim {

// An event that is the value of the one before has this width, and the value as its address.
constexpr u32 LOG2_WORD = 2;

// One access or mark. sim/journal.py has the fields in this order.
struct JournalRow {
  static constexpr u32 WORDS = 4;  // of a value, at most
  static constexpr u32 NO_VALUE = ~0u;

  u32 block, address, pc;
  u32 value;  // the first of its words, or NO_VALUE
  u16 thread;
  u8 kind;   // an Op, or a Mark behind all of them
  u8 width;  // bytes; of a mark those of its value
};
static_assert(sizeof(JournalRow) == 20, "as NumPy reads it");

// sim/abi.py has the fields in this order.
struct JournalSize {
  u64 rows, words, is_cut;
};

class Journal {
 public:
  static constexpr size_t MOST = 1 << 22;  // events of a block: what follows is left out

  // whole: whether all of the block is kept. values: then also what accesses read and write.
  void begin_block(u32 block, bool whole, bool values);
  void add(const WarpEvents& events);
  void take(Journal& other);  // what it has; it keeps nothing
  void clear();
  bool is_whole() const { return whole_; }
  bool has_values() const { return whole_ && values_; }
  JournalSize size() const { return {rows_.size(), words_.size(), is_cut_}; }
  void copy(JournalRow* rows, u32* words) const;

 private:
  // Where the value of a thread's last row goes: it may come with a later part of the warp's log.
  struct Last {
    u32 row = 0, words = 0;
  };

  void add_first_store(const WarpEvents& events);
  void add_row(const Event& event, u32 thread);
  void add_word(u32 word, u32 thread);

  std::vector<JournalRow> rows_;
  std::vector<u32> words_;
  std::vector<Last> last_;  // of each thread
  u32 block_ = 0;
  bool whole_ = false, values_ = false, has_stored_ = false, is_cut_ = false;
};

}  // namespace sim
