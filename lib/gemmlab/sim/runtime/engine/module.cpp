#include "module.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "fault.h"

namespace sim {

namespace {

struct Search {
  uintptr_t address;  // 0: look for the path
  const char* path;
  Module* found;
};

bool holds_address(const dl_phdr_info& library, uintptr_t address) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& segment = library.dlpi_phdr[i];
    const uintptr_t start = library.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address - start < segment.p_memsz) return true;
  }
  return false;
}

int visit(dl_phdr_info* library, size_t, void* data) {
  const Search& search = *static_cast<Search*>(data);
  const bool is_it = search.address ? holds_address(*library, search.address)
                                    : std::strcmp(library->dlpi_name, search.path) == 0;
  if (!is_it) return 0;
  Module& module = *search.found;
  module.code = library->dlpi_addr;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& segment = library->dlpi_phdr[i];
    const u32 end = u32(segment.p_vaddr + segment.p_memsz);
    if (segment.p_type == PT_LOAD) module.image_bytes = std::max(module.image_bytes, end);
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
      module.code_bytes = std::max(module.code_bytes, end);
    if (segment.p_type == PT_TLS) {
      module.shared_bytes = u32(segment.p_memsz);
      module.tls_module = library->dlpi_tls_modid;
    }
  }
  return 1;
}

}  // namespace

bool find_library(uintptr_t address, Module& module) {
  Search search = {address, nullptr, &module};
  return dl_iterate_phdr(visit, &search) == 1;
}

bool find_library(const char* path, Module& module) {
  Search search = {0, path, &module};
  return dl_iterate_phdr(visit, &search) == 1;
}

const char* Module::place_in_arrays(u32 offset) const {
  const auto part = [&](u32 start, const std::string& name, u32 bytes) {
    const u32 byte = offset - start;
    return kept(byte || bytes > 8 ? "byte " + std::to_string(byte) + " of " + name : name);
  };
  for (size_t i = 0; i < array_names.size(); ++i)
    if (offset - arrays[i].offset < arrays[i].bytes)
      return part(arrays[i].offset, array_names[i], arrays[i].bytes);
  if (dynamic_offset < 0 || offset < dynamic_offset) return nullptr;
  return part(u32(dynamic_offset), "the dynamic shared memory", ~0u);
}

// The function that compiled code calls for the address of a thread_local; it also creates the
// segment at the thread's first call.
struct TlsIndex {
  size_t module, offset;
};
extern "C" void* __tls_get_addr(TlsIndex*);

char* shared_segment(const Module& module) {
  if (!module.tls_module) return nullptr;
  TlsIndex start = {module.tls_module, 0};
  return static_cast<char*>(__tls_get_addr(&start));
}

}  // namespace sim
