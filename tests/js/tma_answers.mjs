// Reads {modules: {name: path}, cases: [...]} and prints what TmaBox' and TensorMapFields' own code
// says to each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { modules, cases } = JSON.parse(readFileSync(0, "utf8"));
const loaded = {};
for (const [name, path] of Object.entries(modules)) {
  loaded[name] = await import(pathToFileURL(path));
}

const plain = ({ row, chunk, y, x, begin, end, offset, line, slot }) =>
  [row, chunk, y, x, begin, end, offset, line, slot];

// The same lists of plain values as in test_tma_box_js.py.
const answers = {
  map({ map }) {
    const { problems, sizes } = loaded.tensor_map;
    const { span, rowBytes, boxBytes, pitch, alignment, stride } = sizes(map);
    return [problems(map), [span, rowBytes, boxBytes, pitch, alignment, stride],
      loaded.tensor_map_words.describeMap(map), loaded.tensor_map_words.formulaOf(map)];
  },
  box({ box, chosen }) {
    const { chunkOf, layOut, matrixOf } = loaded.tensor_map;
    const words = loaded.tensor_map_words;
    const laid = layOut(box);
    const found = matrixOf(box, ...chosen);
    return [laid.all.map(plain), [laid.bytes, laid.zeros, laid.lines, laid.misplaced],
      [found.held.map((one) => one.row), found.wavefronts],
      [words.describeBox(laid), words.describeChunk(box, chunkOf(box, ...chosen)),
        words.describeMatrix(found), words.describeStart(laid)]];
  },
  model: ({ config, state }) => loaded.tma_box.boxModel(config, state).readings,
  held: ({ config, state }) => loaded.tma_box.held(config, state),
  step: ({ map, count, key, whole }) => loaded.tma_box.stepOf({ map, count }, key, whole),
  fields: ({ config, state }) => loaded.tensor_map_fields.fieldsOf(config, state),
  number: ({ text, key }) => loaded.tensor_map_fields.readNumber(text, key) ?? null,
  is_number: ({ text, key }) => loaded.tensor_map_fields.readNumber(text, key) !== undefined,
  picture({ config, state, width }) {
    const view = loaded.tma_box.boxModel(config, state);
    const g = loaded.tma_pictures.geometry(view, width);
    return [g, loaded.tma_pictures.matrixPicture(view, g, "lines")];
  },
  faces: ({ name }) => [typeof loaded[name].boot, typeof loaded[name].default?.render],
};

console.log(JSON.stringify(cases.map(([kind, input]) => answers[kind](input))));
