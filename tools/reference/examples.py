"""One short example for each public name, in the order in which the page shows the verbs.

The cells run in the order of the page and share their variables. What a GPU timed, or what changes
when measurements are recorded again, stands in MEASURED: the tests execute it and do not compare.
"""

from __future__ import annotations

VERBS = {
    "device": "lab.device()",
    "kernel": 'lab.kernel("sgemm_06_swizzled_a")',
    "source": 'lab.source("sgemm_06_swizzled_a", "dot")',
    "diff": 'lab.diff("sgemm_06_swizzled_a")',
    "estimate": 'lab.estimate("sgemm_06_swizzled_a", [1024, 4096])',
    "replay": 'print(repr(lab.replay("sgemm_06_swizzled_a", warp=1, tick=60)))',
    "flat": 'print(*lab.flat("sgemm_06_swizzled_a", whole=True).headers, sep="\\n")',
    "variant": """\
lower = lab.variant("sgemm_18_block_order", {"STRIP = 8": "STRIP = 4"}, label="strips of 4")
lab.diff(lower)""",
    "experiment": 'lab.experiment("hgemm 14, BK = 64")',
    "check": 'lab.check("sgemm_06_swizzled_a", [(128, 128, 16)], device="cpu")',
    "matrices": """\
A, B = lab.matrices(128, 256, 64, device="cpu")
A.shape, B.shape, A.dtype""",
    "trace": 'trace = lab.trace("sgemm_05_transposed_a", M=128, N=128, K=16)\ntrace',
    "bench": 'lab.bench(["sgemm_05_transposed_a", "sgemm_06_swizzled_a"])',
    "tune": 'lab.tune("sgemm_20_any_shape", [4096])',
    "ptx": 'lab.ptx("tma_01_load", find="mbarrier", most=4)',
    "ladder": 'print(repr(lab.ladder(until="sgemm_06_swizzled_a")))',
    "here": 'lab.here("sgemm_bank_conflicts")',
    "course": "print(lab.course().summary()[:60])",
    "parts": "print(lab.parts())",
    "overview": 'print(*repr(lab.overview()).splitlines()[:3], sep="\\n")',
    "number": 'lab.number("sgemm_06 4096 gain:sgemm_05")',
    "predict": """\
asked = lab.predict("How many wavefronts does a column of floats take?", 32, "wavefronts")
print(repr(asked))""",
}

EVIDENCE = {
    "evidence.agreement": 'print(*repr(lab.evidence.agreement("tma")).splitlines()[:4], sep="\\n")',
    "evidence.conflicts": 'lab.evidence.conflicts("sgemm_06_swizzled_a")',
    "evidence.copies_past_l1": "lab.evidence.copies_past_l1()",
    "evidence.measured_fragment": """\
measured = lab.evidence.measured_fragment("wmma.m16n16k16 A")
print(*repr(measured).splitlines()[:4], sep="\\n")""",
    "evidence.recorded_fragments": "len(lab.evidence.recorded_fragments())",
    "evidence.recorded_mutants": """\
found = lab.evidence.recorded_mutants()
print(*repr(found).splitlines()[:5], sep="\\n")""",
    "evidence.sanitizer": "lab.evidence.sanitizer()",
    "evidence.single_requests": "lab.evidence.single_requests()",
    "evidence.whole_kernels": """\
counts = repr(lab.evidence.whole_kernels()).splitlines()
print(*counts[:4], sep="\\n")""",
}

