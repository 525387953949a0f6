// Operators and tests where Python's rules differ from the engine's.
import type { Value } from "./engine.ts";
import {
  equal,
  isList,
  isMap,
  isNumber,
  isText,
  isUndefined,
  iterate,
  str,
  typeOf,
  wrap,
  wrapText,
} from "./python-values.ts";

export const TESTS: { [name: string]: (operand: Value) => boolean } = {
  iterable: (operand) => isText(operand) || isList(operand) || isMap(operand) || isUndefined(operand),
  number: isNumber,
  float: (operand) => typeOf(operand) === "float",
};

/** The result, or undefined where the engine does as Python does. */
export function combine(operator: string, left: Value, right: Value): Value | undefined {
  switch (operator) {
    case "==":
      return wrap(equal(left, right));
    case "!=":
      return wrap(!equal(left, right));
    case "~":
      return wrapText(str(left) + str(right));
    case "in":
      return wrap(contains(right, left));
    case "not in":
      return wrap(!contains(right, left));
    case "+":
      if (isText(left) === isText(right)) return undefined;
      throw new Error(`unsupported operand type(s) for +: '${typeOf(left)}' and '${typeOf(right)}'`);
    case "*":
      if (!isText(left) || typeOf(right) !== "int") return undefined;
      return wrapText(left.value.repeat(Math.max(0, Number(right.value))));
    case "%": {
      if (typeOf(left) !== "int" || typeOf(right) !== "int") return undefined;
      const [a, b] = [Number(left.value), Number(right.value)];
      return wrap(((a % b) + b) % b);
    }
  }
  return undefined;
}

function contains(container: Value, item: Value): boolean {
  if (isText(container)) return isText(item) && container.value.includes(item.value);
  return iterate(container).some((other) => equal(other, item));
}
