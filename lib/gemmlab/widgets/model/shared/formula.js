// Integer formulas that a reader types, parsed and evaluated without eval.
// The same grammar, limits and messages as layouts/shared/formula.py.
const MAX_LENGTH = 160;
const TOKEN = /[ \t\n]*(?:([0-9]+)|([A-Za-z_][A-Za-z_0-9]*)|(<<|>>|[-+*/%&^|()=;]))/y;
const PRECEDENCE = {
  "|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
};
const isName = (token) => /^[A-Za-z_]/.test(token);

function fail(message) {
  throw new Error(`formula: ${message}`);
}

function limited(value) {
  if (Math.abs(value) >= 2 ** 31) fail("a value leaves the range of 32 bits");
  return value + 0; // turns -0 into 0
}

function apply(op, a, b) {
  if ((op === "/" || op === "%") && b === 0) fail("division by zero");
  if ((op === "<<" || op === ">>") && (b < 0 || b > 31)) fail("a shift must be by 0 to 31");
  switch (op) {
    case "+": return limited(a + b);
    case "-": return limited(a - b);
    case "*": return limited(a * b);
    case "/": return limited(Math.trunc(a / b));
    case "%": return limited(a % b);
    case "<<": return limited(a * 2 ** b);
    case ">>": return limited(Math.floor(a / 2 ** b));
    case "&": return limited(a & b);
    case "^": return limited(a ^ b);
    default: return limited(a | b);
  }
}

function tokenize(text) {
  if (text.length > MAX_LENGTH) fail(`more than ${MAX_LENGTH} characters`);
  const source = text.replace(/[ \t\n]+$/, "");
  const tokens = [];
  let at = 0;
  while (at < source.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(source);
    if (!match) fail(`cannot read '${source.slice(at).trimStart().slice(0, 1)}'`);
    tokens.push(match[0].trim());
    at = TOKEN.lastIndex;
  }
  tokens.push("");
  return tokens;
}

function parser(text, names) {
  const tokens = tokenize(text);
  const known = new Set(names);
  const shown = (token) => (token ? `'${token}'` : "the end");

  function expect(token) {
    if (tokens[0] !== token) fail(`expected '${token}', found ${shown(tokens[0])}`);
    tokens.shift();
  }

  function operand() {
    const token = tokens.shift();
    if (token === "-") {
      const inner = operand();
      return (env) => -inner(env);
    }
    if (token === "(") {
      const inner = expression();
      expect(")");
      return inner;
    }
    if (/^[0-9]/.test(token)) {
      const value = limited(Number(token));
      return () => value;
    }
    if (token && known.has(token)) return (env) => env[token];
    if (isName(token)) {
      fail(`unknown name '${token}', known are ${[...known].sort().join(", ")}`);
    }
    return fail(`expected a number or a name, found ${shown(token)}`);
  }

  function expression(level = 1) {
    let left = operand();
    while ((PRECEDENCE[tokens[0]] ?? 0) >= level) {
      const op = tokens.shift();
      const a = left;
      const b = expression(PRECEDENCE[op] + 1);
      left = (env) => apply(op, a(env), b(env));
    }
    return left;
  }

  return { tokens, known, expect, expression };
}

// Compiles one expression in `names`; call the result with an object of their values.
export function compileExpression(text, names) {
  const p = parser(text, names);
  const result = p.expression();
  if (p.tokens[0]) fail(`'${p.tokens[0]}' is too much`);
  return result;
}

// Compiles "name = expression; ..."; the call returns an object with the values of `results`.
export function compileProgram(text, names, results) {
  const p = parser(text, names);
  const steps = [];
  while (p.tokens[0]) {
    const name = p.tokens.shift();
    if (!isName(name)) fail(`expected a name and '=', found '${name}'`);
    p.expect("=");
    steps.push([name, p.expression()]);
    p.known.add(name);
    if (p.tokens[0]) p.expect(";");
  }
  for (const name of results) {
    if (!steps.some((step) => step[0] === name)) fail(`'${name} = ...' is missing`);
  }
  return (env) => {
    const values = { ...env };
    for (const [name, compute] of steps) values[name] = compute(values);
    return values;
  };
}
