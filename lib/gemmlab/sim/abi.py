"""The structures that the compiled runtime shares with Python, field by field."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

# The place of a program counter: file, line, text of the line. None if it is not known.
LineOf = Callable[[int], tuple[str, int, str] | None]


WARP = 32  # lanes, of SampleRow's addresses


class RawEarlyWait(ctypes.Structure):
    """runtime/order/findings.h's EarlyWait."""

    _fields_ = (("pc", ctypes.c_uint32), ("thread", ctypes.c_uint32), ("phase", ctypes.c_int64))


class RawFinding(ctypes.Structure):
    """runtime/order/findings.h's Finding."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("kind", "pc", "other_pc", "block", "thread")),
        ("role", ctypes.c_uint32),
        ("count", ctypes.c_uint64),
        ("number", ctypes.c_int64 * 4),
        ("name", ctypes.c_char_p),
        ("other_name", ctypes.c_char_p),
        ("early", RawEarlyWait),
    )


class GemmArgs(ctypes.Structure):
    """kernels/common/launch/host.cuh's structure of this name."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in "ABC"),
        *((name, ctypes.c_int) for name in "MNK"),
        ("alpha", ctypes.c_float),
        ("beta", ctypes.c_float),
        ("workspace", ctypes.c_void_p),
        ("config", ctypes.c_int),
        ("layout", ctypes.c_int),
    )


class WorkspaceCall(ctypes.Structure):
    """sim/build.py's structure of this name: a problem, and how much scratch memory it needs."""

    _fields_ = (("args", GemmArgs), ("bytes", ctypes.c_size_t))


class CountRow(ctypes.Structure):
    """runtime/api.cpp's row: the counters of one instruction."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("what", "pc", "op", "width")),
        *((name, ctypes.c_uint64) for name in ("requests", "lanes", "wavefronts")),
        *((name, ctypes.c_uint64) for name in ("wavefronts_min", "sectors", "sectors_min")),
    )


class JournalSize(ctypes.Structure):
    """runtime/memory/journal.h's structure of this name."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in ("rows", "words", "is_cut"))


class LaunchRow(ctypes.Structure):
    """runtime/engine/session.h's structure of this name: one launch."""

    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("blocks", "shared_bytes", "threads", "kernel", "run")
    )


class Index(ctypes.Structure):
    """include/gemmlab_sim/abi.h's SimIndex."""

    _fields_ = tuple((name, ctypes.c_uint32) for name in "xyz")


class RecordRow(ctypes.Structure):
    """runtime/engine/session.h's structure of this name: the equal launches of a program."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_uint32),
        *((name, Index) for name in ("grid", "block", "cluster")),
        *((name, ctypes.c_uint64) for name in ("dynamic_bytes", "static_bytes", "runs")),
        ("error", ctypes.c_int),
        ("reason", ctypes.c_char_p),
    )


class ArgumentsRow(ctypes.Structure):
    """program/build.py's structure of this name: what main() is given."""

    _fields_ = (("count", ctypes.c_int), ("texts", ctypes.POINTER(ctypes.c_char_p)))


class SampleRow(ctypes.Structure):
    """runtime/api.cpp's row: one request of one instruction."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("what", "reserved")),
        *((name, ctypes.c_uint32) for name in ("block", "warp", "time", "number")),
        ("requests", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("cost", "cost_min", "starts", "mask")),
        ("address", ctypes.c_uint32 * WARP),
    )
