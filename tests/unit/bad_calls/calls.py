"""Calls of the API that cannot be right: expressions, and what their error has to say.

A row is an expression with a gap, and the wrong values that go there, one at a time. The error has
to begin with the argument's name, and has to hold `remedy`: what is allowed, or what to do.
"""

from __future__ import annotations

from dataclasses import dataclass

# Wrong values by what is expected. They are expressions, evaluated with NAMES of test_bad_calls.py.
NO_INTEGER = ("None", "'4'", "2.5", "nan", "True", "[4]")
NO_SIZE = (*NO_INTEGER, "-1", "2**31", "10**20")
NO_COUNT = (*NO_SIZE, "0")
NO_FACTOR = ("None", "'1'", "True", "[1]", "1j", "1e300", "-1e39", "10**400")
NO_TEXT = ("5", "b'x'", "['x']")
NO_FLAG = ("'yes'", "1", "None")
NO_LIST = ("5", "True", "{'x': 1}")
NO_STEP = ("None", "5", "''", "'sgemm_99'", "['sgemm_01_naive']", "b'sgemm_01_naive'", "torch")


@dataclass(frozen=True)
class Row:
    """`call` with each of `values` in its gap; `error`: the class that is raised."""

    call: str
    argument: str
    values: tuple[str, ...]
    remedy: str
    error: str = "ArgumentError"


def of_steps(call: str, argument: str, listing: str = "") -> tuple[Row, ...]:
    """What is wrong where a step's name stands: another type, another name."""
    unknown = "did you mean|gemmlab list"
    return (
        Row(call, argument, ("None", "5", "torch", "b'sgemm_01_naive'"), "a name such as"),
        Row(call, argument, ("''", "'sgemm_99'", "'naive kernel'"), unknown, "UnknownKernelError"),
    )


MATRICES = (
    Row("lab.matrices({}, 8, 8)", "M", NO_SIZE, "an integer from 0 to"),
    Row("lab.matrices(8, {}, 8)", "N", NO_SIZE, "an integer from 0 to"),
    Row("lab.matrices(8, 8, {})", "K", NO_SIZE, "an integer from 0 to"),
    Row("lab.matrices(2**31 - 1, 8, {})", "M, N, K", ("2**31 - 1", "2**20"), "use smaller"),
    Row("lab.matrices(8, 8, 8, device={})", "device", ("''", "'gpu'", "5", "'cuda:99'"), "'cpu'"),
    Row("lab.matrices(8, 8, 8, device={})", "device", ("'meta'", "['cpu']", "True"), "'cpu'"),
    Row("lab.matrices(8, 8, 8, seed={})", "seed", (*NO_INTEGER, "-1", "2**64"), "from 0 to"),
    Row("lab.matrices(8, 8, 8, dtype={})", "dtype", ("'int8'", "'double'", "''"), "float32"),
    Row("lab.matrices(8, 8, 8, dtype={})", "dtype", ("torch.float32", "None", "5"), "'float16'"),
)

_CHECK = "lab.check('sgemm_01_naive', {})"
CHECK = (
    *of_steps("lab.check({})", "kernel"),
    Row(_CHECK, "shapes", ("5", "'4x4x4'", "(4, 4, 4)", "[4]", "['444']"), "of (M, N, K)"),
    Row(_CHECK, "shapes", ("[(4, 4)]", "[(4, 4, 4, 4)]", "[]", "[None]"), "of (M, N, K)"),
    Row(_CHECK, "shapes", ("{(4, 4, 4): 1}", "[{4, 5, 6}]"), "of (M, N, K)"),
    Row("lab.check('sgemm_01_naive', [({}, 4, 4)])", "M", NO_COUNT, "an integer from 1 to"),
    Row("lab.check('sgemm_01_naive', [(4, {}, 4)])", "N", NO_COUNT, "an integer from 1 to"),
    Row("lab.check('sgemm_01_naive', [(4, 4, {})])", "K", NO_SIZE, "an integer from 0 to"),
    Row(_CHECK, "shapes", ("[(2**20, 2**20, 4)]", "[(2**31 - 1,) * 3]"), "smaller M, N and K"),
    Row("lab.check('sgemm_06_swizzled_a', [({}, 128, 16)])", "M", ("1", "127"), "multiple of 128"),
    Row("lab.check('sgemm_01_naive', device={})", "device", ("'gpu'", "''", "5", "True"), "'cpu'"),
    Row("lab.check('sgemm_01_naive', device={})", "device", ("['cpu']", "'sim'"), "'cpu'"),
    Row(
        "lab.check('hgemm_10_mma', precisions={})", "precisions", ("'bf16'", "5", "[]"), "['bf16']"
    ),
    Row(
        "lab.check('sgemm_01_naive', precisions=[{}])", "precision", ("'fp8'", "5", "None"), "fp32"
    ),
    Row("lab.check('sgemm_01_naive', precisions={})", "precision", ("['bf16']",), "compiled for"),
    Row("lab.check('sgemm_01_naive', allow_slow={})", "allow_slow", NO_FLAG, "True or False"),
)

