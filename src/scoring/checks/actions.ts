// `actions`: did the agent make the calls of the reference? Writes count by what they did; calls that the reference itself
// only tried (a preview, a refusal by the tool) count as tried; reads count if the reference does nothing else. A call
// that errored counts only if the reference's did too.
import type { Domain } from "../../domains/index.ts";
import { type Check, type CheckContext, failed, notCheckable, passed } from "../check.ts";
import { type MatchRules, wrongArguments } from "../match-arguments.ts";
import { isRead, type Reference, type ReferenceCall } from "../reference.ts";
import { type ActionRules, TOLERANCE } from "../settings.ts";
import type { RecordedCall } from "../transcript.ts";

export function actionsCheck(rules: ActionRules = {}): Check {
  return {
    name: "actions",
    version: 1,
    settings: Object.keys(rules).length > 0 ? rules : undefined,
    run: async (context) => {
      const reference = await context.reference();
      if (typeof reference === "string") return notCheckable(reference);
      return compareCalls(context, reference, context.domain as Domain, rules);
    },
  };
}

type Match = { wanted: ReferenceCall; call: RecordedCall | undefined };

function compareCalls({ dialogue }: CheckContext, reference: Reference, domain: Domain, rules: ActionRules) {
  const matching = matchRules(rules, domain);
  const left = dialogue.calls.map((call) => ({
    call,
    wire: domain.toolbox.resolve(call.name)?.spec.name ?? call.name,
  }));
  const take = (wanted: ReferenceCall): RecordedCall | undefined => {
    const at = left.findIndex(
      ({ call, wire }) =>
        wire === wanted.name &&
        call.arguments !== undefined &&
        counts(call, wanted) &&
        wrongArguments(call.arguments, wanted, matching).length === 0,
    );
    return at === -1 ? undefined : left.splice(at, 1)[0]?.call;
  };
  const wanted = requiredCalls(reference);
  const matches: Match[] = wanted.map((call) => ({ wanted: call, call: take(call) }));
  const missing = matches.filter(({ call }) => call === undefined).map((match) => match.wanted);
  const extra = left.filter(({ call, wire }) => isExtra(call, wire, { rules, domain, reference, wanted }));
  const disordered = rules.order === "reference" && !inOrder(matches);
  const details = {
    source: reference.source,
    missing: missing.map((call) => ({ name: call.name, arguments: call.arguments })),
    extra: extra.map(({ call, wire }) => ({ name: wire, arguments: call.text })),
  };
  const score = wanted.length === 0 ? 1 : 1 - missing.length / wanted.length;
  if (missing.length === 0 && extra.length === 0 && !disordered)
    return passed(`${wanted.length} of ${wanted.length} reference calls made`, details);
  const reasons = [
    ...missing.map((call) => describeMissing(call, left, matching)),
    ...extra.map(({ call, wire }) => `${wire} ${cut(call.text)} is not in the reference`),
    ...(disordered ? ["the calls came in another order"] : []),
  ];
  const troubled = missing.length > 0 && missing.every((call) => metTrouble(call, left, matching));
  return failed(reasons.join("; "), {
    score: extra.length > 0 || disordered ? 0 : score,
    blame: troubled && extra.length === 0 ? "tool" : "agent",
    details,
  });
}

/** The same call as in the reference was made, and the tool itself broke down. */
function metTrouble(wanted: ReferenceCall, left: { call: RecordedCall; wire: string }[], rules: MatchRules): boolean {
  const same = left.filter(
    ({ call, wire }) => wire === wanted.name && wrongArguments(call.arguments ?? {}, wanted, rules).length === 0,
  );
  return same.some(({ call }) => call.isTrouble);
}

/** A try that a later write of the reference repeats is part of that write. */
function requiredCalls({ calls }: Reference): ReferenceCall[] {
  const without = (call: ReferenceCall) => JSON.stringify([call.name, { ...call.arguments, confirm: undefined }]);
  const written = new Set(calls.filter(({ kind }) => kind === "write").map(without));
  const acts = calls.filter((call) => call.kind !== "read" && (call.kind === "write" || !written.has(without(call))));
  return acts.length > 0 ? acts : calls;
}

function counts(call: RecordedCall, { kind }: ReferenceCall): boolean {
  if (kind === "refused" || kind === "preview") return true;
  return !call.isError && (kind !== "write" || !call.isPreview);
}

type Surroundings = { rules: ActionRules; domain: Domain; reference: Reference; wanted: ReferenceCall[] };

/** Extra lookups, attempts and authorisations do no harm; extra effects do. */
function isExtra(call: RecordedCall, wire: string, { rules, domain, reference, wanted }: Surroundings): boolean {
  const allowed = rules.extra ?? "reads";
  if (allowed === "all" || call.isError) return false;
  if (allowed === "none") return !reference.calls.some(({ name }) => name === wire);
  if (call.isPreview || isRead(wire, domain) || reference.source === "trajectory") return false;
  const authorizes = domain.rules.some((rule) => rule.rule === "authorize_first" && rule.tool === wire);
  const isRepeatedRead = wanted.some((call) => call.name === wire && call.kind === "read");
  return !authorizes && !isRepeatedRead;
}

function inOrder(matches: Match[]): boolean {
  const places = matches.flatMap(({ call }) => (call ? [call.at] : []));
  return places.every((place, index) => index === 0 || place >= (places[index - 1] as number));
}

/** Prose, in any wording: `reason`, `summary`, and fields that the domain declares volatile. */
const FREE_TEXT = ["reason", "note", "notes", "summary", "comment", "comments", "message", "description", "details"];
const SEARCHES = ["keyword", "keywords", "query", "search", "search_term"];

function matchRules(rules: ActionRules, domain: Domain): MatchRules {
  const { ignore = [], free_text = [], case_sensitive = false, tolerance = TOLERANCE } = rules;
  const volatile = Object.values(domain.volatile).flat();
  return { ignore, free_text: [...free_text, ...FREE_TEXT, ...SEARCHES, ...volatile], case_sensitive, tolerance };
}

function describeMissing(
  wanted: ReferenceCall,
  left: { call: RecordedCall; wire: string }[],
  rules: MatchRules,
): string {
  const tried = left.filter(({ wire }) => wire === wanted.name).map(({ call }) => call);
  const text = `${wanted.name} ${cut(JSON.stringify(wanted.arguments))}`;
  const nearest = tried.findLast((call) => call.arguments !== undefined);
  if (!nearest?.arguments) return tried.length > 0 ? `${text} was never well-formed` : `${text} was not called`;
  const wrong = wrongArguments(nearest.arguments, wanted, rules);
  if (wrong.length === 0) return nearest.isError ? `${text} ended in an error` : `${text} was only previewed`;
  const differences = wrong.map(
    (name) =>
      `${name} ${cut(JSON.stringify(nearest.arguments?.[name] ?? null))} instead of ${cut(JSON.stringify(wanted.arguments[name] ?? null))}`,
  );
  return `${wanted.name} was called with ${differences.join(", ")}`;
}

function cut(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
