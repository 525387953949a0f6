// `actions`: did the agent's calls do what the reference's do? Writes count by their effect: if both leave the same state
// behind, the way there is the agent's affair, and so are lookups, previews and attempts that a tool refused. Where effects
// cannot be seen, writes are compared by name and arguments. `order: strict` asks for the reference's own path.
import { cutText } from "../../core/index.ts";
import type { Domain } from "../../domains/index.ts";
import { type Check, type CheckContext, type CheckResult, failed, notCheckable, passed } from "../check.ts";
import { type MatchRules, matchRules, wrongArguments } from "../match-arguments.ts";
import { isRead, isSignIn, type Reference, type ReferenceCall } from "../reference.ts";
import type { ActionRules } from "../settings.ts";
import { compareStates } from "../state-diff.ts";
import type { RecordedCall } from "../transcript.ts";
import { listMustTell } from "./communicate.ts";

export function actionsCheck(rules: ActionRules = {}): Check {
  const isStrict = rules.order === "strict" || rules.order === "reference";
  return {
    name: "actions",
    version: 3,
    settings: Object.keys(rules).length > 0 ? rules : undefined,
    run: async (context) => {
      const found = await context.reference();
      if (typeof found === "string") return notCheckable(found);
      const result = await compare(context, found, { rules, isStrict });
      const isOpen =
        !isStrict && hasAnswer(context) && requiredCalls(context, found, context.domain as Domain).length === 0;
      return result.pass && isOpen
        ? notCheckable("the reference only looks things up, and the answer decides")
        : result;
    },
  };
}

async function compare(
  context: CheckContext,
  found: Reference,
  { rules, isStrict }: Omit<Comparison, "wanted">,
): Promise<CheckResult> {
  const domain = context.domain as Domain;
  const { reference, doubt } = await heldAgainstRecord(found, context);
  if (doubt !== undefined) {
    const wanted = isStrict ? path(reference) : requiredCalls(context, reference, domain);
    const result = compareCalls(context, reference, domain, { rules, wanted, isStrict });
    return { ...result, reason: `${result.reason} (by name and arguments only: ${doubt})` };
  }
  if (isStrict) return compareCalls(context, reference, domain, { rules, wanted: path(reference), isStrict });
  const wanted = requiredCalls(context, reference, domain);
  // whoever sets a rule for arguments or extra lookups wants it applied
  const isLenient = !rules.case_sensitive && rules.extra !== "none";
  if (!isLenient || !(await hasSameEffects(context, reference, domain)))
    return compareCalls(context, reference, domain, { rules, wanted, isStrict });
  const unseen = wanted.filter(({ kind, changes }) => kind !== "write" || !changes);
  if (unseen.length === 0) return passed("its effects are the reference's", { source: reference.source });
  const lenient: ActionRules = { ...rules, extra: "all" };
  return compareCalls(context, reference, domain, { rules: lenient, wanted: unseen, isStrict });
}

/** What a server answers now is no reference for a record that it answered otherwise: then the plan alone is. */
async function heldAgainstRecord(
  found: Reference,
  { replay }: CheckContext,
): Promise<{ reference: Reference; doubt?: string }> {
  const played = found.planned && (await replay());
  if (typeof played !== "string" || !found.planned) return { reference: found };
  return { reference: { ...found, calls: found.planned, state: undefined }, doubt: played };
}

async function hasSameEffects({ replay }: CheckContext, reference: Reference, domain: Domain): Promise<boolean> {
  if (!reference.state) return false;
  const played = await replay();
  return typeof played !== "string" && compareStates(played.state, reference.state, domain.volatile).length === 0;
}

/** Many searches lead to an answer: the reference's are not the only ones. */
function hasAnswer({ query }: CheckContext): boolean {
  return (query.taskInfo.answer ?? query.taskInfo.answers ?? "") !== "";
}

/**
 * The reference's writes. If it only looks things up, and the query says neither what must be told nor the answer, its
 * lookups are all that can be asked for.
 */
function requiredCalls(context: CheckContext, { calls }: Reference, domain: Domain): ReferenceCall[] {
  const isLookup = (call: ReferenceCall) =>
    call.kind === "read" || (call.kind === "unplayed" && isRead(call.name, domain));
  const acts = calls.filter((call) => !isLookup(call) && !isSignIn(call.name, domain));
  const writes = acts.filter(({ kind }) => kind === "write" || kind === "unplayed");
  if (writes.length > 0 || acts.length > 0 || hasAnswer(context) || listMustTell(context.query)) return writes;
  return calls.filter(isLookup);
}

/** Every call that acts, also those that were only tried; a try that a later write repeats is part of that write. */
function path({ calls }: Reference): ReferenceCall[] {
  const without = (call: ReferenceCall) => JSON.stringify([call.name, { ...call.arguments, confirm: undefined }]);
  const written = new Set(calls.filter(({ kind }) => kind === "write").map(without));
  const acts = calls.filter((call) => call.kind !== "read" && (call.kind === "write" || !written.has(without(call))));
  return acts.length > 0 ? acts : calls;
}