_TRACE = "lab.trace('sgemm_01_naive', {})"
TRACE = (
    *of_steps("lab.trace({})", "kernel"),
    Row("lab.trace('sgemm_01_naive', M={})", "M", NO_COUNT, "an integer from 1 to"),
    Row("lab.trace('sgemm_01_naive', N={})", "N", NO_COUNT, "an integer from 1 to"),
    Row("lab.trace('sgemm_01_naive', K={})", "K", NO_COUNT, "an integer from 1 to"),
    Row(
        "lab.trace('sgemm_01_naive', 8, 8, 8, alpha={})",
        "alpha",
        NO_FACTOR,
        "a number that fp32 holds",
    ),
    Row(
        "lab.trace('sgemm_01_naive', 8, 8, 8, beta={})",
        "beta",
        NO_FACTOR,
        "a number that fp32 holds",
    ),
    Row("lab.trace('sgemm_01_naive', precision={})", "precision", ("'fp8'", "5"), "there are fp32"),
    Row("lab.trace('sgemm_01_naive', precision={})", "precision", ("'bf16'",), "is compiled for"),
    Row("lab.trace('sgemm_01_naive', allow_slow={})", "allow_slow", NO_FLAG, "True or False"),
    Row(
        "lab.trace('sgemm_01_naive', 8, 8, 8, order={})",
        "order",
        (*NO_INTEGER, "-1", "2**32"),
        "an integer from 0 to",
    ),
)

VARIANT = (
    *of_steps("lab.variant({}, {{'BK = 8': 'BK = 16'}})", "kernel"),
    Row("lab.variant('sgemm_01_naive', {})", "changes", ("None", "'x'", "5", "[('a', 'b')]"), "{"),
    Row("lab.variant('sgemm_01_naive', {})", "changes", ("{'': 'x'}", "{' ': 'x'}"), "such as"),
    Row("lab.variant('sgemm_01_naive', {})", "changes", ("{5: 'x'}", "{'int': 5}"), "text"),
    Row("lab.variant('sgemm_01_naive', {})", "changes", ("{'BK = 99': 'x'}",), "lab.source("),
    Row(
        "lab.variant('sgemm_01_naive', {{'int': 'long'}}, {})", "label", ("None", *NO_TEXT), "text"
    ),
)

KERNEL = (
    *of_steps("lab.kernel({})", "kernel"),
    Row(
        "lab.kernel('sgemm_01_naive', {})",
        "config",
        ("'64x64'", "5", "None", "['x']"),
        "leave it out",
    ),
    Row("lab.kernel('sgemm_20_any_shape', {})", "config", ("'7x7'", "0", "b'thin'"), "'packed'"),
)

