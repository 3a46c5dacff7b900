#include "beyond.h"

#include <algorithm>

namespace sim {

namespace {

bool covers(const Stamps& a, const Stamps& b) {
  u32 short_of = 0;  // no early exit: the loop is one of vectors
  for (size_t i = 0; i < a.size(); ++i) short_of |= a[i] < b[i];
  return !short_of;
}

std::shared_ptr<const Stamps> newest(const std::shared_ptr<const Stamps>& a,
                                     const std::shared_ptr<const Stamps>& b) {
  if (a == b || covers(*a, *b)) return a;
  if (covers(*b, *a)) return b;
  auto both = std::make_shared<Stamps>(*a);
  for (size_t i = 0; i < both->size(); ++i) (*both)[i] = std::max((*both)[i], (*b)[i]);
  return both;
}

}  // namespace

void View::join(u32 cluster, std::shared_ptr<const Stamps> stamps) {
  const auto at =
      std::lower_bound(parts_.begin(), parts_.end(), cluster,
                       [](const Part& part, u32 cluster) { return part.cluster < cluster; });
  if (at != parts_.end() && at->cluster == cluster)
    at->stamps = newest(at->stamps, stamps);
  else
    parts_.insert(at, {cluster, std::move(stamps)});
}

void View::join(const View& other) {
  for (const Part& part : other.parts_) join(part.cluster, part.stamps);
}

u32 View::known(u32 cluster, u32 slot) const {
  const auto at =
      std::lower_bound(parts_.begin(), parts_.end(), cluster,
                       [](const Part& part, u32 cluster) { return part.cluster < cluster; });
  return at != parts_.end() && at->cluster == cluster ? (*at->stamps)[slot] : 0;
}

}  // namespace sim
