// What a server means that speaks of tokens: a dialogue that no longer fits the context, a max_tokens that never could,
// a limit per minute or day, or one request that is larger than such a limit.
import { WORDINGS } from "./overflow-wordings.ts";

/** Servers that are not in the table mostly use words like these. */
const COMMON = [
  "max(imum)? context (length|window|size)( is| of|:)? \\(?\\d",
  "(exceed(s|ed)?|longer than|larger than|greater than|beyond|over) (the |this |your |its )?(model'?s? |available |allowed |supported |max(imum)? )*(context|model|sequence|prompt|input) ?-?(length|window|size|limit)",
  "(context|prompt|input|sequence|token) (length|window|size|limit) (is |was |has been )?exceeded",
  "(input|prompt|request|context|dialogue|conversation|messages?) (is|are) too long",
  "token count .{0,40}exceed|reduce the length of (the|your) (messages|prompt|input)",
  "too many (input |prompt )?tokens|too large for .{0,30}context",
  "上下文.{0,12}(超出|超过|超长|过长)|(超出|超过).{0,12}上下文|输入.{0,12}(超出|超过|超长|过长)",
];
const OVERFLOW = new RegExp([...WORDINGS.map(({ pattern }) => pattern.source), ...COMMON].join("|"), "i");

/** `max_tokens` alone is refused, whatever was said so far. */
const SETTING = new RegExp(
  [
    "at most [\\d,]+ (completion|output) tokens",
    "max_?(new_|completion_|output_)?tokens?\\b.{0,60}(less than or equal|valid range|above maximum value|is higher than)",
    "too many tokens: max tokens must be",
    "^[^+]*`max_new_tokens` must be <=",
  ].join("|"),
  "i",
);

/** A limit on what may be sent in some time. */
const RATE =
  /tokens? per (second|min|hour|day)|requests? per (second|min|hour|day)|\b[TR]P[MD]\b|rate[_ -]?limit|too many (requests|concurrent)|please wait before trying|throttl/i;

const QUOTA = /quota|\b(daily|hourly|weekly|monthly)\b|\bcredits?\b/i;

/** Whether the dialogue is too long for the model. */
export function isOverflow(message: string, code = ""): boolean {
  const said = dropQuotes(message);
  if (isRateLimit(message, code) || QUOTA.test(said) || QUOTA.test(code)) return false;
  return OVERFLOW.test(code) || (OVERFLOW.test(said) && !SETTING.test(said));
}

export function isRateLimit(message: string, code: string): boolean {
  return RATE.test(code) || RATE.test(dropQuotes(message));
}

/** The limit per minute or day, if a single request is larger than that: waiting cannot help. */
export function hopelessRate(message: string): number | undefined {
  const found = /\blimit:? (\d[\d,]*)(?:.{0,60}\brequested:? ~?(\d[\d,]*))?/i.exec(message);
  const [limit, needed] = [toNumber(found?.[1]), toNumber(found?.[2])];
  return needed > limit || (Number.isNaN(needed) && /request too large/i.test(message)) ? limit : undefined;
}

/** `max_tokens`, if the context would not hold it even without a dialogue. */
export function hopelessMaxTokens(message: string): number | undefined {
  const context = /maximum context length (?:is|of) (\d[\d,]*)|must be <= (\d[\d,]*)|> (\d[\d,]*)/i.exec(message);
  const asked = new RegExp(
    [
      "(\\d[\\d,]*) (?:tokens )?(?:in|for) the (?:completion|output)",
      "(?:plus|and) (\\d[\\d,]*) [`']?max_",
      "\\+ (\\d[\\d,]*) >",
      "is too large: (\\d[\\d,]*)",
    ].join("|"),
    "i",
  ).exec(message);
  const [limit, tokens] = [toNumber(...(context?.slice(1) ?? [])), toNumber(...(asked?.slice(1) ?? []))];
  return tokens >= limit ? tokens : undefined;
}

const UNITS: { [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION =
  "(?:\\d+(?:\\.\\d+)?\\s*(?:ms|milli\\w*|s|sec\\w*|m|min\\w*|h|hours?|d|days?)(?![a-z])[,\\s]*(?:and )?)+";
const ASKS_TO_WAIT = new RegExp(
  `(?:try again|retry|available again|resets?|wait)(?: again)?(?: in| after| for|_?(?:delay|after))?[\\s:"]*(?:about |at least )?(${DURATION})`,
  "i",
);

/** Milliseconds that a text asks to wait: "try again in 1h2m3.5s", "retry after 30 seconds", `"retryDelay": "31s"`. */
export function waitInText(text: string): number | undefined {
  const seconds = /retry[-_ ]?after(?:_seconds)?["']?\s*[:=]\s*"?(\d+(?:\.\d+)?)["\s,}]/i.exec(text)?.[1];
  if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  const asked = ASKS_TO_WAIT.exec(text)?.[1];
  if (asked === undefined) return undefined;
  let total = 0;
  for (const [, amount, unit] of asked.matchAll(/(\d+(?:\.\d+)?)\s*(ms|mil|s|m|h|d)/gi))
    total += Number(amount) * (UNITS[unit?.toLowerCase() ?? ""] ?? 1);
  return Math.ceil(total);
}

/** Longer quotes are somebody's words, echoed by the server. */
const QUOTE_LENGTH = 30;
const QUOTED = new RegExp(
  // the value of such a key is a server's error inside another server's
  `(?<!\\b(?:message|error|detail|raw|msg)\\\\?["']?:\\s{0,2}b?)(?<!\\w)(?:${[
    `"(?=\\S)[^"]{${QUOTE_LENGTH},}(?<=\\S)"`,
    `\`(?=\\S)[^\`]{${QUOTE_LENGTH},}(?<=\\S)\``,
    `“[^”]{${QUOTE_LENGTH},}”`,
    `'(?=\\S)(?:[^']|(?<=\\w)'(?=\\w)){${QUOTE_LENGTH},}(?<=\\S)'`,
  ].join("|")})(?!\\w)`,
  "gi",
);

function dropQuotes(message: string): string {
  return message.replace(/\\"/g, '"').replace(QUOTED, " ");
}

function toNumber(...found: (string | undefined)[]): number {
  const digits = found.find((part) => part !== undefined);
  return digits === undefined ? Number.NaN : Number(digits.replaceAll(",", ""));
}
