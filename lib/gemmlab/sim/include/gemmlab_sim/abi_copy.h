// What ptx/cp_async.cuh and cuda_pipeline_primitives.h call in the runtime.
#pragma once
#include <cstdint>

// What a copy costs depends on its way: through L1, past it, or past it with a source size.
enum SimCopyPath { SIM_COPY_CA, SIM_COPY_CG, SIM_COPY_CG_ZFILL };

#pragma GCC visibility push(default)
extern "C" {
// To a shared address; `bytes` are written, the first `source_bytes` of them from `from`, the
// others as zeros.
void sim_cp_async(uint32_t to, const void* from, unsigned bytes, unsigned source_bytes,
                  SimCopyPath path);
void sim_cp_async_commit();
// Until at most `newest` groups are unfinished.
void sim_cp_async_wait(unsigned newest);
void sim_cp_async_wait_all();
// An arrival at the mbarrier once all copies of the thread so far are finished.
void sim_cp_async_mbarrier_arrive(uint32_t barrier);
// The same, after one arrival more was made due in the barrier's phase (without .noinc).
void sim_cp_async_mbarrier_arrive_counted(uint32_t barrier);
}
#pragma GCC visibility pop
