// Chat templates as transformers renders them: the engine with Python's rules for loops, printing, operators and methods.
import { Engine, EngineScope, type Node, parseTemplate, type Scope, type Value } from "./engine.ts";
import { type Arguments, FILTERS } from "./python-builtins.ts";
import { GLOBALS } from "./python-globals.ts";
import { bind, describe, hold, like, loopVariable, methodOf, withPrintedBody } from "./python-nodes.ts";
import { combine, TESTS } from "./python-operators.ts";
import {
  isList,
  isMap,
  isText,
  isTrue,
  isUndefined,
  iterate,
  str,
  typeOf,
  wrap,
  wrapList,
  wrapText,
} from "./python-values.ts";

/** Marks around all that a loop over the messages writes for one of them, by the message's index. */
export type Boundaries = (message: number) => { open: string; close: string };

/** A function that renders, or a SyntaxError if the engine cannot read the template. */
export function compile(source: string): (variables: { [name: string]: unknown }, boundaries?: Boundaries) => string {
  const program = parseTemplate(source);
  return (variables, boundaries) => {
    const environment = new EngineScope();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    const messages = environment.lookupVariable("messages");
    const indexes = new Map(isList(messages) ? messages.value.map((message, index) => [message, index]) : []);
    return str(new PythonInterpreter(environment, indexes, boundaries).run(program));
  };
}

class LoopControl extends Error {}
const BREAK = new LoopControl("break outside of a loop");
const CONTINUE = new LoopControl("continue outside of a loop");

const SILENT = new Set(["Set", "Macro", "Comment"]);

class PythonInterpreter extends Engine {
  readonly #messages: Map<Value, number>;
  readonly #boundaries: Boundaries | undefined;

  constructor(environment: Scope, messages: Map<Value, number>, boundaries: Boundaries | undefined) {
    super(environment);
    this.#messages = messages;
    this.#boundaries = boundaries;
  }

  override evaluate(node: Node | undefined, scope: Scope): Value {
    switch (node?.type) {
      case "Held":
        return node.value as Value;
      case "Program":
      case "If":
      case "For": {
        const out: string[] = [];
        this.#write(node.type === "Program" ? node.body : [node], scope, out);
        return wrapText(out.join(""));
      }
      case "Break":
        throw BREAK;
      case "Continue":
        throw CONTINUE;
      case "Macro":
        return this.#define(node, scope);
      case "Set":
      case "CallStatement":
      case "FilterStatement":
        return super.evaluate(withPrintedBody(node), scope);
      case "UnaryExpression":
        if (node.operator.value !== "not") break;
        return wrap(!isTrue(this.evaluate(node.argument, scope)));
      case "BinaryExpression":
        return this.#combine(node, scope);
      case "FilterExpression":
        return this.#filter(this.evaluate(node.operand, scope), node, scope);
      case "TestExpression": {
        const operand = this.evaluate(node.operand, scope);
        const test = TESTS[String(node.test.value)];
        if (!test) return super.evaluate(like(node, { operand: hold(operand) }), scope);
        return wrap(test(operand) !== node.negate);
      }
      case "MemberExpression":
        return this.#member(node, scope);
      case "CallExpression": {
        const callee = this.evaluate(node.callee, scope);
        if (isUndefined(callee)) throw new Error(this.#noFunction(node.callee, scope));
        return super.evaluate(like(node, { callee: hold(callee) }), scope);
      }
      case "ObjectLiteral": {
        const members = node.value as Map<Node, Node>;
        return Object.assign(wrap({}), {
          value: new Map(
            [...members].map(([key, member]) => [
              this.evaluate(key, scope).value as string,
              this.evaluate(member, scope),
            ]),
          ),
        });
      }
    }
    return super.evaluate(node, scope);
  }

  /** Appends as it goes, so that what was written before a `break` stays. */
  #write(statements: Node[], scope: Scope, out: string[]): void {
    for (const node of statements) {
      if (node.type === "If")
        this.#write(isTrue(this.evaluate(node.test, scope)) ? node.body : node.alternate, scope, out);
      else if (node.type === "For") this.#loop(node, scope, out);
      else {
        const value = this.evaluate(node, scope);
        if (!SILENT.has(node.type)) out.push(str(value));
      }
    }
  }

