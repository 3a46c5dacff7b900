"""Clusters: shared memory of other blocks, the barrier of the cluster, what goes wrong there."""

from __future__ import annotations

import numpy as np
import pytest

# name -> kind, advice.
MISTAKES = {
    "cluster_start": ("cluster-lifetime", "before the first such access"),
    "cluster_exit": ("cluster-lifetime", "after the last such access"),
    "cluster_race": ("race", "elements of its own"),
    "cluster_no_barrier": ("barrier-misuse", "before the first use"),
    "cluster_unreleased": ("race", "mbarrier_arrive_cluster"),
    "cluster_stuck": ("deadlock", "threads of its cluster that do not arrive"),
}


@pytest.mark.parametrize(("launch", "blocks"), [("cluster_ring", 4), ("pairs", 2)])
@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("portable", [False, True])
def test_a_sum_over_the_cluster(kernel_file, launch, blocks, threads, portable):
    A = np.arange(64 * 16, dtype=np.float32)
    C = np.zeros_like(A)
    module = kernel_file("cluster_ring").module(launch, portable)
    trace = module.trace(A, A, C, A.size, 1, 1, threads=threads)
    assert trace.findings == ()
    expected = A.reshape(-1, blocks, 64).sum(1, keepdims=True).repeat(blocks, 1)
    assert np.array_equal(C, expected.ravel())
    C[:] = 0
    module.launch(A, A, C, A.size, 1, 1, threads=threads)
    assert np.array_equal(C, expected.ravel())


def test_a_thread_may_leave_after_it_has_arrived(kernel_file):
    A = np.arange(512, dtype=np.float32)
    C = np.zeros_like(A)
    module = kernel_file("cluster_leavers").module("leavers")
    assert module.trace(A, A, C, A.size, 1, 1).findings == ()
    assert np.array_equal(C, A.reshape(-1, 2, 128)[:, ::-1].ravel())


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_found(kernel_file, name):
    kind, advice = MISTAKES[name]
    fixture = kernel_file(name)
    A, C = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    trace = fixture.module("broken").trace(A, A, C, 8, 8, 8)
    found = [f for f in trace.findings if f.kind == kind and f.line == fixture.lines["here"]]
    assert found and advice in found[0].message
    assert fixture.module("fixed").trace(A, A, C, 8, 8, 8).findings == ()


@pytest.mark.parametrize("name", ["cluster_stuck", "cluster_no_barrier"])
def test_clusters_do_not_know_of_each_other(kernel_file, name):
    """Nor of what ran before on the same OS threads."""
    A, C = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    module = kernel_file(name).module("broken")
    first, second = (module.trace(A, A, C, 8, 8, 8, threads=n) for n in (1, 4))
    assert first.findings == second.findings
