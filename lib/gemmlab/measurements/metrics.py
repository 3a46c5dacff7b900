"""Nsight Compute's names of what is recorded, by short names of ours."""

from __future__ import annotations

COUNTED_SIZE = 256  # M = N = K of the counters that the simulator is compared with

# What the simulator computes. The smsp__sass_ counters leave out queueing between warps, which is
# not a property of the access, so they must equal the simulator's numbers exactly.
_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
COUNTERS = {
    "shared_load_wavefronts": _WAVEFRONTS.format("ld"),
    "shared_store_wavefronts": _WAVEFRONTS.format("st"),
    # Those of loads count cp.async as well.
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_instructions": "smsp__sass_inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__sass_inst_executed_op_shared_st.sum",
    "thread_load_bytes": "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "thread_copy_bytes": "smsp__sass_data_bytes_mem_global_op_ldgsts.sum",  # cp.async
    "thread_store_bytes": "smsp__sass_data_bytes_mem_global_op_st.sum",
}
# Of 16-bit steps also what feeds the tensor cores.
_COUNTERS_16_BIT = COUNTERS | {
    "ldmatrix_wavefronts": _WAVEFRONTS.format("ldsm"),
    "stmatrix_wavefronts": _WAVEFRONTS.format("stsm"),
    "copy_wavefronts": _WAVEFRONTS.format("ldgsts"),  # cp.async, where it writes
    "ldmatrix_instructions": "smsp__sass_inst_executed_op_ldsm.sum",
}

# Bytes (or 32-byte sectors) that pass each level, for the roofline. No smsp__sass_ counter here:
# ncu gets those by instrumenting the kernel, which takes minutes at this size. What the threads ask
# for is counted at the small size above, and grows exactly with M * N * K.
TRAFFIC = {
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
}

# How busy each unit was over the whole run, in per cent of its peak rate.
LIMITS = {
    "fma_pipe": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed",
    "issue_slots": "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
    "l1_data": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l1_requests": "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "warps_active": "sm__warps_active.avg.pct_of_peak_sustained_active",
}

# For each instruction issued, the warps that meanwhile wait for one reason.
_STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
STALLS = (
    "barrier",
    "short_scoreboard",
    "long_scoreboard",
    "mio_throttle",
    "lg_throttle",
    "math_pipe_throttle",
    "dispatch_stall",
    "wait",
    "not_selected",
)
LIMITS |= {f"stall_{reason}": _STALLED.format(reason) for reason in STALLS}
# Of mma.sync and wmma: instructions issued, and cycles in which the pipe is at work.
_LIMITS_16_BIT = {
    "tensor_pipe": "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_elapsed",
    "tensor_cycles": "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    **LIMITS,
}

# Of a library's kernels, which cannot be built a second time. Those of several launches add up.
CYCLES = "sm__cycles_elapsed.max"

# Which of a step's launches takes longest.
DURATION = "gpu__time_duration.sum"

# Counters of the same stores. Only the first leaves out the queueing between warps.
ARBITRATION = {
    "needed": _WAVEFRONTS.format("st"),
    "counted": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "arbitration": "l1tex__data_bank_conflicts_type_arbitration.sum",
}


def counters_of(family: str) -> dict[str, str]:
    """What is counted of each step of a family, and compared with the simulator."""
    return COUNTERS if family == "sgemm" else _COUNTERS_16_BIT


def limits_of(family: str) -> dict[str, str]:
    """How busy the units are that a family of steps may keep busy, and what its warps wait for."""
    return LIMITS if family == "sgemm" else _LIMITS_16_BIT
