// assert() of a kernel: stops its block and says where, instead of ending the process. No guard: as
// the C library's, it may be included again.
#include "gemmlab_sim/abi.h"

#undef assert
#ifdef NDEBUG
#define assert(expression) static_cast<void>(0)
#else
#define assert(expression) ((expression) ? static_cast<void>(0) : sim_assertion_failed(#expression))
#endif
