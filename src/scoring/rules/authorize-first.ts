// `authorize_first`: the sign-in succeeds before any other tool of its server is called.
import type { Finding, RuleOf, Scene } from "./rule.ts";

export function examineAuthorizeFirst(rule: RuleOf<"authorize_first">, { calls, domain }: Scene): Finding {
  const server = domain.toolbox.resolve(rule.tool)?.server;
  const authorized = calls.findIndex(({ wire, call }) => wire === rule.tool && !call.isError);
  const bound = calls
    .map((named, index) => ({ ...named, index }))
    .filter(({ wire, server: own }) => own === server && wire !== rule.tool && !rule.except?.includes(wire));
  const early = bound
    .filter(({ index }) => authorized === -1 || index < authorized)
    .map(({ wire, call }) => ({ text: `${wire} was called before ${rule.tool}`, at: call.at }));
  return { broken: early };
}
