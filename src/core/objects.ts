/** The members that have a value: for spreading over another object without erasing its members. */
export function dropUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