# A and B of the calls of a handle below; `naive` is lab.kernel("sgemm_01_naive").
_NO_TENSOR = ("None", "[[1.0]]", "np.ones((4, 4), np.float32)", "'A'", "4.0")
_OTHER_LAYOUTS = (
    "torch.eye(4).to_sparse()",
    "torch.eye(4).to_sparse_csr()",
    "torch.eye(4).to_sparse_csc()",
    "torch.eye(4).to_sparse_bsr((2, 2))",
    "torch.eye(4).to_mkldnn()",
)
_OTHER_TYPES = (
    "torch.eye(4, dtype=torch.float64)",
    "torch.eye(4, dtype=torch.float16)",
    "torch.eye(4, dtype=torch.bool)",
    "torch.eye(4, dtype=torch.int32)",
    "torch.eye(4, dtype=torch.complex64)",
    "torch.quantize_per_tensor(torch.eye(4), 1.0, 0, torch.qint8)",
)
_STRIDED = (
    "torch.rand(4, 8)[:, ::2]",
    "torch.rand(8, 4).T[:, :4]",
    "torch.ones(4, 1).expand(4, 4)",
)
_OTHER_RANKS = ("torch.tensor(1.0)", "torch.rand(16)", "torch.rand(1, 4, 4)")
CALL = (
    Row("naive({}, E)", "A", _NO_TENSOR, "torch.as_tensor"),
    Row("naive(E, {})", "B", _NO_TENSOR, "torch.as_tensor"),
    Row("naive(E, E, out={})", "out", ("np.eye(4)", "5", "[[0.0]]"), "torch.as_tensor"),
    Row("naive({}, E)", "A", _OTHER_LAYOUTS, "to_dense()"),
    Row("naive(E, {})", "B", _OTHER_LAYOUTS, "to_dense()"),
    Row("naive(E, E, out={})", "out", _OTHER_LAYOUTS, "to_dense()"),
    Row("naive({}, E)", "A", _OTHER_TYPES, ".to(torch.float32)"),
    Row("naive(E, {})", "B", _OTHER_TYPES, ".to(torch.float32)"),
    Row("naive(E, E, out={})", "out", _OTHER_TYPES[:3], ".to(torch.float32)"),
    Row("naive({}, E)", "A", _STRIDED, "A.contiguous()"),
    Row("naive(E, {})", "B", _STRIDED, "B.contiguous()"),
    Row("naive(E, E, out={})", "out", _STRIDED, "out.contiguous()"),
    Row("naive({}, E)", "A", _OTHER_RANKS, "2 (a matrix)"),
    Row("naive(E, {})", "B", _OTHER_RANKS, "2 (a matrix)"),
    Row("naive(E, E, out={})", "out", _OTHER_RANKS, "2 (a matrix)"),
    Row("naive({}, E)", "A", ("torch.empty(4, 4, device='meta')",), "cpu (simulator)"),
    Row("naive(E, {})", "B", ("torch.empty(4, 4, device='meta')",), "cpu (simulator)"),
    Row("naive({}, E)", "A", ("torch.rand(4, 4, requires_grad=True)",), "A.detach()"),
    Row("naive(E, {})", "B", ("torch.rand(4, 4, requires_grad=True)",), "B.detach()"),
    Row("naive(E, E, out={})", "out", ("torch.rand(4, 4, requires_grad=True)",), "out.detach()"),
    Row("naive(E, {})", "B", ("torch.rand(5, 4)", "torch.rand(3, 4)"), "needs them equal"),
    Row("naive(E, E, out={})", "out", ("torch.rand(4, 5)", "torch.rand(1, 4)"), "expected (4, 4)"),
    Row("naive(E, E, out={})", "out", ("E", "E[:4]"), "overwrite it"),
    Row("naive(E, E, {})", "alpha", NO_FACTOR, "a number that fp32 holds"),
    Row("naive(E, E, 1.0, {})", "beta", NO_FACTOR, "a number that fp32 holds"),
    Row("naive(E, E, 1.0, {})", "out", ("1.0", "-2", "nan"), "out=C"),
    Row("naive(E, E, allow_slow={})", "allow_slow", NO_FLAG, "True or False"),
    Row("naive(torch.ones(2**22, 1), torch.ones(1, {}))", "out", ("2**22",), "smaller M, N and K"),
    Row("lab.kernel('sgemm_06_swizzled_a')({}, E)", "M", ("E",), "sgemm_02_coalesced"),
    Row("lab.kernel('hgemm_10_mma')({}, E)", "A", ("E",), ".to(torch.bfloat16)"),
)

# What is known only once the step is compiled.
COMPILED = (
    Row(
        "lab.trace('sgemm_01_naive', *{})", "sgemm_01_naive", ("[2**20] * 3",), "smaller M, N and K"
    ),
    Row("thin({}, E)", "sgemm_20_any_shape", ("torch.ones(17, 4)",), "at most 16", "RefusedError"),
)

