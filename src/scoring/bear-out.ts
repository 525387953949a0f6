// Whether the calls of a dialogue bear out that something was done.
import { type Json, parseJson } from "../core/index.ts";
import type { Domain } from "../domains/index.ts";
import type { Doubt } from "./check.ts";
import type { EffectClaim } from "./reading/effects.ts";
import { isRead, isSignIn } from "./reference.ts";
import type { RecordedCall } from "./transcript.ts";
import { identifiersIn } from "./values.ts";

/** `calls`: those before the claim. A doubt is for a judge. */
export function bearOut(
  claim: EffectClaim,
  calls: readonly RecordedCall[],
  domain: Domain | undefined,
): boolean | Doubt {
  const wire = (call: RecordedCall) => domain?.toolbox.wireName(call.name) ?? call.name;
  const isSign = (call: RecordedCall) => !domain || isSignIn(wire(call), domain);
  if (claim.by === "sign-in") return calls.some((call) => isSign(call) && !call.isError);
  if (claim.by === "lock") return calls.some((call) => isSign(call) && call.isError);
  if (claim.by === "lookup") return calls.some((call) => !call.isError);
  const effective = calls.filter((call) => !call.isError && !call.isPreview);
  const writes = effective.filter((call) => !domain || (!isRead(wire(call), domain) && !isSign(call)));
  // where a server does not say which tools write, little is known about them: any change bears any claim out
  if (!domain?.toolbox.tools.some(({ readOnly }) => readOnly)) return claim.by !== "own" || writes.length > 0;
  const objects = listObjects(claim.words, domain);
  const bearing = writes.filter((call) => didIt(call, claim, objects));
  if (bearing.length > 0) return namesTheUnknown(claim, calls) ? toDoubt(claim, bearing) : true;
  if (claim.by === "own") return false;
  // a preview that waits is what the agent means, not what a lookup showed
  const waits = calls.some(
    (call) =>
      call.isPreview &&
      contains(call.name, claim.act?.means ?? []) &&
      !effective.some((other) => other.at > call.at && wire(other) === wire(call)),
  );
  if (waits) return false;
  if (claim.by === "state") return !claim.act?.byName;
  return claim.act ? calls.some((call) => !call.isPreview && shows(call, claim)) : objects.length === 0;
}

function didIt({ name, text, result }: RecordedCall, { act, sentence }: EffectClaim, objects: string[]): boolean {
  const own = `${name} ${result}`;
  const isDone = contains(act?.byName ? name : `${own} ${text}`, act?.means ?? []) || tellsOffice(name, text, sentence);
  return isDone && contains(own, objects);
}

/** The values of a result, not its keys. */
function shows({ result }: RecordedCall, { act }: EffectClaim): boolean {
  return contains(textsIn(parseJson(result) ?? result).join(" "), act?.shown ?? []);
}

function namesTheUnknown({ words }: EffectClaim, calls: readonly RecordedCall[]): boolean {
  const known = JSON.stringify(calls).toLowerCase();
  return identifiersIn(words).some((value) => !known.includes(value.toLowerCase()));
}

function toDoubt({ sentence }: EffectClaim, bearing: readonly RecordedCall[]): Doubt {
  const evidence = bearing.map(({ name, text, result }) => `${name} ${text} → ${result}`).join("\n");
  return {
    statement: `The calls bear out what the agent says: "${sentence}"`,
    evidence: evidence.slice(0, MAX_EVIDENCE),
  };
}

const MAX_EVIDENCE = 2000;

/** Handing over to an office tells that office. */
function tellsOffice(name: string, args: string, sentence: string): boolean {
  if (!/transfer|hand_?over|escalat/i.test(name)) return false;
  const offices = textsIn(parseJson(args) ?? "").flatMap((value) =>
    value.length <= 40 ? value.toLowerCase().split(/[_\s]+/) : [],
  );
  const folded = sentence.toLowerCase();
  return offices.some((word) => word.length > 3 && word !== "office" && folded.includes(word));
}

/** Things that the domain's tools act on, as far as the words name them: referral, refund, waitlist. */
function listObjects(claimed: string, domain: Domain): string[] {
  const writes = domain.toolbox.tools.filter(({ readOnly }) => !readOnly);
  const words = writes.flatMap(({ name }) => (domain.toolbox.resolve(name)?.tool ?? name).split("_").slice(1));
  const objects = [...new Set(words)].filter((word) => word.length >= 6 && !COMMON.has(word));
  const folded = claimed.toLowerCase();
  return objects.filter((word) => folded.includes(word));
}

const COMMON = new Set(["course", "contact", "student", "office", "record", "request"]);

/** None of no words is contained in anything. */
function contains(text: string, words: readonly string[]): boolean {
  const folded = text.toLowerCase();
  return words.length === 0 || words.some((word) => folded.includes(word));
}

/** Every text in a value. */
export function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
