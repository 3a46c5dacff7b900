// Which thread of a warpgroup has which sum of m64nNk16: the rule of layouts/wgmma/sums.py.

// [thread, register] of a sum.
export const sumHolder = (row, column) =>
  [Math.floor(row / 16) * 32 + row % 8 * 4 + Math.floor(column % 8 / 2),
    Math.floor(column / 8) * 4 + Math.floor(row % 16 / 8) * 2 + column % 2];

// [row, column] of a register of a thread.
export function sumElement(thread, register) {
  const [warp, lane] = [Math.floor(thread / 32), thread % 32];
  return [16 * warp + Math.floor(lane / 4) + Math.floor(register % 4 / 2) * 8,
    Math.floor(register / 4) * 8 + lane % 4 * 2 + register % 2];
}

export function tellSum(row, column) {
  const [thread, register] = sumHolder(row, column);
  return `Row ${row}, column ${column}: warp ${Math.floor(thread / 32)}, lane ${thread % 32}, ` +
    `which is thread ${thread}, register d[${register}].`;
}

export function tellSumThread(columns, thread) {
  const [[top, left], [bottom]] = [sumElement(thread, 0), sumElement(thread, 2)];
  return `Thread ${thread} has ${columns / 2} sums: rows ${top} and ${bottom}, and in each the ` +
    `columns 8j + ${left} and 8j + ${left + 1} for j = 0 to ${columns / 8 - 1}.`;
}