_BENCH = "lab.bench('sgemm_01_naive', {})"
_MODE = "lab.bench('sgemm_01_naive', mode={})"
_BASE = "lab.bench('sgemm_01_naive', baselines={})"
BENCH = (
    *of_steps("lab.bench([{}])", "kernel"),
    Row("lab.bench({})", "kernels", ("5", "True", "{'x': 1}", "torch"), "or one step"),
    Row(_BENCH, "sizes", ("'4096'", "[]", "{4096: 1}", "{4096}"), "[4096]"),
    Row(_BENCH, "sizes", ("None", "nan", "2.5", "True"), "such as 4096"),
    Row(_BENCH, "sizes", ("[None]", "['4096']", "[2.5]", "[True]", "[-1]", "[0]"), "(M, N, K)"),
    Row(_BENCH, "sizes", ("[2**31]", "[10**20]", "[(4, 4)]", "[(4, 4, '4')]"), "(M, N, K)"),
    Row(_BENCH, "sizes", ("0", "-4096", "10**20", "[(4, 4, 0)]", "[nan]"), "(M, N, K)"),
    Row(_BENCH, "sgemm_01_naive", ("777", "[(1, 2, 3)]"), "recorded at", "MeasurementError"),
    Row(_MODE, "mode", ("'fast'", "''", "None", "5", "['burst']"), "interleaved, burst, sustained"),
    Row("lab.bench('sgemm_01_naive', warm_l2={})", "warm_l2", NO_FLAG, "True or False"),
    Row("lab.bench('sgemm_01_naive', samples={})", "samples", NO_COUNT, "an integer from 1 to"),
    Row(
        "lab.bench('sgemm_01_naive', seconds={})",
        "seconds",
        ("0", "-1", "nan", "inf", "'1'", "True", "[1]", "10**400"),
        "a time above 0",
    ),
    Row(
        _BASE, "baselines", ("'cublas'", "5", "None", "{'cublas': 1}"), "a list such as ['cublas']"
    ),
    Row(_BASE, "baselines", ("['mkl']", "['']", "[5]", "[None]", "[['cublas']]"), "cublaslt_best"),
    Row("lab.bench('sgemm_01_naive', precision={})", "precision", ("'fp8'", "5", "''"), "fp32"),
    Row("lab.bench('sgemm_01_naive', precision={})", "precision", ("'bf16'",), "is compiled for"),
)

_TUNE = "lab.tune('sgemm_20_any_shape', {})"
TUNE = (
    *of_steps("lab.tune({})", "kernel"),
    Row("lab.tune({})", "kernel", ("'sgemm_01_naive'",), "those that have are"),
    Row("lab.tune({})", "kernel", ("thin",), "without config"),
    Row(_TUNE, "sizes", ("'4096'", "[]", "{}"), "[4096]"),
    Row(_TUNE, "sizes", ("None", "nan", "True"), "such as 4096"),
    Row(_TUNE, "sizes", ("[0]", "[-1]", "[None]", "[10**20]", "[(4, 4)]", "2.5"), "(M, N, K)"),
    Row("lab.tune('sgemm_20_any_shape', samples={})", "samples", NO_COUNT, "an integer from 1 to"),
    Row(
        "lab.tune('sgemm_20_any_shape', seconds={})",
        "seconds",
        ("0", "-1", "nan", "inf", "'1'", "True", "None"),
        "a time above 0",
    ),
    Row("lab.tune('sgemm_20_any_shape', again={})", "again", NO_FLAG, "True or False"),
)

