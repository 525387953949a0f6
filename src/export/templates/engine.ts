// The parts of the template engine that we build on, with types: its own do not resolve under Node's module rules.
import { Environment, Interpreter, parse, tokenize } from "@huggingface/jinja";

export type Value = {
  type: string;
  value: unknown;
  toString(): string;
};

export type Scope = {
  variables: Map<string, Value>;
  /** declares a variable and gives its value in the engine's form */
  set(name: string, value: unknown): Value;
  setVariable(name: string, value: Value): Value;
  /** undefined variables too have a value */
  lookupVariable(name: string): Value;
};

/** A statement or expression; which of the parts it has depends on its type. */
export type Node = {
  type: string;
  value: unknown;
  body: Node[];
  alternate: Node[];
  defaultBlock: Node[];
  args: Node[];
  test: Node;
  loopvar: Node;
  iterable: Node;
  lhs: Node;
  left: Node;
  right: Node;
  operand: Node;
  argument: Node;
  filter: Node;
  callee: Node;
  object: Node;
  property: Node;
  name: Node;
  key: Node;
  operator: { value: string };
  negate: boolean;
  computed: boolean;
};

type Evaluator = { run(program: Node): Value; evaluate(node: Node | undefined, scope: Scope): Value };

export const EngineScope = Environment as unknown as new (parent?: Scope) => Scope;
export const Engine = Interpreter as unknown as new (scope: Scope) => Evaluator;

/** Line ends are those of Python's Jinja, and blocks lose the whitespace around them as transformers has it. */
export function parseTemplate(source: string): Node {
  const lines = source.replace(/\r\n?/g, "\n").replace(/\{[{%][\s\S]*?[%}]\}/g, readEscapes);
  return parse(tokenize(lines, { lstrip_blocks: true, trim_blocks: true })) as unknown as Node;
}

/** The engine knows few escapes in strings: others become what they stand for, or a backslash as in Python. */
function readEscapes(tag: string): string {
  return tag.replace(/\\(u[\da-fA-F]{4}|x[\da-fA-F]{2}|[\s\S])/g, (all, what: string) => {
    if (what.length === 1) return "ntrbfv'\"\\".includes(what) ? all : `\\${all}`;
    const character = String.fromCharCode(Number.parseInt(what.slice(1), 16));
    return "'\"\\".includes(character) ? `\\${character}` : character;
  });
}