EXERCISES = {
    "exercises.Property": "isinstance(lab.exercises.barriers(1), lab.exercises.Property)",
    "exercises.Verdict": 'lab.exercises.Verdict(False, "Lanes 0 and 8 meet in bank 0.")',
    "exercises.ahead": "lab.exercises.ahead(1)",
    "exercises.barriers": "lab.exercises.barriers(1)",
    "exercises.block_order": """\
lab.exercises.block_order(lambda t, rows, columns: (t // columns, t % columns), panels=700)""",
    "exercises.block_tile": "lab.exercises.block_tile(64, 64)",
    "exercises.box_source": """\
def source(m, x, y, row, column):
    return (y + row) * m.stride_bytes + (x + column) * m.element


lab.exercises.box_source(source)""",
    "exercises.copies": "lab.exercises.copies(lambda t: (t // 8, t % 8), row_bytes=128)",
    "exercises.arrivals": "lab.exercises.arrivals(8)",
    "exercises.cuts": "lab.exercises.cuts()",
    "exercises.expects": """\
@lab.exercises.expects("row, column")
def judge(place):
    return lab.exercises.Verdict(place(9) == (1, 1), "9 is in row 1.")


judge(lambda i: i // 8)""",
    "exercises.fragment_layout": """\
lab.exercises.fragment_layout(lambda lane, register, half: (lane // 4, lane % 4 * 2 + half))""",
    "exercises.judge": """\
shifted = lab.variant("sgemm_05_transposed_a", {"float sA[BK][BM]": "float sA[BK][BM + 4]"})
lab.exercises.judge(shifted, conflicts=0)""",
    "exercises.mapping": "lab.exercises.mapping(lambda lane: (lane, 0), rows=2, cols=16)",
    "exercises.only": 'lab.exercises.only("cp.async.global")',
    "exercises.order": "lab.exercises.order(lambda t, rows, columns: (t // columns, t % columns))",
    "exercises.other_parity": 'lab.exercises.other_parity("reversed")',
    "exercises.outputs": "lab.exercises.outputs(8, 8)",
    "exercises.overlap": """\
serial = "sgemm_03_block_tiling"
lab.exercises.judge(serial, differs=False, does=lab.exercises.overlap(1))""",
    "exercises.parities": """\
lab.exercises.parities(lambda c, k, tiles, stages: (k % stages, k // stages % 2, 1))""",
    "exercises.products": 'lab.exercises.products(without="wmma")',
    "exercises.reads_once": "lab.exercises.reads_once()",
    "exercises.requests": 'lab.exercises.requests("tma.load", 4)',
    "exercises.ring": """\
init = "mbarrier_init(smem_addr(&empty[s]), consumers);"
lab.exercises.ring({init: init.replace("consumers", "consumers + 1")})""",
    "exercises.rung": 'lab.exercises.rung("sgemm_01_naive", 2)',
    "exercises.stages": "lab.exercises.stages(2)",
    "exercises.stored_before_products": "lab.exercises.stored_before_products()",
    "exercises.swizzle": """\
lab.exercises.swizzle("col", rows=8, store="row = lane%2*4; col = lane/2")""",
    "exercises.swizzle16": "lab.exercises.swizzle16(lambda row, chunk: chunk, row_bytes=128)",
    "exercises.thread_tile": """\
lab.exercises.thread_tile(TM=8, TN=8, fmas_per_value=5, registers=200)""",
    "exercises.widths": "lab.exercises.widths(ld_global=16)",
    "exercises.warp_tile": "lab.exercises.warp_tile(64, 64, allows=5000, accumulators=200)",
}

EXPERIMENTS = {
    "experiments.RING_MISTAKES": "list(lab.experiments.RING_MISTAKES)",
    "experiments.fault": 'lab.diff(lab.experiments.fault("01, no fence after mbarrier_init"))',
    "experiments.pitfalls": "lab.experiments.pitfalls()",
    "experiments.subtiles": 'print(*repr(lab.experiments.subtiles()).splitlines()[:4], sep="\\n")',
    "experiments.ring_findings": """\
from gemmlab.layouts import Ring

lab.experiments.ring_findings(Ring("producer warp", "full_count"))""",
    "experiments.tensor_cores": """\
lab.experiments.tensor_cores().row("mma.sync m16n8k16, bf16").tflops""",
    "experiments.tma_faults": 'lab.experiments.tma_faults("01, columns from an odd one on")',
    "experiments.try_ring": """\
findings, right = lab.experiments.try_ring(lab.experiments.RING_MISTAKES["full_count"], tiles=1)
print(right, findings[0], sep="\\n")""",
    "experiments.try_wait": "lab.experiments.try_wait()",
}

