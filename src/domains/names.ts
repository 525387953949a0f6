// Server names as users write them, matched against the names that exist. Names are never rebuilt from snake_case.
import { fold } from "../core/index.ts";

/** `campus_navigator_mcp` finds `CampusNavigatorMCP`; `domain1_mcp` finds `Domain1`. */
export function matchName(written: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  const wanted = fold(written);
  return (
    names.find((name) => name === written) ??
    names.find((name) => fold(name) === wanted) ??
    names.find((name) => withoutSuffix(fold(name)) === withoutSuffix(wanted))
  );
}

/** A combination is a set: the same servers have the same key in any order. */
export function setKey(servers: string[]): string {
  return servers.map(fold).sort().join("+");
}

/** The servers that a file's stem names: `A_B` is A and B, since server names hold no underscore; else `a_b` is AB. */
export function splitStem(stem: string, known: Iterable<string>): string[] {
  const names = [...known];
  const whole = names.find((name) => name === stem);
  if (whole) return [whole];
  const parts = stem.split("_").map((part) => [part, matchName(part, names)] as const);
  const spelled = parts.some(([, match]) => match === undefined) ? matchName(stem, names) : undefined;
  return spelled ? [spelled] : parts.map(([part, match]) => match ?? part);
}

function withoutSuffix(folded: string): string {
  return folded.replace(/(mcp|server)+$/, "");
}

/** The servers meant by a text such as `A_B`, `A+B` or `campus_navigator_mcp`; undefined if one is unknown. */
export function parseNames(written: string, known: Iterable<string>): string[] | undefined {
  const names = [...known];
  const parts = written.split(/[+,\s]+/).filter((part) => part !== "");
  const servers = parts.flatMap((part): (string | undefined)[] => {
    const whole = matchName(part, names);
    return whole ? [whole] : part.split("_").map((name) => matchName(name, names));
  });
  return servers.length > 0 && servers.every((server) => server !== undefined) ? [...new Set(servers)] : undefined;
}