type Left = { call: RecordedCall; wire: string };
type Comparison = { rules: ActionRules; wanted: ReferenceCall[]; isStrict: boolean };
type Match = { wanted: ReferenceCall; call: RecordedCall | undefined };

function compareCalls(
  { dialogue }: CheckContext,
  reference: Reference,
  domain: Domain,
  { rules, wanted, isStrict }: Comparison,
): CheckResult {
  const matching = matchRules(rules, domain);
  const left = dialogue.calls.map((call) => ({
    call,
    wire: domain.toolbox.wireName(call.name),
  }));
  const find = (wanted: ReferenceCall, counts: (call: RecordedCall, wanted: ReferenceCall) => boolean) =>
    left.findIndex(
      ({ call, wire }) =>
        wire === wanted.name &&
        call.arguments !== undefined &&
        counts(call, wanted) &&
        wrongArguments(call.arguments, wanted, matching).length === 0,
    );
  const take = (wanted: ReferenceCall): RecordedCall | undefined => {
    const done = find(wanted, counts);
    const at = done === -1 && wanted.whole ? find(wanted, wasRefused) : done;
    return at === -1 ? undefined : left.splice(at, 1)[0]?.call;
  };
  const matches: Match[] = wanted.map((call) => ({ wanted: call, call: take(call) }));
  const missing = matches.filter(({ call }) => call === undefined).map((match) => match.wanted);
  const extra = left.filter(({ call, wire }) => isExtra(call, wire, { rules, domain, reference, wanted }));
  const disordered = isStrict && !inOrder(matches);
  const details = {
    source: reference.source,
    missing: missing.map((call) => ({ name: call.name, arguments: call.arguments, ...nearestTo(call, left) })),
    extra: extra.map(({ call, wire }) => ({ name: wire, arguments: call.text, at: call.at })),
  };
  const score = wanted.length === 0 ? 1 : 1 - missing.length / wanted.length;
  if (missing.length === 0 && extra.length === 0 && !disordered)
    return passed(`${wanted.length} of ${wanted.length} reference calls made`, details);
  const reasons = [
    ...missing.map((call) => describeMissing(call, left, matching)),
    ...extra.map(({ call, wire }) => `${wire} ${show(call.text)} is not in the reference`),
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
function metTrouble(wanted: ReferenceCall, left: Left[], rules: MatchRules): boolean {
  const same = left.filter(
    ({ call, wire }) => wire === wanted.name && wrongArguments(call.arguments ?? {}, wanted, rules).length === 0,
  );
  return same.some(({ call }) => call.isTrouble);
}

function counts(call: RecordedCall, { kind }: ReferenceCall): boolean {
  if (kind === "refused" || kind === "preview") return true;
  return !call.isError && !call.isPreview;
}

/** Nobody knows whether the server would have refused the plan's own call: one that it refused is as planned. */
function wasRefused(call: RecordedCall): boolean {
  return call.isError && !call.isTrouble;
}

type Surroundings = { rules: ActionRules; domain: Domain; reference: Reference; wanted: ReferenceCall[] };

/** Extra lookups, attempts and sign-ins do no harm; extra effects do. */
function isExtra(call: RecordedCall, wire: string, { rules, domain, reference, wanted }: Surroundings): boolean {
  const allowed = rules.extra ?? "reads";
  if (allowed === "all" || call.isError) return false;
  if (allowed === "none") return !reference.calls.some(({ name }) => name === wire);
  if (call.isPreview || isRead(wire, domain) || reference.source === "trajectory") return false;
  const isRepeatedRead = wanted.some((call) => call.name === wire && call.kind === "read");
  return !isSignIn(wire, domain) && !isRepeatedRead;
}

function inOrder(matches: Match[]): boolean {
  const places = matches.flatMap(({ call }) => (call ? [call.at] : []));
  return places.every((place, index) => index === 0 || place >= (places[index - 1] as number));
}

/** Where the agent came closest to it. */
function nearestTo({ name }: ReferenceCall, left: Left[]): { at?: number } {
  const tried = left.findLast(({ wire, call }) => wire === name && call.arguments !== undefined);
  return tried ? { at: tried.call.at } : {};
}

function describeMissing(wanted: ReferenceCall, left: Left[], rules: MatchRules): string {
  const tried = left.filter(({ wire }) => wire === wanted.name).map(({ call }) => call);
  const text = `${wanted.name} ${show(JSON.stringify(wanted.arguments))}`;
  const nearest = tried.findLast((call) => call.arguments !== undefined);
  if (!nearest?.arguments) return tried.length > 0 ? `${text} was never well-formed` : `${text} was not called`;
  const wrong = wrongArguments(nearest.arguments, wanted, rules);
  if (wrong.length === 0) return nearest.isError ? `${text} ended in an error` : `${text} was only previewed`;
  const differences = wrong.map(
    (name) =>
      `${name} ${show(JSON.stringify(nearest.arguments?.[name] ?? null))} instead of ${show(JSON.stringify(wanted.arguments[name] ?? null))}`,
  );
  return `${wanted.name} was called with ${differences.join(", ")}`;
}

/** Of a call's text, as much as a reason needs. */
function show(text: string): string {
  return cutText(text, MAX_SHOWN);
}

const MAX_SHOWN = 120;
