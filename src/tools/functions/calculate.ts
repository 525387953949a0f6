// Arithmetic as people write it, read by a parser of its own: nothing that a model writes is ever evaluated as code.

/** Throws an Error that tells the model what is wrong with the expression. */
export function calculate(expression: string): number {
  const parser = new Parser(expression);
  const value = parser.sum();
  parser.end();
  if (!Number.isFinite(value))
    throw new Error(Number.isNaN(value) ? "the result is not a number" : "the result is infinite");
  return Number.isInteger(value) ? value : Number(value.toPrecision(15)); // 0.1 + 0.2 is 0.3
}

const CONSTANTS: { [name: string]: number } = { pi: Math.PI, π: Math.PI, e: Math.E, tau: 2 * Math.PI };

type Operation = { call: (...values: number[]) => number; least: number; most: number };

const of = (call: (...values: number[]) => number, least = 1, most = least): Operation => ({ call, least, most });

const PLAIN = [
  ...(["abs", "sqrt", "cbrt", "exp", "floor", "ceil", "trunc", "sign", "log2", "log10"] as const),
  ...(["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"] as const),
];

const FUNCTIONS: { [name: string]: Operation } = {
  ...Object.fromEntries(PLAIN.map((name) => [name, of(Math[name])])),
  ln: of(Math.log),
  log: of((value, base) => (base === undefined ? Math.log(value) : Math.log(value) / Math.log(base)), 1, 2),
  round: of((value, digits = 0) => roundTo(value, digits), 1, 2),
  pow: of((base, power) => base ** power, 2),
  mod: of((a, b) => a - b * Math.floor(a / b), 2),
  atan2: of(Math.atan2, 2),
  hypot: of(Math.hypot, 1, 100),
  min: of(Math.min, 1, 100),
  max: of(Math.max, 1, 100),
  sum: of((...values) => values.reduce((a, b) => a + b, 0), 1, 100),
  avg: of((...values) => values.reduce((a, b) => a + b, 0) / values.length, 1, 100),
  factorial: of((value) => factorial(value)),
  gcd: of((a, b) => divisor(a, b), 2),
  degrees: of((value) => (value * 180) / Math.PI),
  radians: of((value) => (value * Math.PI) / 180),
};

const MAX_DEPTH = 200;
const MAX_LENGTH = 5000;
const SPACE = /[\s\u00a0]*/y;
const NUMBER = /0[xX][\da-fA-F]+|(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-zπ][A-Za-z0-9_]*(?:\.[A-Za-z]\w*)?/y;
const PERCENT = /\s*%\s*(?:$|[)+*/,^×·÷])|%\s*[-−]/y;
const OPERATOR = /\*\*|\/\/|[-+*/%^()!,×·÷−]/y;

