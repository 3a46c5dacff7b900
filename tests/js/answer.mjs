// Reads {modules: {name: path}, cases: [...]} and prints what the widgets' own code says to each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { modules, cases } = JSON.parse(readFileSync(0, "utf8"));
const loaded = {};
for (const [name, path] of Object.entries(modules)) {
  loaded[name] = await import(pathToFileURL(path));
}

// The same list of plain values as in test_javascript.py.
const answers = {
  access({ access, tile, layout }) {
    const found = loaded.banks.evaluate(access, tile, layout);
    if (found.error) return found.error;
    const words = found.request.phases.map((phase) =>
      phase.words.map((word) => [word.index, word.bank, word.wavefront, word.lanes]));
    return [found.addresses, words, found.request.wavefronts, found.request.conflicts, found.reading];
  },
  formula({ text, env }) {
    try {
      return loaded.formula.compileExpression(text, Object.keys(env))(env);
    } catch (error) {
      return error.message;
    }
  },
  program({ text }) {
    try {
      const { row, col } = loaded.formula.compileProgram(text, ["lane", "n", "L"], ["row", "col"])(
        { lane: 13, n: 4, L: 128 });
      return [row, col];
    } catch (error) {
      return error.message;
    }
  },
  access_name: ({ access }) => loaded.bank_map.accessName(access),
  goal({ config, state }) {
    return loaded.bank_map.meets(config.goal, state, loaded.bank_map.models(config, state));
  },
  guess: ({ config, guess }) => loaded.predict.isRight(config, guess),
  number: ({ text }) => loaded.predict.readNumber(text),
  distance: ({ config, guess }) => loaded.predict.distance(config, guess),
  element: ({ places, memory, address }) =>
    loaded.trace_pictures.elementAt(places, memory, address),
  sectors({ addresses, width }) {
    return loaded.trace_pictures.sectorsOf(addresses, width).map(({ index, lanes, bytes, words }) =>
      [index, lanes, bytes, words]);
  },
  sample({ config, state }) {
    const { request, sectors } = loaded.trace_view.modelOf(config, state);
    if (sectors) return [sectors.length, sectors.length];
    return [request.wavefronts, request.minimum, request.phases.map((phase) =>
      phase.words.map((word) => [word.index, word.bank, word.wavefront, word.lanes]))];
  },
  company: ({ line, sample }) => loaded.trace_view.company(line, sample),
  cost: ({ line }) => loaded.trace_controls.costText(line),
  tell({ config, state, target }) {
    return loaded.trace_pictures.tell(loaded.trace_view.modelOf(config, state), target);
  },
  row: ({ row }) => loaded.ladder.describeRow(row),
  shade: ({ part, theme }) => loaded.heat_map.shade(part, theme),
  cell({ config, state }) {
    const { companions, goodness, groupsOf, nameOf, tell } = loaded.heat_map;
    const at = config.metrics.findIndex((m) => m.key === state.metric);
    const value = config.cells[state.row][state.col].values?.[at];
    return [nameOf(config, state.row, state.col), tell(config, state),
      typeof value === "number" ? goodness(config, config.metrics[at], value) : null,
      companions(config, state).map((cell) => cell.name),
      groupsOf(config).map(([count, cells]) => [count, cells.length])];
  },
  pipeline({ params, time, watch }) {
    const run = loaded.pipeline.simulate(params);
    const lanes = loaded.pipeline.lanesOf(run, watch);
    const { describe, moment } = loaded.pipeline_words;
    return {
      steps: run.steps.map((s) =>
        [s.block, s.kind, s.tile, s.needs, s.asked, s.ready, s.begin, s.end]),
      lanes: lanes.map(([name, bars]) =>
        [name, bars.map((b) => [b.state, b.block, b.tile, b.begin, b.end])]),
      counts: [run.total, run.busy, run.percent, run.perTile, run.buffers],
      rounds: run.rounds, pace: run.pace, reading: describe(run), moment: moment(run, lanes, time),
    };
  },
  ring(ring) {
    const run = loaded.mbarrier_run.runRing(ring);
    const { outcomeOf, tellEvent } = loaded.mbarrier_words;
    const each = [...run.events.keys()];
    return {
      events: run.events, states: run.states,
      waiting: each.map((i) => loaded.mbarrier_run.waitingAt(run, i).map((e) => e.actor)),
      lanes: run.lanes.map(([name, bars]) =>
        [name, bars.map((b) => [b.state, b.tile, b.begin, b.end])]),
      counts: [run.total, run.lesson, run.problems],
      said: each.map((i) => tellEvent(run, i)), outcome: outcomeOf(run),
    };
  },
  ring_widget({ config, state }) {
    const { changes, said } = loaded.mbarrier_timeline.quotesOf(config, state);
    const { run, index } = loaded.mbarrier_timeline.ringOf(config, state);
    return [said.map((one) => one.message), changes, index, run.lesson];
  },
  // A tiling's maps and costs, whole.
  tiling({ t, gpu, size, threads }) {
    const { copies, derive, loads, owner, stores, storeSectors } = loaded.tiling;
    const { describeThread, facts } = loaded.tiling_facts;
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
    [loaded.tiling.problems(sizes), loaded.tiling.repairs(sizes, Object.entries(choices))],
  loads_of: ({ addresses, width }) => loaded.tiling.wavefronts(addresses, width),
  written: ({ value }) => loaded.tiling.number(value),
  occupancy({ threads, registers, shared, gpu }) {
    const { blocks, warps, allowed } = loaded.tiling.occupancy(threads, registers, shared, gpu);
    return [blocks, warps, Object.values(allowed)];
  },
  // The thread under the middle of each element of A, B and C that is asked for.
  under({ t, width, places }) {
    const d = loaded.tiling.derive(t);
    const { geometry, threadAt } = loaded.tiling_picture;
    const g = geometry(d, width);
    const at = { A: (m, k) => [(k + 0.5) * g.k, g.at + (m + 0.5) * g.s],
      B: (k, n) => [g.at + (n + 0.5) * g.s, (k + 0.5) * g.k],
      C: (m, n) => [g.at + (n + 0.5) * g.s, g.at + (m + 0.5) * g.s] };
    return places.map(([matrix, row, col]) => threadAt(d, g, ...at[matrix](row, col)));
  },
  zoom: ({ t, thread }) => loaded.tiling_picture.zoomPicture(loaded.tiling.derive(t), thread, 280),
  changes: ({ before, now }) => [...loaded.tiling_explorer.changes(before, now)],
  order({ o, index }) {
    const { describe, neverTaken, panels, places, wave, waves } = loaded.tile_order;
    const w = wave(o, index);
    return {
      places: places(o), waves: waves(o), panels: panels(o), never: neverTaken(o),
      wave: [w.first, w.last, w.rows, w.columns, w.outside, w.tiles, w.panels],
      words: describe(o, index),
    };
  },
  tenth: ({ a, b }) => loaded.tile_order.tenth(a, b),
  block_of: ({ o, at }) => loaded.block_order.blockOf(o, at),
  order_picture: ({ o, index, width }) =>
    loaded.block_order.picture(o, index, loaded.block_order.geometry(o, width)),
  // A fragment whole: each element's holder, tint and words, each register's element, each lane.
  fragment({ f, colour }) {
    const { describeElement, describeLane, element, holder, matrixOf, short } = loaded.fragments;
    const at = [...Array(f.rows * f.columns).keys()]
      .map((i) => [Math.floor(i / f.columns), i % f.columns]);
    const held = at.map(([row, column]) => holder(f, row, column));
    return {
      held: held.map((one) => [one.lane, one.register, one.half, short(one)]),
      back: held.map((one) => element(f, one.lane, one.register, one.half)),
      matrices: at.map(([row, column]) => matrixOf(f, row, column)),
      words: at.map(([row, column]) => describeElement(f, row, column)),
      lanes: [...Array(32).keys()].map((lane) => describeLane(f, lane)),
      tints: at.map(([row, column]) => loaded.fragment_map.tint(f, colour, row, column)),
    };
  },
  fragment_panels: ({ f, narrow }) => loaded.fragments.panels(f, narrow)
    .map(({ top, left, rows, columns }) => [top, left, rows, columns]),
  // A tile that pairs of bits rearrange, whole; a write only of whole chunks.
  workshop({ tile, pairs, swizzle, readers }) {
    const { cellOf, collision, describeMap, describePhase, describeRead, describeWrite, bitsOf,
      formulaOf, groupsOf, move, pairsOf, pointed, readRequest, roleOf, rowBit, swizzleOf, torn,
      writeRequest } = loaded.ldmatrix_phases;
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
      swizzle: swizzleOf(pairs), pairs: pairsOf(swizzle, tile), cell: cellOf(tile, 500),
      collision: collision(pairs, bits.length),
      write: written && [written.wavefronts, written.minimum, describeWrite(written, tile)],
    };
  },
  workshop_model({ config, state }) {
    const { readings, solved } = loaded.swizzle_workshop.workshopModel(config, state);
    return [readings, solved];
  },
  toggled: ({ state, pair }) => loaded.swizzle_workshop.toggled(state, pair),
  stepped: ({ state, tile, i, value }) => loaded.swizzle_workshop.stepped(state, tile, i, value),
  faces: ({ name }) => [typeof loaded[name].boot, typeof loaded[name].default?.render],
};

console.log(JSON.stringify(cases.map(([kind, input]) => answers[kind](input))));