TEXTS = (
    *of_steps("lab.source({})", "kernel"),
    Row("lab.source({})", "name", ("'probes/none.cuh'", "'../x.cuh'", "'.cuh'"), "lab.source('"),
    Row(
        "lab.source('sgemm_06_swizzled_a', {})",
        "passage",
        ("'none'", "''", "5", "['dot']"),
        "it has",
    ),
    *of_steps("lab.diff({})", "kernel"),
    *of_steps("lab.diff('sgemm_02_coalesced', {})", "kernel")[1:],
    Row("lab.diff('sgemm_02_coalesced', {})", "kernel", ("5", "torch", "[]"), "a name such as"),
    Row("lab.diff({})", "name", ("'sgemm_01_naive'",), "name one"),
    Row(
        "lab.diff('sgemm_02_coalesced', context={})",
        "context",
        (*NO_INTEGER, "-1"),
        "an integer from 0",
    ),
    *of_steps("lab.flat({})", "kernel"),
    Row("lab.flat('sgemm_01_naive', whole={})", "whole", NO_FLAG, "True or False"),
    Row("lab.flat('sgemm_01_naive').write({})", "path", ("None", "5", "''", "[]"), "a file's name"),
    Row("lab.flat('sgemm_01_naive').write({})", "path", ("'/'", "'/nowhere/a.cu'"), "another"),
    *of_steps("lab.ptx({})", "kernel"),
    Row(
        "lab.ptx('sgemm_01_naive', {})",
        "find",
        ("'['", "None", "5", "'(?P<'"),
        "regular expression",
    ),
    Row("lab.ptx('sgemm_01_naive', most={})", "most", (*NO_INTEGER, "0", "-1"), "1 or more"),
    Row("lab.experiment({})", "name", ("'none'", "''", "None", "5", "['x']"), "such as '"),
    *of_steps("lab.registry.program({})", "kernel"),
    *of_steps("lab.registry.get({})", "kernel"),
    Row("lab.registry.family_of({})", "precision", ("'fp8'", "''", "None", "[]"), "fp32"),
)

_SIM = "lab.sim.compile_source({}, 'launch_sgemm_01_naive')"
SIM = (
    *of_steps("lab.sim.compile_step({})", "kernel"),
    Row("lab.sim.compile_step('sgemm_01_naive', {})", "precision", ("'bf16'", "'x'", "5"), "fp32"),
    Row(_SIM, "path", ("'kernels/none.cuh'", "'kernels'"), "a kernel's file"),
    Row(_SIM, "path", ("''", "None", "5", "[]"), "a file's name"),
    Row(
        "lab.sim.compile_source('kernels/sgemm/01_naive.cuh', {})",
        "launch_name",
        ("5", "None", "''", "'a b'", "'x; system(0)'"),
        "such as 'launch_sgemm_01_naive'",
    ),
    Row("lab.sim.integer_matrices({}, 4, 4)", "M", NO_SIZE, "an integer from 0 to"),
    Row("lab.sim.integer_matrices(4, {}, 4)", "N", NO_SIZE, "an integer from 0 to"),
    Row("lab.sim.integer_matrices(4, 4, {})", "K", NO_SIZE, "an integer from 0 to"),
    Row("lab.sim.integer_matrices(4, 4, 4, {})", "seed", (*NO_INTEGER, "-1"), "from 0 to"),
    Row("lab.sim.integer_matrices(4, 4, 4, types={})", "types", ("'fp32'", "None"), "PRECISIONS"),
)

REPORTS = (
    *of_steps("lab.ladder({})", "kernel")[1:],
    Row("lab.ladder(size={})", "size", NO_COUNT, "an integer from 1 to"),
    Row("lab.ladder(size={})", "size", ("777",), "there is 1024"),
    Row("lab.ladder(precision={})", "precision", ("'fp8'", "None", "5"), "fp32"),
    Row("lab.ladder(metric={})", "metric", ("'speed'", "5", "None"), "tflops"),
    Row("lab.ladder({}=1)", "options", ("colour", "sizes"), "metric"),
    Row("lab.number({})", "key", ("5", "None"), "expected text"),
    Row("lab.number({})", "key", ("'sgemm_06'", "'sgemm_06 1 tflops'"), "as in|there is"),
    *of_steps("lab.tables.traffic({})", "kernel"),
    Row("lab.tables.departures({})", "article", ("'004'", "3", "None"), "003"),
    *of_steps("lab.tables.resources([{}])", "kernel"),
    *of_steps("lab.tables.stalls([{}])", "kernel"),
    *of_steps("lab.tables.limits([{}])", "kernel"),
    *of_steps("lab.tables.main_loops([{}])", "kernel"),
    Row("lab.tables.resources({})", "kernels", ("5", "None", "{}"), "or one step"),
    Row("lab.tables.steady({})", "family", ("'x'", "5", "None"), "sgemm"),
    Row("lab.tables.traffic('sgemm_01_naive', {})", "size", ("'x'", "None"), "an integer from 1"),
    Row(
        "lab.tables.traffic('sgemm_01_naive', {})", "size", ("777",), "there is", "MeasurementError"
    ),
    Row(
        "lab.tables.main_loops(['sgemm_06_swizzled_a'], {})",
        "size",
        ("'x'", "None", "0"),
        "integer",
    ),
    Row("lab.plots.ladder_chart(size={})", "size", ("'x'", "None", "0"), "an integer from 1 to"),
    Row("lab.plots.ladder_chart(size={})", "size", ("777",), "there is 1024", "MeasurementError"),
    Row("lab.plots.walk({})", "size", ("'x'", "None", "0"), "an integer from 1 to"),
    Row("lab.plots.lines(metric={})", "metric", ("'speed'", "None", "5"), "tflops"),
    Row("lab.plots.roofline(level={})", "level", ("'l9'", "None", "5"), "dram"),
    Row(
        "lab.plots.tile_diagram('sgemm_04_register_tiling', {})",
        "thread",
        ("-1", "256", "'x'"),
        "threads 0 to 255",
    ),
    Row("lab.evidence.agreement({})", "family", ("'x'", "None", "5"), "sgemm"),
    Row("lab.measurements.load(family={})", "family", ("'x'", "None", "5"), "sgemm"),
    Row("lab.measurements.load({})", "path", ("5", "[]", "True"), "a file's name"),
    Row("lab.measurements.load({})", "none.json", ("'none.json'",), "recorded", "MeasurementError"),
)

