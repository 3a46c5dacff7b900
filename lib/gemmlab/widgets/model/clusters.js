// Who loads what for whom in a cluster of blocks: the rules of layouts/clusters.py.
const KB = 1024;
const BYTES_OF_LINE = 64 * 2; // of a row of A, or a column of B, in a k tile
const RATE = 2048; // multiply-adds of an SM's tensor cores in a cycle

// c: {rows, columns, BM, BN, multicast}. What a block asks for: {operand, first, count, to}.
export function clusterLoads(c, block) {
  const [row, column] = [Math.floor(block / c.columns), block % c.columns];
  if (!c.multicast) {
    return [{ operand: "A", first: row * c.BM, count: c.BM, to: [block] },
      { operand: "B", first: column * c.BN, count: c.BN, to: [block] }];
  }
  const range = (n) => [...Array(n).keys()];
  const [a, b] = [Math.floor(c.BM / c.columns), Math.floor(c.BN / c.rows)];
  return [{ operand: "A", first: row * c.BM + column * a, count: a,
    to: range(c.columns).map((one) => row * c.columns + one) },
  { operand: "B", first: column * c.BN + row * b, count: b,
    to: range(c.rows).map((one) => one * c.columns + column) }];
}

export function clusterFacts(c) {
  const asked = clusterLoads(c, 0).reduce((sum, one) => sum + one.count, 0) * BYTES_OF_LINE;
  const others = c.multicast ? c.rows + c.columns - 2 : 0;
  return { blocks: c.rows * c.columns, needed: (c.BM + c.BN) * BYTES_OF_LINE, asked,
    cycles: Math.floor(c.BM * c.BN * 64 / RATE), arrivals: 2 * (1 + others) };
}

// As Python's {:g}.
const six = (value) => String(Number(value.toPrecision(6)));

export function tellCluster(c) {
  const { asked, needed, cycles, blocks, arrivals } = clusterFacts(c);
  return `A block asks for ${six(asked / KB)} of the ${six(needed / KB)} KB that it needs, ` +
    `${six(asked / cycles)} bytes for each of the ${cycles.toLocaleString("en")} cycles that its ` +
    `products take. The cluster reads ${six(blocks * asked / KB)} KB from L2, and a stage is empty ` +
    `after ${arrivals} arrivals.`;
}

export function tellClusterBlock(c, block) {
  const parts = clusterLoads(c, block).map(({ operand, first, count, to }) =>
    `${operand === "A" ? "rows of A" : "columns of B"} ${first} to ${first + count - 1} for ` +
    `block${to.length === 1 ? "" : "s"} ${to.join(" and ")}`);
  return `Block ${block} asks for ${parts[0]}, and for ${parts[1]}.`;
}