SHARED_MEMORY = {
    "layouts.PRESETS": "lab.layouts.PRESETS",
    "layouts.Access": """\
column = lab.layouts.Access("column", width=4)
column.elements(row_length=32, element=4)[:3]""",
    "layouts.Tile": "lab.layouts.Tile(rows=32, row_length=32)",
    "layouts.Layout": """\
lab.layouts.Layout.parse("pad 1").table(lab.layouts.Tile(rows=4, row_length=8))""",
    "layouts.locate": """\
tile = lab.layouts.Tile(rows=32, row_length=32)
padded = lab.layouts.Layout.parse("pad 1")
addresses = lab.layouts.locate(column, tile, padded)
addresses[:4]""",
    "layouts.wavefronts": """\
request = lab.layouts.wavefronts([128 * lane for lane in range(32)], width=4)
request.wavefronts, request.minimum, lab.layouts.wavefronts(addresses, width=4).wavefronts""",
    "layouts.describe": "print(lab.layouts.describe(request))",
    "layouts.sectors": "lab.layouts.sectors([4096 * lane for lane in range(32)], width=4)",
    "layouts.copy": """\
lanes = range(32)
lab.layouts.copy([16 * n for n in lanes], [16 * n for n in lanes], 16, past_l1=True).wavefronts""",
    "layouts.row_major": "lab.layouts.row_major(row=2, col=5, row_length=32)",
    "layouts.padded": "lab.layouts.padded(row=2, col=5, row_length=32, pad=1)",
    "layouts.Swizzle": """\
swizzle = lab.layouts.Swizzle(B=3, M=4, S=3)  # TMA's 128B swizzle, on bytes
swizzle(16 * 8), swizzle.period, swizzle.is_bijective""",
    "layouts.BitXor": """\
lab.layouts.BitXor(((7, 4), (8, 5), (9, 6))).swizzle()""",
    "layouts.for_columns": "lab.layouts.for_columns(row_length=64, element=2, width=16)",
    "layouts.find_swizzle": """\
lab.layouts.find_swizzle([[column ^ row for column in range(8)] for row in range(8)])""",
    "layouts.transposed_a_column": "lab.layouts.transposed_a_column(k=4, m=0)",
    "layouts.ldmatrix.READERS": "lab.layouts.ldmatrix.READERS",
    "layouts.ldmatrix.ChunkTile": """\
chunks = lab.layouts.ldmatrix.ChunkTile(rows=64, row_bytes=128)
chunks.offset(row=1, chunk=2), chunks.role(7)""",
    "layouts.ldmatrix.pointed": 'lab.layouts.ldmatrix.pointed("ldmatrix.x4")[6:10]',
    "layouts.ldmatrix.read": """\
as_is = lab.layouts.BitXor()
request = lab.layouts.ldmatrix.read(chunks, as_is, "ldmatrix.x4")
request.wavefronts, request.minimum""",
    "layouts.ldmatrix.groups": """\
found = lab.layouts.ldmatrix.groups(chunks, as_is, [(row, 0) for row in range(8)])
found""",
    "layouts.ldmatrix.write": "lab.layouts.ldmatrix.write(chunks, as_is).wavefronts",
    "layouts.ldmatrix.torn": "lab.layouts.ldmatrix.torn(lab.layouts.BitXor(((7, 3),)))",
    "layouts.ldmatrix.formula": """\
lab.layouts.ldmatrix.formula(lab.layouts.BitXor(((7, 4), (8, 5), (9, 6))), chunks)""",
    "layouts.ldmatrix.describe_map": "print(lab.layouts.ldmatrix.describe_map(as_is, chunks))",
    "layouts.ldmatrix.describe_phase": "print(lab.layouts.ldmatrix.describe_phase(found, 0))",
    "layouts.ldmatrix.describe_read": """\
print(lab.layouts.ldmatrix.describe_read(request, "ldmatrix.x4"))""",
    "layouts.ldmatrix.describe_write": """\
written = lab.layouts.ldmatrix.write(chunks, as_is)
print(lab.layouts.ldmatrix.describe_write(written, chunks))""",
}