_NO_NUMBER = ("None", "'4'", "2.5", "-1", "[4]")
# A model and its arguments that are integers, each beside values that would do.
_MODELS = {
    "BlockOrder": {"rows": 8, "columns": 8, "height": 8, "slots": 264},
    "LastWave": {"tiles": 8, "k_tiles": 8, "most": 132, "min_share": 32},
    "Owners": {"tiles": 8, "k_tiles": 8, "most": 132, "price": 6},
    "Schedule": {"tiles": 8, "k_tiles": 8, "most": 264, "min_share": 8},
    "Ring": {"tiles": 6, "stages": 3, "consumers": 2, "latency": 1000},
    "Tile": {"rows": 8, "row_length": 32, "element": 4},
    "Tiling": {"BM": 128, "BN": 128, "BK": 16, "WM": 64, "WN": 32, "TM": 8, "stages": 1},
    "TensorMap": {"rows": 64, "columns": 64, "box_rows": 8, "box_columns": 8},
}
MODELS = tuple(
    Row(
        f"lab.layouts.{model}({', '.join(f'{k}={v}' for k, v in right.items() if k != name)}"
        f", {name}={{}})",
        name,
        _NO_NUMBER,
        "allowed|expected|multiple of",
    )
    for model, right in _MODELS.items()
    for name in right
)

_H200 = "lab.layouts.GPUS['H200']"
RULES = (
    Row(f"lab.layouts.occupancy({{}}, 32, 0, {_H200})", "threads", _NO_NUMBER, "at least 1"),
    Row(f"lab.layouts.occupancy(32, {{}}, 0, {_H200})", "registers", _NO_NUMBER, "at least 1"),
    Row(f"lab.layouts.occupancy(32, 32, {{}}, {_H200})", "shared_bytes", _NO_NUMBER, "at least 0"),
    Row("lab.layouts.occupancy(32, 32, 0, {})", "gpu", ("'H200'", "None"), "layouts.GPUS['H200']"),
    Row("lab.layouts.waves({}, 2, 132)", "blocks", (*_NO_NUMBER, "0"), "an integer from 1"),
    Row("lab.layouts.waves(8, {}, 132)", "at_once", (*_NO_NUMBER, "0"), "an integer from 1"),
    Row("lab.layouts.waves(8, 2, {})", "sms", (*_NO_NUMBER, "0"), "an integer from 1"),
    Row("lab.layouts.waves_paid({})", "tiles", _NO_NUMBER, "an integer from 0"),
    Row("lab.layouts.for_columns({}, 4, 4)", "row_length", _NO_NUMBER, "integer|a power of two"),
    Row("lab.layouts.row_major([0], [0], {})", "row_length", _NO_NUMBER, "an integer from 1"),
    Row("lab.layouts.wavefronts({}, 4)", "addresses", ("None", "'x'", "[0]*33"), "32 integers"),
    Row("lab.layouts.sectors({}, 4)", "addresses", ("[0.5]*32", "'x'", "[0]*33"), "32 integers"),
    Row("lab.layouts.wavefronts([0]*32, {})", "width", ("None", "'4'", "3", "0"), "allowed"),
    Row("lab.layouts.fragment({})", "name", ("'x'", "None", "5", "[]"), "such as '"),
    Row("lab.layouts.describe({})", "request", ("None", "5"), "layouts.wavefronts"),
    Row("lab.layouts.run_ring({})", "ring", ("None", "5", "'x'"), "a layouts.Ring"),
    Row("lab.layouts.Ring(mode={})", "mode", ("'x'", "None", "5"), "producer warp"),
    Row("lab.layouts.Ring(mistake={})", "mistake", ("'x'", "None", "5"), "none"),
)

