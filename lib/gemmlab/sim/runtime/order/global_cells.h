// A table beside global memory: a cell for every four bytes of it, or for fewer where accesses are
// narrower. It exists page by page, where memory is used.
#pragma once
#include <memory>
#include <vector>

#include "memory/arena.h"
#include "memory/types.h"

namespace sim {

template <class Cell>
struct CellPage {
  u32 shift = 2;  // log2 of the bytes of a cell
  u32 round = 0;  // when it was last used, as its owner counts
  std::vector<Cell> cells = std::vector<Cell>(Arena::PAGE >> 2);

  Cell* cell(u32 offset) { return &cells[(offset & (Arena::PAGE - 1)) >> shift]; }
  u32 start(size_t cell) const { return u32(cell << shift); }  // its first byte in the page

  // Every access so far covered whole cells, so each part of one has the history of the whole.
  void refine(u32 to) {
    if (to >= shift) return;
    const u32 copies = 1u << (shift - to);
    std::vector<Cell> finer;
    finer.reserve(cells.size() * copies);
    for (const Cell& cell : cells) finer.insert(finer.end(), copies, cell);
    cells.swap(finer);
    shift = to;
  }
};

template <class Cell>
class GlobalCells {
 public:
  using Page = CellPage<Cell>;

  // Room for all memory that is allocated now. What the table has is kept, for its pages' owner to
  // forget: new memory costs more.
  void resize() { pages_.resize(arena.pages()); }
  Page& at(u32 offset) {
    auto& page = pages_[offset >> Arena::PAGE_SHIFT];
    if (!page) page = std::make_unique<Page>();
    return *page;
  }
  // Calls visit(offset of the first byte, page).
  template <class Visit>
  void for_each(Visit visit) {
    for (size_t i = 0; i < pages_.size(); ++i)
      if (pages_[i]) visit(u32(i << Arena::PAGE_SHIFT), *pages_[i]);
  }

 private:
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace sim
