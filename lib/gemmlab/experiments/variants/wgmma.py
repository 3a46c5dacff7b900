"""Variants of the steps of Part IV."""

from __future__ import annotations

# Name -> the step, and what is changed in its text.
EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "wgmma 06, arrivals with a fence": (
        "wgmma_06_cluster",
        {"mbarrier_arrive_remote": "mbarrier_arrive_cluster"},
    ),
    "wgmma 08, k one way": ("wgmma_08_order", {"backwards = !backwards": "backwards = false"}),
    "wgmma 10, from the first wave on": (
        "wgmma_10_in_step",
        {"share.waves < 8 ?": "share.waves < 1 ?"},
    ),
    "wgmma 10, strips of 16": ("wgmma_10_in_step", {"STRIP = 8;": "STRIP = 16;"}),
}