WIDGETS = (
    Row("lab.widgets.BankMap(width={})", "width", ("'4'", "3", "[4]"), "allowed"),
    Row("lab.widgets.BankMap(accesses={})", "accesses", ("5", "[5]", "[]"), "layouts.Access"),
    Row("lab.widgets.BlockOrder(grids={})", "grids", ("5", "[5]", "'x'", "[]"), "rows, columns"),
    Row("lab.widgets.BlockOrder(orders={})", "orders", ("5", "['x']", "[]"), "rows"),
    Row("lab.widgets.BlockOrder(slots={})", "slots", ("2.5", "'x'", "[]"), "132"),
    Row("lab.widgets.BlockOrder(wave={})", "wave", ("'4'", "2.5", "[4]"), "an integer from 0"),
    Row("lab.widgets.FragmentMap({})", "which", ("5", "'x'", "[]", "[5]"), "such as"),
    Row("lab.widgets.SwizzleWorkshop({})", "tiles", ("5", "'x'", "[]"), "A, BK = 16"),
    Row("lab.widgets.TilingExplorer(start={})", "start", ("5", "'x'", "[5]"), "presets|text"),
    Row("lab.widgets.Ladder({})", "rows", ("5", "None", "[5]", "'x'"), "lab.bench"),
    Row("lab.widgets.HeatMap({}, {{}})", "rows", ("5", "None", "[5]"), "a table|a list"),
    Row("lab.predict({}, 5)", "question", ("5", "None"), "text"),
    Row("lab.predict('q', {})", "answer", ("None", "[5]"), "a number"),
    Row("lab.predict('q', 'a', choices={})", "choices", ("5", "['b']", "[]"), "more"),
)

_JUDGE = "lab.exercises.judge('sgemm_02_coalesced', {})"
_FASTER = "lab.exercises.judge('sgemm_02_coalesced', faster_than='sgemm_01_naive', size={})"
EXERCISES = (
    *of_steps("lab.exercises.judge({})", "kernel"),
    Row(_JUDGE.format("conflicts={}"), "conflicts", ("'x'", "-1", "2.5"), "a table|an integer"),
    Row(_JUDGE.format("sectors={}"), "sectors", ("'x'", "5", "{'ld': 5}"), "ld.shared|ld.global"),
    Row(_JUDGE.format("shape={}"), "shape", ("'x'", "5", "(4, 4)"), "(M, N, K)"),
    Row(_FASTER, "size", NO_COUNT, "an integer from 1 to"),
    Row("lab.experiments.fault({})", "name", ("None", "5", "'x'"), "such as '"),
    Row("lab.experiments.try_ring(mode={})", "mode", ("5", "'x'", "None"), "producer warp"),
    Row("lab.experiments.try_ring(tiles={})", "tiles", ("'x'", "0", "-1"), "an integer from 1 to"),
    Row("lab.experiments.ring_findings({})", "ring", ("'x'", "None"), "a layouts.Ring"),
    Row("lab.evidence.conflicts({})", "kernels", ("None", "5", "[]"), "or one step"),
)

GROUPS = {
    "matrices": MATRICES,
    "check": CHECK,
    "trace": TRACE,
    "variant": VARIANT,
    "kernel": KERNEL,
    "call": CALL,
    "compiled": COMPILED,
    "bench": BENCH,
    "tune": TUNE,
    "texts": TEXTS,
    "sim": SIM,
    "reports": REPORTS,
    "models": MODELS,
    "rules": RULES,
    "widgets": WIDGETS,
    "exercises": EXERCISES,
}