OTHER_LAYOUTS = {
    "layouts.FRAGMENTS": "list(lab.layouts.FRAGMENTS)[:6]",
    "layouts.fragment": """\
a = lab.layouts.fragment("mma.m16n8k16 A")
a.holder(9, 3), a.element(lane=5, register=1, half=1)""",
    "layouts.STEPS": 'lab.layouts.STEPS["sgemm_06_swizzled_a"]',
    "layouts.Tiling": """\
tiling = lab.layouts.Tiling(BM=128, BN=128, BK=16, WM=64, WN=32, TM=8, TN=8)
tiling.threads, tiling.shared_bytes, tiling.intensity""",
    "layouts.BlockOrder": """\
strips = lab.layouts.BlockOrder(rows=32, columns=32, order="strips", height=8)
strips.place(9), strips.waves, strips.panels()""",
    "layouts.GPUS": "list(lab.layouts.GPUS)",
    "layouts.occupancy": """\
gpu = lab.layouts.GPUS["H200"]
held = lab.layouts.occupancy(threads=256, registers=128, shared_bytes=16384, gpu=gpu)
held, held.limited_by""",
    "layouts.waves": "lab.layouts.waves(blocks=1024, at_once=2, sms=132)",
    "layouts.Schedule": """\
shares = lab.layouts.Schedule(tiles=5, k_tiles=8, most=4, min_share=1)
shares.split, shares.blocks, shares.longest""",
    "layouts.LastWave": """\
last = lab.layouts.LastWave(tiles=5, k_tiles=8, most=4, min_share=1)
last.rest, last.split, last.blocks""",
    "layouts.Owners": """\
owners = lab.layouts.Owners(tiles=140, k_tiles=64, most=132, price=6)
owners.cut, owners.helpers, owners.busiest""",
    "layouts.waves_paid": "lab.layouts.waves_paid(tiles=300, most=264)",
    "layouts.Mbarrier": """\
barrier = lab.layouts.Mbarrier.init(1).arrive_expect_tx(4096)
barrier, barrier.complete_tx(4096)""",
    "layouts.Ring": 'ring = lab.layouts.Ring(mistake="consumer_parity")',
    "layouts.run_ring": "run = lab.layouts.run_ring(ring)\nrun.outcome",
    "layouts.outcome": "print(lab.layouts.outcome(run))",
    "layouts.Arguments": """\
asked = lab.layouts.Arguments(rows=4096, columns=100, box_rows=128, box_columns=64)
asked.box_bytes, asked.stride_bytes""",
    "layouts.describe_map": "print(lab.layouts.describe_map(asked))",
    "layouts.TensorMap": """\
tensor_map = lab.layouts.TensorMap(rows=40, columns=104, box_rows=16, box_columns=64)
tensor_map.box_bytes, tensor_map.pitch""",
    "layouts.Box": """\
box = lab.layouts.Box(tensor_map, x=64, y=32)
box.bytes, box.zero_bytes, box.place(1, 0)""",
}

MEASUREMENTS = {
    "measurements.BASELINES": "lab.measurements.BASELINES",
    "measurements.SECTIONS": "lab.measurements.SECTIONS",
    "measurements.SHAPES": "lab.measurements.SHAPES[:3]",
    "measurements.SHAPES_TMA": "len(lab.measurements.SHAPES_TMA)",
    "measurements.SHAPES_SGEMM": "lab.measurements.SHAPES_SGEMM[-5:]",
    "measurements.load": 'recorded = lab.measurements.load(family="sgemm")\nrecorded.gpu',
    "measurements.gpus": "lab.measurements.gpus()",
    "measurements.recorded": 'lab.measurements.recorded().row("sgemm_06_swizzled_a", 4096)',
    "measurements.sections": """\
list(lab.measurements.sections(["sgemm", "tma"], "limits"))""",
    "measurements.origin": "lab.measurements.origin(recorded.environment)",
    "measurements.origins": "lab.measurements.origins([recorded.environment])",
    "measurements.made_on": "lab.measurements.made_on(recorded.environment)",
    "measurements.paths": "[path.name for path in lab.measurements.paths()]",
    "measurements.slug": 'lab.measurements.slug("NVIDIA H200")',
    "measurements.file_of": 'lab.measurements.file_of("NVIDIA H200", "tma").name',
    "measurements.save": """\
import tempfile

with tempfile.TemporaryDirectory() as folder:
    print(lab.measurements.save(recorded, f"{folder}/copy.json").name)""",
    "measurements.stale": "lab.measurements.stale(recorded)",
}

