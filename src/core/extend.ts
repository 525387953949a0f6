/**
 * A copy with more members, for what is done on every call. In V8 before Node 22 `{ ...value, more }` gives each copy a
 * hidden class of its own, which takes microseconds and makes slow whatever reads the copy afterwards.
 */
export function extend<T extends object, M extends object>(value: T, more: M): T & M {
  return Object.assign({}, value, more);
}
