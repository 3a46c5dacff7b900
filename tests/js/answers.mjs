// One request a line: {cases: [[kind, input], ...]}. One answer a line: what the widgets' own code
// says to each, and which of its modules were asked; or {error}. The first line is {modules}: a file
// for each module, by its path below widgets/.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value ?? "null");
const asked = new Set();
const modules = {};
for (const [name, path] of Object.entries((await next()).modules)) {
  modules[name] = await import(pathToFileURL(path));
}
const loaded = new Proxy(modules, {
  get(all, name) {
    if (!(name in all)) throw new Error(`there is no ${name}.js`);
    asked.add(name);
    return all[name];
  },
});

const plain = ({ row, chunk, y, x, begin, end, offset, line, slot }) =>
  [row, chunk, y, x, begin, end, offset, line, slot];

// The same lists of plain values as in the tests.
const answers = {
  access({ access, tile, layout }) {
    const found = loaded["model/shared/banks"].evaluate(access, tile, layout);
    if (found.error) return found.error;
    const words = found.request.phases.map((phase) =>
      phase.words.map((word) => [word.index, word.bank, word.wavefront, word.lanes]));
    return [found.addresses, words, found.request.wavefronts, found.request.conflicts, found.reading];
  },
  formula({ text, env }) {
    try {
      return loaded["model/shared/formula"].compileExpression(text, Object.keys(env))(env);
    } catch (error) {
      return error.message;
    }
  },
  program({ text }) {
    try {
      const { row, col } = loaded["model/shared/formula"].compileProgram(text, ["lane", "n", "L"], ["row", "col"])(
        { lane: 13, n: 4, L: 128 });
      return [row, col];
    } catch (error) {
      return error.message;
    }
  },
  access_name: ({ access }) => loaded["bank_map/widget"].accessName(access),
  goal({ config, state }) {
    return loaded["bank_map/widget"].meets(config.goal, state, loaded["bank_map/widget"].models(config, state));
  },
  async replay({ config, at }) {
    const widget = loaded["replay/widget"];
    const run = await widget.runOf(config);
    return at.map(([warp, tick]) => {
      const step = widget.stepOf(run, warp, tick);
      const values = step.addresses.map((address) => widget.valuesAt(run, step, address));
      return [step.line, step.epoch, step.waits, step.addresses, values];
    });
  },
  guess: ({ config, guess }) => loaded["predict/widget"].isRight(config, guess),
  number: ({ text }) => loaded["predict/widget"].readNumber(text),
  distance: ({ config, guess }) => loaded["predict/widget"].distance(config, guess),
  element: ({ places, memory, address }) =>
    loaded["trace_view/pictures"].elementAt(places, memory, address),
  sectors({ addresses, width }) {
    return loaded["trace_view/pictures"].sectorsOf(addresses, width).map(({ index, lanes, bytes, words }) =>
      [index, lanes, bytes, words]);
  },
  sample({ config, state }) {
    const { request, sectors } = loaded["trace_view/widget"].modelOf(config, state);
    if (sectors) return [sectors.length, sectors.length];
    return [request.wavefronts, request.minimum, request.phases.map((phase) =>
      phase.words.map((word) => [word.index, word.bank, word.wavefront, word.lanes]))];
  },
  company: ({ line, sample }) => loaded["trace_view/widget"].company(line, sample),
  cost: ({ line }) => loaded["trace_view/controls"].costText(line),
  tell({ config, state, target }) {
    return loaded["trace_view/pictures"].tell(loaded["trace_view/widget"].modelOf(config, state), target);
  },
  row: ({ row }) => loaded["ladder/widget"].describeRow(row),
  shade: ({ part, theme }) => loaded["heat_map/widget"].shade(part, theme),
  unit_beside: (metric) => loaded["heat_map/widget"].unitBeside(metric),
  ticks: (most) => loaded["heat_map/widget"].ticks(most),
  cell({ config, state }) {
    const { companions, goodness, groupsOf, nameOf, tell } = loaded["heat_map/widget"];
    const at = config.metrics.findIndex((m) => m.key === state.metric);
    const value = config.cells[state.row][state.col].values?.[at];
    return [nameOf(config, state.row, state.col), tell(config, state),
      typeof value === "number" ? goodness(config, config.metrics[at], value) : null,
      companions(config, state).map((cell) => cell.name),
      groupsOf(config).map(([count, cells]) => [count, cells.length])];
  },
  pipeline({ params, time, watch, tensor }) {
    const run = loaded["model/pipeline/model"].simulate(params);
    const lanes = loaded["model/pipeline/model"].lanesOf(run, watch, tensor);
    const { describe, moment } = loaded["model/pipeline/words"];
    return {
      steps: run.steps.map((s) =>
        [s.block, s.kind, s.tile, s.needs, s.asked, s.ready, s.begin, s.end]),
      lanes: lanes.map(([name, bars]) =>
        [name, bars.map((b) => [b.state, b.block, b.tile, b.begin, b.end])]),
      counts: [run.total, run.busy, run.percent, run.perTile, run.buffers],
      rounds: run.rounds, pace: run.pace, reading: describe(run, tensor),
      moment: moment(run, lanes, time),
    };
  },
  warpgroups({ shape, time }) {
    const run = loaded["model/warpgroups/model"].shareCores(shape);
    const lanes = loaded["model/warpgroups/model"].warpgroupLanes(run);
    const { tellShared, tellShareMoment } = loaded["model/warpgroups/words"];
    return {
      lanes: lanes.map(([name, bars]) =>
        [name, bars.map((b) => [b.state, b.tile, b.begin, b.end])]),
      counts: [run.total, run.busy, run.percent, ...run.gaps],
      reading: tellShared(run), moment: tellShareMoment(lanes, time, run.depth),
    };
  },
  recordedMoment({ lanes, time, depth }) {
    const bars = (list) => list.map(([state, tile, begin, end]) => ({ state, tile, begin, end }));
    return loaded["model/warpgroups/words"].tellShareMoment(
      lanes.map(([name, list]) => [name, bars(list)]), time, depth);
  },
  operand({ o, given, step }) {
    const { boxOf, bytesOf, coreOf, coreWavefronts, descriptorBits, pieceAt, piecesOf, rightDescriptor } =
      loaded["model/wgmma/operand"];
    const { descriptorFields, tellByte, tellCore, tellOperand, tellPiece } =
      loaded["model/wgmma/operand_words"];
    const pieces = piecesOf(o, given, step);
    const right = rightDescriptor(o, step);
    const cells = [...Array(bytesOf(o) / 16).keys()];
    return {
      right: [right.start, right.leading, right.stride, right.span], box: boxOf(o),
      bits: descriptorBits(given), fields: descriptorFields(given),
      pieces: pieces.map((p) => [p.row, p.k, p.wanted, p.read, p.found, p.right]),
      cells: cells.map((i) => pieceAt(o, 16 * i)), bytes: cells.map((i) => tellByte(o, 16 * i)),
      cores: pieces.map((_, i) => [coreOf(o, i), coreWavefronts(coreOf(o, i).map((n) => pieces[n])),
        tellCore(o, pieces, i)]),
      words: [tellOperand(pieces), pieces.map((one) => tellPiece(o, one))],
    };
  },
  sums({ columns }) {
    const { sumElement, sumHolder, tellSum, tellSumThread } = loaded["model/wgmma/sums"];
    const places = [...Array(64 * columns).keys()].map((i) => [Math.floor(i / columns), i % columns]);
    return {
      held: places.map((at) => sumHolder(...at)), words: places.map((at) => tellSum(...at)),
      back: places.map((at) => sumElement(...sumHolder(...at))),
      threads: [...Array(128).keys()].map((thread) => tellSumThread(columns, thread)),
    };
  },
  cluster({ c }) {
    const { clusterFacts, clusterLoads, tellCluster, tellClusterBlock } = loaded["model/clusters"];
    const blocks = [...Array(c.rows * c.columns).keys()];
    return {
      loads: blocks.map((block) =>
        clusterLoads(c, block).map((one) => [one.operand, one.first, one.count, one.to])),
      facts: Object.values(clusterFacts(c)), words: tellCluster(c),
      each: blocks.map((block) => tellClusterBlock(c, block)),
    };
  },
  ring(ring) {
    const run = loaded["model/mbarrier/run"].runRing(ring);
    const { outcomeOf, tellEvent } = loaded["model/mbarrier/words"];
    const each = [...run.events.keys()];
    return {
      events: run.events, states: run.states,
      waiting: each.map((i) => loaded["model/mbarrier/run"].waitingAt(run, i).map((e) => e.actor)),
      lanes: run.lanes.map(([name, bars]) =>
        [name, bars.map((b) => [b.state, b.tile, b.begin, b.end])]),
      counts: [run.total, run.lesson, run.problems],
      said: each.map((i) => tellEvent(run, i)), outcome: outcomeOf(run),
    };
  },
  ring_widget({ config, state }) {
    const { changes, said } = loaded["mbarrier_timeline/widget"].quotesOf(config, state);
    const { run, index } = loaded["mbarrier_timeline/widget"].ringOf(config, state);
    return [said.map((one) => one.message), changes, index, run.lesson];
  },
  // A tiling's maps and costs, whole.
  tiling({ t, gpu, size, threads }) {
    const { copies, derive, loads, owner, stores, storeSectors } = loaded["model/tiling/tiling"];
    const { describeThread, facts } = loaded["model/tiling/facts"];
    const d = derive(t);
    const cells = [...Array(d.BM * d.BN).keys()];
    return {
      owners: cells.map((i) => owner(d, Math.floor(i / d.BN), i % d.BN)),
      copies: threads.map((n) => [copies(d, n, "A"), copies(d, n, "B")]),
      stores: threads.map((n) => stores(d, n)),
      loads: [loads(d, "A"), loads(d, "B")], sectors: storeSectors(d),
      facts: facts(t, gpu, size), words: threads.map((n) => describeThread(t, n)),
    };
  },
  problems: ({ sizes, choices }) =>
    [loaded["model/tiling/tiling"].problems(sizes), loaded["model/tiling/tiling"].repairs(sizes, Object.entries(choices))],
  loads_of: ({ addresses, width }) => loaded["model/tiling/tiling"].wavefronts(addresses, width),
  written: ({ value }) => loaded["model/tiling/tiling"].number(value),
  occupancy({ threads, registers, shared, gpu }) {
    const { blocks, warps, allowed } = loaded["model/tiling/tiling"].occupancy(threads, registers, shared, gpu);
    return [blocks, warps, Object.values(allowed)];
  },
  // The thread under the middle of each element of A, B and C that is asked for.
  under({ t, width, places }) {
    const d = loaded["model/tiling/tiling"].derive(t);
    const { geometry, threadAt } = loaded["tiling_explorer/picture"];
    const g = geometry(d, width);
    const at = { A: (m, k) => [(k + 0.5) * g.k, g.at + (m + 0.5) * g.s],
      B: (k, n) => [g.at + (n + 0.5) * g.s, (k + 0.5) * g.k],
      C: (m, n) => [g.at + (n + 0.5) * g.s, g.at + (m + 0.5) * g.s] };
    return places.map(([matrix, row, col]) => threadAt(d, g, ...at[matrix](row, col)));
  },
  zoom: ({ t, thread }) => loaded["tiling_explorer/picture"].zoomPicture(loaded["model/tiling/tiling"].derive(t), thread, 280),
  changes: ({ before, now }) => [...loaded["tiling_explorer/widget"].changes(before, now)],
  order({ o, index }) {
    const { describe, neverTaken, panels, places, wave, waves } = loaded["model/tiling/block_order"];
    const w = wave(o, index);
    return {
      places: places(o), waves: waves(o), panels: panels(o), never: neverTaken(o),
      wave: [w.first, w.last, w.rows, w.columns, w.outside, w.tiles, w.panels],
      words: describe(o, index),
    };
  },
  tenth: ({ a, b }) => loaded["model/tiling/block_order"].tenth(a, b),
  block_of: ({ o, at }) => loaded["block_order/widget"].blockOf(o, at),
  order_picture: ({ o, index, width }) =>
    loaded["block_order/widget"].picture(o, index, loaded["block_order/widget"].geometry(o, width)),
  // A fragment whole: each element's holder, tint and words, each register's element, each lane.
  fragment({ f, colour }) {
    const { describeElement, describeLane, element, holder, matrixOf, short } = loaded["model/fragments"];
    const at = [...Array(f.rows * f.columns).keys()]
      .map((i) => [Math.floor(i / f.columns), i % f.columns]);
    const held = at.map(([row, column]) => holder(f, row, column));
    return {
      held: held.map((one) => [one.lane, one.register, one.half, short(one)]),
      back: held.map((one) => element(f, one.lane, one.register, one.half)),
      matrices: at.map(([row, column]) => matrixOf(f, row, column)),
      words: at.map(([row, column]) => describeElement(f, row, column)),
      lanes: [...Array(32).keys()].map((lane) => describeLane(f, lane)),
      tints: at.map(([row, column]) => loaded["fragment_map/widget"].tint(f, colour, row, column)),
    };
  },
  shared_start: (names) => loaded["fragment_map/widget"].sharedStart(names),
  runs_of: (at) => loaded["block_order/widget"].runsOf(at),
  fragment_panels: ({ f, narrow }) => loaded["model/fragments"].panels(f, narrow)
    .map(({ top, left, rows, columns }) => [top, left, rows, columns]),
  // A tile that pairs of bits rearrange, whole; a write only of whole chunks.
  workshop({ tile, pairs, swizzle, readers }) {
    const { cellOf, describeMap, describePhase, describeRead, describeWrite, bitsOf, formulaOf,
      groupsOf, pointed, readRequest, roleOf, rowBit, torn, writeRequest,
    } = loaded["model/shared/ldmatrix"];
    const { collision, move, pairsOf, swizzleOf } = loaded["model/shared/swizzle"];
    const whole = !torn(pairs);
    const bits = [...Array(bitsOf(tile)).keys()];
    const reads = !whole ? [] : readers.map((reader) => {
      const request = readRequest(tile, pairs, reader);
      const lanes = pointed(reader);
      const phases = request.phases.map((_, i) =>
        groupsOf(tile, pairs, lanes.slice(8 * i, 8 * i + 8)));
      return [request.phases.map((one) => one.wavefronts), request.minimum,
        describeRead(request, reader), phases, phases.map(describePhase)];
    });
    const written = whole ? writeRequest(tile, pairs) : null;
    return {
      bits: [rowBit(tile), bits.map((bit) => roleOf(tile, bit).join(" ").trim())],
      moved: [...Array(1 << bits.length).keys()].map((at) => move(pairs, at)),
      map: describeMap(pairs, tile), formula: formulaOf(pairs, tile), reads,
      swizzle: swizzleOf(pairs), pairs: pairsOf(swizzle, bits.length), cell: cellOf(tile, 500),
      collision: collision(pairs, bits.length),
      write: written && [written.wavefronts, written.minimum, describeWrite(written, tile)],
    };
  },
  workshop_model({ config, state }) {
    const { readings, solved } = loaded["swizzle_workshop/widget"].workshopModel(config, state);
    return [readings, solved];
  },
  toggled: ({ state, pair }) => loaded["swizzle_workshop/widget"].toggled(state, pair),
  stepped: ({ state, tile, i, value }) => loaded["swizzle_workshop/widget"].stepped(state, tile, i, value),
  patch(given) {
    const { places, sectors, moved, percent, words } = loaded["model/traffic/patch"].patch(given);
    return [places, sectors, moved, percent, words];
  },
  block_tile({ n, tile, step }) {
    const { steps, blocks, all, loaded: own, fmas, words } =
      loaded["model/traffic/block_tile"].blockTile(n, tile, step);
    return [steps, blocks, all, own, fmas, words];
  },
  thread_tile({ m, n }) {
    const { element, threadTile } = loaded["model/traffic/thread_tile"];
    const { values, fmas, registers, fits, percent, words } = threadTile(m, n);
    const order = [...Array(fmas).keys()].map((i) => element(n, i));
    return [values, fmas, registers, fits, percent, words, order];
  },
  traffic_words({ a, b }) {
    const { plural, quotient } = loaded["model/traffic/words"];
    return [plural(a, "tile"), quotient(a, b)];
  },
  // Copies past L1 by lanes that all read.
  past_l1: ({ to, source }) => loaded["model/shared/copies"].pastL1(to, source),
  // An mbarrier after each of some operations, and for which parities a wait would end.
  barrier({ count, operations }) {
    const { arrived, arrivedExpecting, completed, initialised, isOver } = loaded["model/mbarrier/model"];
    const by = { arrive: arrived, arrive_expect_tx: arrivedExpecting, complete_tx: completed };
    let bar = initialised(count);
    return operations.map(([name, ...given]) => {
      bar = by[name](bar, ...given);
      return [bar, [0, 1].map((parity) => isOver(bar, parity))];
    });
  },
  // The ring that is set up: its barriers, and what each actor is to do.
  ring_set_up(ring) {
    const { actorsOf, barriersOf, programsOf } = loaded["model/mbarrier/model"];
    return [actorsOf(ring), barriersOf(ring), programsOf(ring)];
  },
  map({ map }) {
    const { problems, sizes } = loaded["model/tma/tensor_map"];
    const { span, rowBytes, boxBytes, pitch, alignment, stride } = sizes(map);
    return [problems(map), [span, rowBytes, boxBytes, pitch, alignment, stride],
      loaded["model/tma/words"].describeMap(map), loaded["model/tma/words"].formulaOf(map)];
  },
  box({ box, chosen }) {
    const { chunkOf, layOut, matrixOf } = loaded["model/tma/tensor_map"];
    const words = loaded["model/tma/words"];
    const laid = layOut(box);
    const found = matrixOf(box, ...chosen);
    return [laid.all.map(plain), [laid.bytes, laid.zeros, laid.lines, laid.misplaced],
      [found.held.map((one) => one.row), found.wavefronts],
      [words.describeBox(laid), words.describeChunk(box, chunkOf(box, ...chosen)),
        words.describeMatrix(found), words.describeStart(laid)]];
  },
  box_model: ({ config, state }) => loaded["tma_box/widget"].boxModel(config, state).readings,
  held: ({ config, state }) => loaded["tma_box/widget"].held(config, state),
  step: ({ map, count, key, whole }) => loaded["tma_box/widget"].stepOf({ map, count }, key, whole),
  fields: ({ config, state }) => loaded["tensor_map_fields/widget"].fieldsOf(config, state),
  field_number: ({ text, key }) => loaded["tensor_map_fields/widget"].readNumber(text, key) ?? null,
  is_field_number: ({ text, key }) => loaded["tensor_map_fields/widget"].readNumber(text, key) !== undefined,
  picture({ config, state, width }) {
    const view = loaded["tma_box/widget"].boxModel(config, state);
    const g = loaded["tma_box/pictures"].geometry(view, width);
    return [g, loaded["tma_box/pictures"].matrixPicture(view, g, "lines")];
  },
  faces({ name }) {
    const { boot, default: live } = loaded[`${name}/widget`];
    return [typeof boot, typeof live?.render];
  },
};

for (let request = await next(); request; request = await next()) {
  asked.clear();
  let answer;
  try {
    const found = await Promise.all(request.cases.map(([kind, input]) => answers[kind](input)));
    answer = { answers: found, asked: [...asked] };
  } catch (error) {
    answer = { error: error.stack };
  }
  console.log(JSON.stringify(answer));
}