PLOTS = {
    "plots.ladder_chart": 'print(lab.plots.ladder_chart(until="sgemm_03_block_tiling").alt)',
    "plots.walk": "print(lab.plots.walk().alt[:200], ...)",
    "plots.lines": """\
print(lab.plots.lines(kernels=["sgemm_06_swizzled_a"], metric="ratio").alt)""",
    "plots.roofline": """\
print(lab.plots.roofline(level="dram", kernels=["sgemm_01_naive", "sgemm_06_swizzled_a"]).alt)""",
    "plots.METRICS": "lab.plots.METRICS",
    "plots.LEVELS": "lab.plots.LEVELS",
    "plots.ALL_LEVELS": 'lab.plots.ALL_LEVELS["shared"]',
    "plots.Point": """\
point = lab.plots.Point("mine", intensity=8.0, tflops=60.0, level="dram")
point""",
    "plots.Roof": """\
roof = lab.plots.Roof("DRAM", 4.0, "TB/s", level="dram")
roof.allows(8.0)  # TFLOP/s at 8 FLOP per byte""",
    "plots.over": "lab.plots.over([point], [roof])[0].times",
    "plots.recorded_points": 'lab.plots.recorded_points(recorded, "dram")[0]',
    "plots.recorded_roofs": 'lab.plots.recorded_roofs(recorded, "dram")',
    "plots.schedule_diagram": """\
print(lab.plots.schedule_diagram(shares).alt)""",
    "plots.sector_diagram": """\
requests = {"a column of A": [4096 * lane for lane in range(32)]}
print(lab.plots.sector_diagram(requests).alt)""",
    "plots.tile_diagram": """\
print(lab.plots.tile_diagram("sgemm_04_register_tiling", thread=37).alt)""",
}

REGISTRY = {
    "registry.KERNELS": "len(lab.registry.KERNELS)",
    "registry.PRECISIONS": "list(lab.registry.PRECISIONS)",
    "registry.names": "lab.registry.names()[:3]",
    "registry.get": """\
spec = lab.registry.get("sgemm_06_swizzled_a")
spec.tile, spec.threads, spec.shared_bytes""",
    "registry.family_of": 'lab.registry.family_of("bf16")',
    "registry.program": 'lab.registry.program("sgemm_06_swizzled_a").name',
}

SIM = {
    "sim.compile_step": 'module = lab.sim.compile_step("sgemm_06_swizzled_a")\nmodule.name',
    "sim.integer_matrices": """\
A, B, C = lab.sim.integer_matrices(128, 128, 16)
A.shape, B.shape, C.shape, A.dtype, int(A.min()), int(A.max())""",
    "sim.compile_source": """\
fixture = lab.sim.compile_source("tests/sim/fixtures/gemm_cp_async.cu", "launch_gemm_cp_async")
fixture.trace(*lab.sim.integer_matrices(64, 64, 96), 64, 64, 96).findings""",
    "sim.program": """\
from gemmlab.core.paths import repository_root

broken = repository_root() / "tests/sim/programs/broken.cu"
lab.sim.program(broken, arguments=["race"]).findings""",
    "sim.load": """\
import numpy as np

from gemmlab.core.paths import repository_root

x = np.zeros(64, np.float32)
fine = lab.sim.load(repository_root() / "tests/sim/programs/broken.cu", "fine")
fine(x, grid=1, block=64)""",
}

