// Small helpers of the interpreter: nodes made from others, loop variables, methods, words for errors.
import type { Node, Scope, Value } from "./engine.ts";
import { type Arguments, LIST_METHODS, MAP_METHODS, TEXT_METHODS } from "./python-builtins.ts";
import { isList, isMap, isText, iterate, wrap } from "./python-values.ts";

/** The node with other parts; the engine asks for its class. */
export function like(node: Node, parts: { [part: string]: unknown }): Node {
  return Object.assign(Object.create(Object.getPrototypeOf(node)), node, parts);
}

/** A node whose value is known already. */
export function hold(value: Value): Node {
  return { type: "Held", value } as Node;
}

/** The engine prints bodies of macros and blocks itself; as one program in them, they come back to us. */
export function withPrintedBody(node: Node): Node {
  const { body } = node;
  return body?.length > 0 ? like(node, { body: [like(node, { type: "Program", body })] }) : node;
}

export function bind(target: Node, item: Value, scope: Scope): Scope {
  if (target.type === "Identifier") scope.setVariable(String(target.value), item);
  else {
    const names = target.value as Node[];
    const values = iterate(item);
    if (values.length !== names.length)
      throw new Error(`cannot unpack ${values.length} values into ${names.length} names`);
    for (const [index, name] of names.entries()) bind(name, values[index]!, scope);
  }
  return scope;
}

export function loopVariable(items: Value[], index: number): Value {
  const { length } = items;
  const loop = wrap({
    index: index + 1,
    index0: index,
    revindex: length - index,
    revindex0: length - index - 1,
    first: index === 0,
    last: index === length - 1,
    length,
  }) as Value & { value: Map<string, Value> };
  if (index > 0) loop.value.set("previtem", items[index - 1]!);
  if (index < length - 1) loop.value.set("nextitem", items[index + 1]!);
  return loop;
}

const FUNCTION = wrap(() => null).constructor as new (run: (args: Value[]) => Value) => Value;

/** A method that Python's values of this type have; a key of the same name does not hide it. */
export function methodOf(object: Value, name: unknown): Value | undefined {
  if (isText(object)) return pick(TEXT_METHODS, object.value, name);
  if (isList(object)) return pick(LIST_METHODS, object.value, name);
  return isMap(object) ? pick(MAP_METHODS, object.value, name) : undefined;
}

function pick<Operand>(
  methods: { [name: string]: (operand: Operand, given: Arguments) => Value },
  operand: Operand,
  name: unknown,
): Value | undefined {
  const found = Object.hasOwn(methods, String(name)) ? methods[String(name)] : undefined;
  return found && method((given) => found(operand, given));
}

function method(run: (given: Arguments) => Value): Value {
  return new FUNCTION((args) => {
    const last = args.at(-1);
    const named = last?.type === "KeywordArgumentsValue" ? (last.value as Map<string, Value>) : undefined;
    return run({ positional: named ? args.slice(0, -1) : args, named: named ?? new Map() });
  });
}

/** `message.tool_calls` for an error's words. */
export function describe(node: Node): string {
  if (node.type === "MemberExpression" && !node.computed)
    return `${describe(node.object)}.${String(node.property.value)}`;
  return node.type === "Identifier" ? String(node.value) : "a value";
}
