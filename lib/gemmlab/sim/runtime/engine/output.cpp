#include "output.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace sim {

Output output;

void Output::clear() {
  pieces_.clear();
  direct_ = false;
  bytes_ = launches_ = left_out_ = 0;
}

void Output::begin_program() {
  direct_ = true;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // so that a crash loses no line
}

void Output::end_launch() {
  const std::string printed = text();
  std::fwrite(printed.data(), 1, printed.size(), stdout);
  pieces_.clear();
  bytes_ = 0;
}

void Output::add(u64 block, std::string text) {
  if (direct_ && block == HOST) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (bytes_ + text.size() > MOST) {
    ++left_out_;
    return;
  }
  bytes_ += text.size();
  pieces_.push_back({launches_, block, std::move(text)});
}

const char* Output::text() {
  std::stable_sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.launch, a.block) < std::tie(b.launch, b.block);
  });
  whole_.clear();
  for (const Piece& piece : pieces_) whole_ += piece.text;
  return whole_.c_str();
}

}  // namespace sim
