"""Lines of a step's PTX: found, shortened, shown; and the recording that stands in for nvcc."""

from __future__ import annotations

import needs
import pytest

import gemmlab as lab
from gemmlab.core.errors import ArgumentError, BackendError, BuildError, MeasurementError
from gemmlab.gpu import ptx
from gemmlab.gpu.ptx import compiled, recorded, version
from gemmlab.steps.text import source_digest

BY_VALUE = {"__grid_constant__ ": ""}


def text(listing):
    return [line.text for line in listing.lines]


@pytest.fixture
def no_nvcc(monkeypatch):
    def missing():
        raise BackendError("nvcc: not found")

    monkeypatch.setattr(ptx, "nvcc", missing)


@pytest.mark.slow
def test_a_map_is_copied_to_local_memory_unless_it_is_a_grid_constant():
    kept = lab.ptx("tma_01_load", "cvta.param|local|prefetch")
    assert [line.split()[0] for line in text(kept)[:2]] == ["cvta.param.u64", "prefetch.tensormap"]
    assert not [line for line in text(kept) if "local" in line]
    copied = lab.variant("tma_01_load", BY_VALUE)
    found = text(lab.ptx(copied, "cvta.param|local", most=100))
    assert found[0] == ".local .align 128 .b8 __local_depot0[256];"
    assert sum(line.startswith("st.local.v2.u64") for line in found) == 16
    assert not [line for line in found if "cvta.param" in line]


def test_parameters_have_short_names_and_the_title_counts():
    found = lab.ptx("tma_01_load", r"^\s*\.param", most=3)
    assert text(found)[0] == ".param .align 128 .b8 param_0[128],"
    assert len(found.lines) == 3
    assert "8 of" in found.title
    assert found.title.endswith(r"lines with ^\s*\.param, the first 3")
    assert "nvcc " in found.title
    assert "sm_90a" in found.title


def test_nothing_found_is_said():
    found = lab.ptx("tma_01_load", "wgmma")
    assert found.lines == ()
    assert ": 0 of " in found.title
    assert "gl-code" in found._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"find": "("}, "find: '(' is no regular expression"),
        ({"find": 3}, "find: 3 is no regular expression"),
        ({"most": 0}, "most: got 0, expected a number of lines"),
        ({"most": True}, "most: got True"),
        ({"most": "all"}, "most: got 'all'"),
    ],
)
def test_what_is_asked_for_must_make_sense(arguments, said):
    with pytest.raises(ArgumentError) as caught:
        lab.ptx("tma_01_load", **arguments)
    assert said in str(caught.value)


def test_without_nvcc_the_recording_is_shown(no_nvcc):
    assert "recorded 20" in lab.ptx("tma_01_load").title
    assert "nvcc 13.0" in lab.ptx("tma_01_load").title
    copied = lab.variant("tma_01_load", BY_VALUE, label="my own name for it")
    assert "__local_depot0[256]" in text(lab.ptx(copied, "local"))[0]


def test_what_was_not_recorded_is_named(no_nvcc):
    with pytest.raises(MeasurementError) as caught:
        lab.ptx(lab.variant("tma_01_load", {"STAGES = 3": "STAGES = 2"}))
    for part in ("tma_01_load (variant) was not recorded", "maps by value", "nvcc: not found"):
        assert part in str(caught.value)


@needs.slow_nvcc
def test_what_nvcc_refuses_is_passed_on():
    with pytest.raises(BuildError, match=r"tma_01_load \(variant\), PTX:\n.*error"):
        lab.ptx(lab.variant("tma_01_load", {"int stage = 0": "int stage = nothing"}))


def test_no_recorded_ptx_is_stale():
    for name, one in recorded()["kernels"].items():
        handle = lab.variant(one["step"], one["changes"])
        assert one["source"] == source_digest(handle.source.path), name


@needs.slow_nvcc
def test_the_recorded_ptx_is_what_this_nvcc_gives():
    for one in recorded()["kernels"].values():
        lines = compiled(lab.variant(one["step"], one["changes"]))
        needs.same_nvcc(version(lines), version(tuple(one["ptx"])))
        # The sixth line or so names the build of the compiler.
        assert [x for x in lines if "Build ID" not in x] == [
            x for x in one["ptx"] if "Build ID" not in x
        ]


def test_a_text_without_a_header_has_no_version():
    assert version(("nothing",)) == "of unknown version"
