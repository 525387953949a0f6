// `forbidden`: these tools are never called.
import type { Finding, RuleOf, Scene } from "./rule.ts";

export function examineForbidden({ tools }: RuleOf<"forbidden">, { calls }: Scene): Finding {
  return { broken: calls.filter(({ wire }) => tools.includes(wire)).map(({ wire }) => `${wire} was called`) };
}
