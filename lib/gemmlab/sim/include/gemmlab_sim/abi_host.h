// What a program's host code calls for the device's memory (host_memory.h).
#pragma once
#include <cstddef>

#pragma GCC visibility push(default)
extern "C" {
// Null if there is no room. host_visible: the host may use it without a copy. file, line: of the
// call, for findings.
void* sim_allocate(size_t bytes, int host_visible, const char* file, int line);
// These return a cudaError_t.
int sim_free(void* memory);
int sim_copy(void* to, const void* from, size_t bytes);
int sim_copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes,
                  size_t rows);
int sim_fill(void* memory, int value, size_t bytes);
void sim_memory_info(size_t* free, size_t* all);
// Memory of the host's own that kernels may use, too, and its end.
int sim_register(void* memory, size_t bytes);
int sim_unregister(void* memory);
// Of the heap from which kernels allocate; is_new: it is to have so many.
int sim_heap_bytes(size_t* bytes, int is_new);
// 0: memory of the host's alone, 1: of the device, 2: of both.
int sim_memory_kind(const void* address);
// Remembers an error until cudaGetLastError asks for it, and returns it.
int sim_refuse(int error, const char* reason);
}
#pragma GCC visibility pop
