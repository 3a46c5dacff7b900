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
  faces: ({ name }) => [typeof loaded[name].boot, typeof loaded[name].default?.render],
};

console.log(JSON.stringify(cases.map(([kind, input]) => answers[kind](input))));
