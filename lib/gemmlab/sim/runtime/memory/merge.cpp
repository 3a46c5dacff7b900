#include "merge.h"

#include <algorithm>
#include <map>

#include "engine/event.h"

namespace sim {

namespace {

// Requests whose lanes stand in the same way to each other, by the lowest lane's address: their
// lanes' addresses differ by one number. One address stands once in a row.
using Row = std::map<u32, const Mergeable*>;

u32 address_of_first(const Request& request) {
  return request.address[__builtin_ctz(request.mask)];
}

// Equal for requests of one row.
std::vector<u32> shape_of(const Mergeable& one) {
  const u32 first = address_of_first(one.request);
  std::vector<u32> shape = {one.what & 127, one.request.mask};  // operation and width
  for (u32 n = 0; n < WARP; ++n)
    shape.push_back(one.request.mask >> n & 1 ? one.request.address[n] - first : 0);
  return shape;
}

bool is_aligned(const Request& request, u32 width) {
  for (u32 n = 0; n < WARP; ++n)
    if (request.mask >> n & 1 && request.address[n] % width) return false;
  return true;
}

bool are_neighbors(const Row& row, Row::const_iterator at, u32 count, u32 width) {
  for (u32 i = 1; i < count; ++i) {
    const u32 before = at->first;
    if (++at == row.end() || at->first != before + width) return false;
  }
  return true;
}

// How many from `at` on become one request.
u32 taken_together(const Row& row, Row::const_iterator at, u32 width) {
  const Mergeable& one = *at->second;
  for (u32 wide = one.widest; wide > width; wide /= 2)
    if (is_aligned(one.request, wide) && are_neighbors(row, at, wide / width, width))
      return wide / width;
  return 1;
}

void add_merged(const Row& row, u32 log2_width, std::vector<Mergeable>& result) {
  for (auto at = row.begin(); at != row.end();) {
    Mergeable one = *at->second;
    const u32 count = taken_together(row, at, 1u << log2_width);
    one.what += u32(__builtin_ctz(count));
    result.push_back(one);
    std::advance(at, count);
  }
}

}  // namespace

std::vector<Mergeable> merged(const std::vector<Mergeable>& asked) {
  std::map<std::vector<u32>, std::vector<Row>> rows;  // the second row: asked for once more
  for (const Mergeable& one : asked) {
    std::vector<Row>& known = rows[shape_of(one)];
    const u32 address = address_of_first(one.request);
    size_t at = 0;
    while (at < known.size() && known[at].count(address)) ++at;
    if (at == known.size()) known.emplace_back();
    known[at].emplace(address, &one);
  }
  std::vector<Mergeable> result;
  for (const auto& [shape, known] : rows)
    for (const Row& row : known) add_merged(row, shape[0] & 7, result);
  return result;
}

}  // namespace sim