TABLES = {
    "tables.Table": """\
lab.tables.Table(("kernel", "TFLOP/s"), (("mine", "45.6"),), "tn", ("Made up.",))""",
    "tables.recorded": 'print(*repr(lab.tables.recorded()).splitlines()[:4], sep="\\n")',
    "tables.limits": 'lab.tables.limits("sgemm_06_swizzled_a")',
    "tables.stalls": 'lab.tables.stalls("sgemm_06_swizzled_a")',
    "tables.departures": 'print(*repr(lab.tables.departures("000")).splitlines()[:3], sep="\\n")',
    "tables.resources": 'lab.tables.resources(["sgemm_05_transposed_a", "sgemm_06_swizzled_a"])',
    "tables.traffic": 'lab.tables.traffic("sgemm_06_swizzled_a")',
    "tables.arbitration": 'lab.tables.arbitration("sgemm_06_swizzled_a")',
    "tables.beside": 'print(*repr(lab.tables.beside()).splitlines()[:4], sep="\\n")',
    "tables.peers": "lab.tables.peers()",
    "tables.ceilings": "lab.tables.ceilings()",
    "tables.steady": "lab.tables.steady()",
    "tables.main_loops": 'lab.tables.main_loops(["sgemm_15_large_thread_tile"])',
    "tables.main_loop_excerpt": 'lab.tables.main_loop_excerpt("sgemm_15_large_thread_tile")',
}

WIDGETS = {
    "widgets.BankMap": 'print(repr(lab.widgets.BankMap(width=4, pattern="column")))',
    "widgets.BlockOrder": 'print(repr(lab.widgets.BlockOrder(order="strips")))',
    "widgets.Coalescing": "print(repr(lab.widgets.Coalescing()))",
    "widgets.FragmentMap": 'print(repr(lab.widgets.FragmentMap("mma.m16n8k16 A", lane=5)))',
    "widgets.Metric": 'lab.widgets.Metric("speed", "TFLOP/s", "Made up.").show(45.6)',
    "widgets.HeatMap": """\
cell = {"TM": 8, "TN": 8, "WMITER": 1, "WNITER": 1, "x": 45.6}
speed = lab.widgets.Metric("speed", "TFLOP/s", "Made up.")
print(repr(lab.widgets.HeatMap([cell], {"x": speed})))""",
    "widgets.Ladder": """\
result = lab.measurements.recorded()
print(repr(lab.widgets.Ladder(result, until="sgemm_03_block_tiling")))""",
    "widgets.Machine": 'print(repr(lab.widgets.Machine("sgemm_06_swizzled_a")))',
    "widgets.MbarrierTimeline": """\
print(repr(lab.widgets.MbarrierTimeline(tiles=3, mistake="consumer_parity")))""",
    "widgets.MulticastMap": "print(repr(lab.widgets.MulticastMap(multicast=True)))",
    "widgets.PipelineTimeline": 'print(repr(lab.widgets.PipelineTimeline("double")))',
    "widgets.RegisterTile": "print(repr(lab.widgets.RegisterTile(8, 8)))",
    "widgets.Replay": """\
kept = lab.trace("sgemm_03_block_tiling", 32, 32, 32, journal=True)
print(repr(lab.widgets.Replay(kept)))""",
    "widgets.SwizzleWorkshop": 'print(repr(lab.widgets.SwizzleWorkshop("A, BK = 16")))',
    "widgets.TensorMapFields": "print(repr(lab.widgets.TensorMapFields(columns=100)))",
    "widgets.TileTraffic": "print(repr(lab.widgets.TileTraffic(tile=8)))",
    "widgets.TilingExplorer": "print(repr(lab.widgets.TilingExplorer()))",
    "widgets.TmaBox": 'print(repr(lab.widgets.TmaBox(swizzle="128B")))',
    "widgets.TraceView": "print(repr(lab.widgets.TraceView(trace)))",
    "widgets.Walk": """\
from gemmlab.widgets.walk import WalkBar, WalkPart

bars = (WalkBar("first", "an idea", 10.0, 0.2), WalkBar("second", "another idea", 45.0, 0.9))
print(repr(lab.widgets.Walk([WalkPart("A part", "made up", bars)], "made up")))""",
    "widgets.WarpgroupSums": "print(repr(lab.widgets.WarpgroupSums(256, row=42, column=77)))",
    "widgets.WarpgroupTimeline": 'print(repr(lab.widgets.WarpgroupTimeline("ping-pong")))',
    "widgets.WgmmaOperand": "print(repr(lab.widgets.WgmmaOperand(stride=512)))",
}

