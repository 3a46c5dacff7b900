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
  u64 used[Arena::PAGE / 4 / 64] = {};  // a bit for each word that was, in that round

  Cell* cell(u32 offset) { return &cells[(offset & (Arena::PAGE - 1)) >> shift]; }
  void note_use(u32 offset) {
    const u32 word = (offset & (Arena::PAGE - 1)) / 4;
    used[word / 64] |= u64(1) << word % 64;
  }
  // Calls visit(number of a cell) for each cell of each word that was used.
  template <class Visit>
  void for_each_used(Visit visit) const {
    for (u32 i = 0; i < Arena::PAGE / 4 / 64; ++i)
      for (u64 left = used[i]; left; left &= left - 1) {
        const u32 word = i * 64 + u32(__builtin_ctzll(left));
        for (u32 cell = word << (2 - shift); cell < (word + 1) << (2 - shift); ++cell) visit(cell);
      }
  }
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
