// `forbidden`: these tools are never called.
import type { Finding, RuleOf, Scene } from "./rule.ts";

export function examineForbidden({ tools }: RuleOf<"forbidden">, { calls }: Scene): Finding {
  const called = calls.filter(({ wire }) => tools.includes(wire));
  return { broken: called.map(({ wire, call }) => ({ text: `${wire} was called`, at: call.at })) };
}