  #loop(node: Node, scope: Scope, out: string[]): void {
    const { type, lhs, test } = node.iterable;
    const isSelection = type === "SelectExpression";
    const rounds = iterate(this.evaluate(isSelection ? lhs : node.iterable, scope))
      .map((item) => ({ item, inner: bind(node.loopvar, item, new EngineScope(scope)) }))
      .filter(({ inner }) => !isSelection || isTrue(this.evaluate(test, inner)));
    const items = rounds.map(({ item }) => item);
    if (rounds.length === 0) this.#write(node.defaultBlock, scope, out);
    for (const [index, { item, inner }] of rounds.entries()) {
      inner.setVariable("loop", loopVariable(items, index));
      const message = this.#boundaries && this.#messages.get(item);
      const written: string[] = message === undefined ? out : [];
      let left: unknown;
      try {
        this.#write(node.body, inner, written);
      } catch (error) {
        if (!(error instanceof LoopControl)) throw error;
        left = error;
      }
      if (message !== undefined && written.some((text) => text !== "")) {
        const { open, close } = this.#boundaries!(message);
        out.push(open, ...written, close);
      }
      if (left === BREAK) break;
    }
  }

  /** A macro sees the variables of where it stands, not of where it is called. */
  #define(node: Node, scope: Scope): Value {
    const nothing = super.evaluate(withPrintedBody(node), scope);
    const macro = scope.lookupVariable(String(node.name.value)) as Value & {
      value: (args: Value[], scope: Scope) => Value;
    };
    const { value: run } = macro;
    macro.value = (args: Value[], caller: Scope) => {
      const inner = new EngineScope(scope);
      if (caller.variables.has("caller")) inner.setVariable("caller", caller.lookupVariable("caller"));
      return run(args, inner);
    };
    return nothing;
  }

  #combine(node: Node, scope: Scope): Value {
    const operator = node.operator.value;
    const left = this.evaluate(node.left, scope);
    if (operator === "and" || operator === "or")
      return isTrue(left) === (operator === "and") ? this.evaluate(node.right, scope) : left;
    const right = this.evaluate(node.right, scope);
    for (const side of [left, right])
      if (operator === "+" && isUndefined(side))
        throw new Error(`${describe(side === left ? node.left : node.right)} is undefined`);
    const value = combine(operator, left, right);
    if (value) return value;
    return super.evaluate(like(node, { left: hold(left), right: hold(right) }), scope);
  }

  #filter(operand: Value, node: Node, scope: Scope): Value {
    const isCall = node.filter.type === "CallExpression";
    const name = String((isCall ? node.filter.callee : node.filter).value);
    const own = FILTERS[name];
    if (own)
      return own(operand, isCall ? this.#arguments(node.filter.args, scope) : { positional: [], named: new Map() });
    if (name === "map" && isCall) {
      const [mapped] = this.#arguments(node.filter.args, scope).positional;
      if (isText(mapped)) {
        const filter = like(node, { type: "Identifier", value: mapped.value });
        return wrapList(iterate(operand).map((item) => this.#filter(item, like(node, { filter }), scope)));
      }
    }
    const isSelection = /^(map|select|reject)/.test(name);
    const given = isUndefined(operand) || (isSelection && !isTrue(operand)) ? wrap([]) : operand;
    return super.evaluate(like(node, { operand: hold(given) }), scope);
  }

  #member(node: Node, scope: Scope): Value {
    const object = this.evaluate(node.object, scope);
    if (isUndefined(object)) throw new Error(`${describe(node.object)} is undefined`);
    if (node.computed && node.property.type !== "SliceExpression") {
      const key = this.evaluate(node.property, scope);
      if (isMap(object)) return object.value.get(key.value as string) ?? methodOf(object, key.value) ?? wrap(undefined);
      if (isText(object)) return wrap(object.value.at(Number(key.value)));
      return super.evaluate(like(node, { object: hold(object), property: hold(key) }), scope);
    }
    if (!node.computed) {
      const found = methodOf(object, node.property.value);
      if (found) return found;
      if (isMap(object)) return object.value.get(node.property.value as string) ?? wrap(undefined);
    }
    return super.evaluate(like(node, { object: hold(object) }), scope);
  }

  #arguments(given: Node[], scope: Scope): Arguments {
    const isNamed = ({ type }: Node) => type === "KeywordArgumentExpression";
    return {
      positional: given.filter((node) => !isNamed(node)).map((node) => this.evaluate(node, scope)),
      named: new Map(
        given.filter(isNamed).map((node) => [String(node.key.value), this.evaluate(node.value as Node, scope)]),
      ),
    };
  }

  #noFunction(callee: Node, scope: Scope): string {
    if (callee.type !== "MemberExpression" || callee.computed) return `${describe(callee)} is undefined`;
    const type = typeOf(this.evaluate(callee.object, scope));
    return `${describe(callee.object)} is a ${type} and has no ${String(callee.property.value)}()`;
  }
}