/** As other characters write them. */
const SAME: { [operator: string]: string } = { "×": "*", "·": "*", "÷": "/", "−": "-", "**": "^" };

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  /** how many argument lists are open: a comma ends an argument there, and groups digits elsewhere */
  #lists = 0;

  constructor(text: string) {
    this.#text = text.replace(/^\s*=|=\s*\??\s*$/g, "");
    if (text.length > MAX_LENGTH) throw new Error(`the expression is longer than ${MAX_LENGTH} characters`);
    if (this.#text.trim() === "") throw new Error("the expression is empty");
  }

  sum(): number {
    if (++this.#depth > MAX_DEPTH) throw new Error("the expression is nested too deeply");
    let value = this.#product();
    for (let sign = this.#take("+", "-"); sign; sign = this.#take("+", "-"))
      value = sign === "+" ? value + this.#product() : value - this.#product();
    this.#depth--;
    return value;
  }

  end(): void {
    this.#skip();
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  #product(): number {
    let value = this.#signed();
    for (let sign = this.#take("*", "/", "//", "%"); sign; sign = this.#take("*", "/", "//", "%")) {
      const right = this.#signed();
      if (sign !== "*" && right === 0) throw new Error("division by zero");
      if (sign === "*") value *= right;
      else if (sign === "/") value /= right;
      else value = sign === "//" ? Math.floor(value / right) : value - right * Math.floor(value / right);
    }
    return value;
  }

  #signed(): number {
    if (++this.#depth > MAX_DEPTH) throw new Error("the expression is nested too deeply");
    const sign = this.#take("-", "+");
    const value = sign ? this.#signed() * (sign === "-" ? -1 : 1) : this.#power();
    this.#depth--;
    return value;
  }

  /** To the right first, and before a sign: -2^2 is -4. */
  #power(): number {
    const base = this.#postfix();
    if (!this.#take("^")) return base;
    const value = base ** this.#signed();
    if (Number.isNaN(value)) throw new Error("a negative number has no such power");
    return value;
  }

  #postfix(): number {
    let value = this.#atom();
    for (;;) {
      if (this.#take("!")) value = factorial(value);
      else if (this.#isPercent()) value /= 100;
      else return value;
    }
  }

  /** `50%` at the end or before an operator; between two numbers it is the remainder, and `5 % -3` is one too. */
  #isPercent(): boolean {
    PERCENT.lastIndex = this.#at;
    const isPercent = PERCENT.test(this.#text);
    if (isPercent) this.#match(OPERATOR);
    return isPercent;
  }

  #atom(): number {
    if (this.#take("(")) {
      const value = this.#grouped(() => this.sum());
      this.#close();
      return value;
    }
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#readNumber(number);
    const start = this.#at;
    const name = this.#match(NAME)?.replace(/^math\./i, "");
    if (name === undefined) throw this.#unexpected();
    const key = Object.hasOwn(FUNCTIONS, name) || Object.hasOwn(CONSTANTS, name) ? name : name.toLowerCase();
    if (Object.hasOwn(FUNCTIONS, key)) return this.#apply(key, FUNCTIONS[key] as Operation);
    if (Object.hasOwn(CONSTANTS, key)) return CONSTANTS[key] as number;
    this.#at = start;
    throw new Error(
      `there is no "${name}"; there are ${[...Object.keys(CONSTANTS), ...Object.keys(FUNCTIONS)].join(", ")}`,
    );
  }

  #readNumber(text: string): number {
    // in a list of arguments 1,000 is two of them
    const comma = this.#lists > 0 ? text.indexOf(",") : -1;
    if (comma === -1) return Number(text.replace(/[,_]/g, ""));
    this.#at -= text.length - comma;
    return Number(text.slice(0, comma));
  }

  #apply(name: string, { call, least, most }: Operation): number {
    if (!this.#take("(")) throw new Error(`${name} needs its arguments in parentheses`);
    const values: number[] = [];
    this.#lists++;
    if (!this.#take(")")) {
      do values.push(this.sum());
      while (this.#take(","));
      this.#close();
    }
    this.#lists--;
    if (values.length < least || values.length > most)
      throw new Error(
        `${name} takes ${least === most ? least : `${least} to ${most}`} arguments, not ${values.length}`,
      );
    const value = call(...values);
    if (Number.isNaN(value)) throw new Error(`${name}(${values.join(", ")}) is not defined`);
    return value;
  }

  #grouped<T>(work: () => T): T {
    const lists = this.#lists;
    this.#lists = 0;
    const value = work();
    this.#lists = lists;
    return value;
  }

  #close(): void {
    if (!this.#take(")")) throw this.#at < this.#text.length ? this.#unexpected() : new Error('a ")" is missing');
  }

  #take(...operators: string[]): string | undefined {
    const before = this.#at;
    const found = this.#match(OPERATOR);
    const operator = found === undefined ? undefined : (SAME[found] ?? found);
    if (operator !== undefined && operators.includes(operator)) return operator;
    this.#at = before;
    return undefined;
  }

  #match(pattern: RegExp): string | undefined {
    this.#skip();
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skip(): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #unexpected(): Error {
    const rest = this.#text.slice(this.#at).trim();
    if (rest === "") return new Error("the expression ends too early");
    return new Error(`"${rest.slice(0, 20)}" at position ${this.#at + 1} is not expected here`);
  }
}

function factorial(value: number): number {
  if (!Number.isInteger(value) || value < 0) throw new Error("only a whole number from 0 on has a factorial");
  let result = 1;
  for (let n = 2; n <= value && result < Number.POSITIVE_INFINITY; n++) result *= n;
  return result;
}

function roundTo(value: number, digits: number): number {
  const places = Math.trunc(digits);
  const rounded = Number(`${Math.round(Number(`${value}e${places}`))}e${-places}`);
  return Math.abs(places) > 15 || Number.isNaN(rounded) ? value : rounded;
}

function divisor(a: number, b: number): number {
  return b === 0 ? Math.abs(a) : divisor(b, a % b);
}
