// What a kernel and its launcher print.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "memory/types.h"

namespace sim {

class Output {
 public:
  // As much as a GPU keeps of a launch, unless it is asked for more.
  static constexpr size_t MOST = 1 << 20;
  static constexpr u64 HOST = ~u64(0);

  void clear();
  // From here on what the host prints goes to standard output at once, and a launch's at its end.
  void begin_program();
  void end_launch();
  void begin_launch() { ++launches_; }
  // block: of the launch under way, HOST: the launcher.
  void add(u64 block, std::string text);
  // In order: launches, and of each its blocks by number, whatever order they have run in.
  const char* text();
  // Calls of printf that found no room.
  u64 left_out() const { return left_out_; }

 private:
  struct Piece {
    u64 launch, block;
    std::string text;
  };
  std::mutex mutex_;
  std::vector<Piece> pieces_;
  std::string whole_;
  bool direct_ = false;
  size_t bytes_ = 0;
  u64 launches_ = 0, left_out_ = 0;
};

extern Output output;

}  // namespace sim
