// A run of the pipeline model in words, as layouts/pipeline/words.py has it.

// What multiplies, without and with tensor cores.
export const PIPES = ["FMA pipe", "tensor cores"];
export const SCHEMES = { single: "single buffer", double: "double buffer", async: "cp.async" };
export const cycles = (value) => value.toLocaleString("en");

// What the largest of the three rounds is made of.
export function paceText(run, tensor) {
  const { rounds, scheme, stages, blocks } = run;
  const issue = `issue ${cycles(run.issue)}`;
  if (run.pace !== "steps") {
    const unit = run.pace === "path" ? "copy path" : PIPES[Number(tensor)];
    const [paces, it] = tensor && run.pace === "pipe" ? ["pace", "them"] : ["paces", "it"];
    const who = blocks === 1 ? "a tile keeps" : `${blocks} tiles, one from each block, keep`;
    return `The ${unit} ${paces}: ${who} ${it} busy for ${cycles(rounds[run.pace])} cycles.`;
  }
  const latency = `latency ${cycles(run.latency)}`;
  const products = `products ${cycles(run.products)}`;
  const store = `store ${cycles(run.issue)}`;
  const about = Number.isInteger(rounds.steps) ? "" : "about ";
  const each = blocks === 1 ? "a tile" : "for a tile of each block, if no block waits for others";
  const total = `${about}${cycles(Math.floor(rounds.steps + 0.5))} cycles ${each}`;
  if (scheme === "single") {
    return `The steps of a block pace, one after the other: ${issue} + ${latency} + ${store} + ` +
      `${products} = ${total}.`;
  }
  if (scheme === "double") {
    const inner = run.latency <= run.products ? `${products}, which hide the latency,`
      : `${latency} (> ${products})`;
    return `The steps of a block pace: ${issue} + ${inner} + ${store} = ${total}.`;
  }
  if (rounds.steps === run.issue + run.products) {
    return `The steps of a block pace: ${issue} + ${products} = ${total}; copies arrive meanwhile.`;
  }
  const spread = stages === 2 ? "" : `, spread over the ${stages - 1} tiles that are under way,`;
  return `The copies pace: ${issue} + ${latency}${spread} = ${total}.`;
}

export function describe(run, tensor = false) {
  const stages = run.scheme === "async" ? `, ${run.stages} stages` : "";
  const many = run.blocks === 1 ? "1 block" : `${run.blocks} blocks`;
  const plain = SCHEMES[run.scheme];
  const name = run.scheme === "async" ? plain : plain[0].toUpperCase() + plain.slice(1);
  const first = run.pipe[0].state === "idle" ? run.pipe[0].end : 0;
  const between = run.total - run.busy - first;
  const works = tensor ? "tensor cores are" : "FMA pipe is";
  return `${name}${stages}, ${many} on the SM: ${run.blocks * run.tiles} tiles take ` +
    `${cycles(run.total)} cycles of the model, ${cycles(run.perTile)} a tile, of which the ` +
    `products need ${cycles(run.products)}. The ${works} busy ${run.percent} % of the time: ` +
    `idle for ${cycles(first)} cycles before the first products and for ${cycles(between)} ` +
    `between them. ${paceText(run, tensor)}`;
}

function unitText(run, now) {
  if (!now) return "idle";
  if (now.state === "idle") return `idle from ${cycles(now.begin)} to ${cycles(now.end)}`;
  const what = { products: "products", issue: "issue of the copy", store: "store" }[now.state];
  const whose = run.blocks > 1 ? `, block ${now.block}` : "";
  return `${what} of tile ${now.tile}${whose}, until ${cycles(now.end)}`;
}

function actorText(run, now) {
  if (!now) return "done";
  const until = `until ${cycles(now.end)}`;
  if (now.state === "wait") return `waits for the copy of tile ${now.tile} ${until}`;
  if (now.state === "queue") return `waits for its turn, with tile ${now.tile}, ${until}`;
  const into = now.state === "store" ? ` in buffer ${now.tile % run.buffers}` : "";
  const verb = { products: "multiplies", issue: "issues the copy of", store: "stores" }[now.state];
  return `${verb} tile ${now.tile}${into}, ${until}`;
}

function registersText(now) {
  if (!now) return "nothing";
  return `tile ${now.tile}, ${{
    flight: `on its way until ${cycles(now.end)}`,
    arrived: `arrived at ${cycles(now.begin)}, not yet stored`,
    store: `being stored until ${cycles(now.end)}`,
  }[now.state]}`;
}

function bufferText(run, now, number) {
  if (!now) return "nothing yet";
  const [n, t] = [run.buffers, now.tile];
  const why = n > 1 ? ` (${t} mod ${n} = ${number}, phase ${Math.floor(t / n) % 2})` : "";
  return `tile ${t}${why}, ${{
    flight: `on its way until ${cycles(now.end)}`,
    store: `being stored until ${cycles(now.end)}`,
    full: `complete, read from ${cycles(now.end)} on`,
    read: `being read until ${cycles(now.end)}`,
    old: "read, may be overwritten",
  }[now.state]}`;
}

// [lane, what it does] for each of the lanes at a time from 0 to total - 1.
export function moment(run, lanes, time) {
  return lanes.map(([name, bars]) => {
    const now = bars.find((b) => b.begin <= time && time < b.end);
    const [kind, number] = name.split(" ");
    if (PIPES.includes(name) || name === "copy path") return [name, unitText(run, now)];
    if (kind === "block") return [name, actorText(run, now)];
    if (kind === "registers") return [name, registersText(now)];
    return [name, bufferText(run, now, Number(number))];
  });
}