EXAMPLES = {
    **{**VERBS, **EVIDENCE, **EXERCISES, **EXPERIMENTS, **SHARED_MEMORY, **OTHER_LAYOUTS},
    **{**MEASUREMENTS, **PLOTS, **REGISTRY, **SIM, **TABLES, **WIDGETS},
}

# Shown and executed; what they print depends on the machine, the clock or the newest recording.
MEASURED = {
    *("device", "check", "bench", "tune", "ptx", "ladder", "here", "course", "parts", "number"),
    "overview",
    *("evidence.agreement", "evidence.copies_past_l1", "evidence.recorded_mutants"),
    *("evidence.recorded_fragments", "evidence.sanitizer", "evidence.conflicts"),
    *("evidence.whole_kernels", "evidence.single_requests"),
    *(name for name in EXPERIMENTS if "ring" not in name.lower() and "fault" not in name),
    "experiments.tma_faults",
    *(name for name in MEASUREMENTS if name not in ("measurements.slug", "measurements.file_of")),
    *("plots.ladder_chart", "plots.walk", "plots.lines", "plots.roofline"),
    *("plots.recorded_points", "plots.recorded_roofs"),
    *(name for name in TABLES if name != "tables.Table"),
    "widgets.Ladder",
}

# Classes that calls give back and that no reader makes: their fields are listed.
RETURNED = {
    *("layouts.Fragment", "layouts.Holder", "layouts.Limits", "layouts.Occupancy"),
    *("layouts.Phase", "layouts.Pipeline", "layouts.Request", "layouts.Waves", "layouts.Word"),
    *("measurements.BenchResult", "measurements.BenchRow", "measurements.Measurements"),
    *("measurements.TuningTrial", "plots.Over"),
    *("sim.Finding", "sim.LineCount", "sim.Sample", "sim.SimModule", "sim.Trace"),
    *("sim.LoadedKernel", "sim.ProgramReport"),
}

# What the tables of the rooms hold, which have no docstring of their own.
TABLES_OF = {
    "experiments.RING_MISTAKES": "Name of a mistake in the ring -> the text it changes in "
    "`kernels/probes/ring.cuh`, for `lab.experiments.try_ring`.",
    "layouts.PRESETS": "Name of a pattern -> its assignments to `row` and `col`, in elements.",
    "layouts.ldmatrix.READERS": "Form of `ldmatrix` -> how many 8x8 matrices of 16-bit elements "
    "it reads.",
    "layouts.FRAGMENTS": "Name of a fragment -> its `Fragment`, for mma, ldmatrix, stmatrix, wgmma "
    "and wmma. Each has the section of the PTX ISA in `source`.",
    "layouts.STEPS": "Name of a step -> its `Tiling`.",
    "layouts.GPUS": "Name of a GPU -> its `Limits`, from the CUDA C++ Programming Guide, "
    "cuda_occupancy.h and data sheets.",
    "measurements.BASELINES": "Name of a baseline in `lab.bench` -> how tables show it.",
    "measurements.SECTIONS": "The names of the sections that a recorded file may have.",
    "measurements.SHAPES": "Shapes (M, N, K) at which the steps that take any size are recorded, "
    "beside cubes.",
    "measurements.SHAPES_SGEMM": "The same for the SGEMM steps: also one column, a few, one short "
    "row, primes and a long K.",
    "measurements.SHAPES_TMA": "The same for the TMA steps: also shapes whose rows are just not "
    "multiples of 16 bytes.",
    "plots.METRICS": "Metric of `lab.plots.lines` -> the label of its axis, with the unit.",
    "plots.LEVELS": "Level of memory traffic -> what an intensity in FLOP per byte counts there.",
    "plots.ALL_LEVELS": "`LEVELS`, and shared memory: wavefronts of 128 bytes.",
    "registry.KERNELS": "The `KernelSpec` of every step, in the order of the course.",
    "registry.PRECISIONS": "Name of the types of A, B and C -> their `Precision`: NumPy's names of "
    "the types, and the rounding error of one operation.",
}
