// What one block did, thread by thread and in each thread's order: its accesses and, as marks,
// where it waited. Of the other blocks only the first store to global memory, which tells what they
// made.
#pragma once
#include <vector>

#include "requests.h"

namespace sim {

// sim/abi.py has the fields in this order.
struct JournalRow {
  u32 block, thread, pc, op, width, address;
};

class Journal {
 public:
  static constexpr size_t MOST = 1 << 21;  // rows: what follows is left out

  // whole: whether all of the block is kept. values: then also what accesses read and write.
  void begin_block(u32 block, bool whole, bool values);
  void add(const WarpEvents& events);
  void add(const Journal& other);
  void clear() { rows_.clear(); }
  bool is_whole() const { return whole_; }
  bool has_values() const { return whole_ && values_; }
  const std::vector<JournalRow>& rows() const { return rows_; }

 private:
  void add(const Event& event, u32 thread);

  std::vector<JournalRow> rows_;
  u32 block_ = 0;
  bool whole_ = false, values_ = false, has_stored_ = false;
};

}  // namespace sim
