// Functions of the C library that a kernel's library gets from here instead (the linker's --wrap):
// those that print, whose text belongs into the notebook, and those that end the process.
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <string>

#include "engine/fault.h"
#include "engine/output.h"

namespace sim {

namespace {

int print(const std::string& text, const void* return_address) {
  if (Fiber* fiber = running_fiber()) {
    // A loop that only prints calls nothing else that would see it.
    if (hooks & HOOKS_CANCEL) fiber->worker->stop_early(*fiber, fiber->pc_of(return_address));
    output.add(fiber->worker->block(), text);
  } else {
    const Uninterrupted here;
    output.add(Output::HOST, text);
  }
  return int(text.size());
}

std::string formatted(const char* format, va_list values) {
  va_list again;
  va_copy(again, values);
  std::string text(size_t(std::max(std::vsnprintf(nullptr, 0, format, again), 0)), '\0');
  va_end(again);
  std::vsnprintf(&text[0], text.size() + 1, format, values);
  return text;
}

[[noreturn]] void end(const char* name, int status, const void* return_address) {
  leave_program(status);
  Finding finding = {Kind::ENDED};
  finding.name = kept(std::string(name) + "(" + std::to_string(status) + ")");
  stop_caller(finding, return_address);
  _exit(status);
}

}  // namespace

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" {

int __wrap_vprintf(const char* format, va_list values) {
  return sim::print(sim::formatted(format, values), __builtin_return_address(0));
}

int __wrap_printf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const std::string text = sim::formatted(format, values);
  va_end(values);
  return sim::print(text, __builtin_return_address(0));
}

// What the compiler makes of a printf without a format.
int __wrap_puts(const char* text) {
  return sim::print(std::string(text) + "\n", __builtin_return_address(0));
}
int __wrap_putchar(int character) {
  sim::print(std::string(1, char(character)), __builtin_return_address(0));
  return character;
}

clock_t __wrap_clock() { return sim::running_fiber() ? clock_t(sim_clock()) : clock(); }

void __wrap_exit(int status) { sim::end("exit", status, __builtin_return_address(0)); }
void __wrap__exit(int status) { sim::end("_exit", status, __builtin_return_address(0)); }
void __wrap__Exit(int status) { sim::end("_Exit", status, __builtin_return_address(0)); }
void __wrap_quick_exit(int status) { sim::end("quick_exit", status, __builtin_return_address(0)); }
int __wrap_raise(int signal) { sim::end("raise", signal, __builtin_return_address(0)); }
int __wrap_kill(pid_t, int signal) { sim::end("kill", signal, __builtin_return_address(0)); }

}  // extern "C"
#pragma GCC visibility pop
