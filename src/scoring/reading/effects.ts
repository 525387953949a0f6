// Statements that something was done: "I've booked you in", "your address has been updated", "you are now registered".
import { ACTS, type Act } from "./acts.ts";
import { isQuestion, sentencesOf } from "./sentences.ts";

export type EffectClaim = {
  sentence: string;
  /** the words that say so, and what they say it of */
  words: string;
  /** undefined if any change bears it out */
  act?: Act;
  /**
   * "own": the agent says that it did it, just now; "fact": that it has been done, which a lookup may show too;
   * "state": that it is so, which may be a rule or a lookup's result; "sign-in": that the user is signed in; "lock": that
   * signing in was tried and is locked; "lookup": that the user's data was looked at
   */
  by: "own" | "fact" | "state" | "sign-in" | "lock" | "lookup";
};

const ADVERBS =
  "(?:(?:just|now|already|also|successfully|officially|happily|then|immediately|therefore|gone ahead and|went ahead and|and|as (?:you )?(?:asked|requested|agreed|discussed),?|all)\\s+)*";

const PATTERNS = ACTS.map((act) => {
  const { past, base } = act;
  const pattern = (text: string) => new RegExp(text, "iu");
  return {
    act,
    own: [
      pattern(`\\b(?:i|we)(?:'ve| have)\\b[^.!?;]{1,80}\\band\\s+${ADVERBS}(?:${past})\\b`),
      pattern(`\\b(?:i|we)(?:'ve| have)?,?\\s+${ADVERBS}(?:${past})\\b(?!\\s+(?:out|up with))`),
      pattern(
        `\\b(?:i|we)(?:'ve| have)?\\s+(?:just |now |already )?(?:been able to|managed to|was able to|were able to)\\s+(?:${base})\\b`,
      ),
      pattern(`^(?:successfully|just|now|ok(?:ay)?,?|great,?|done[,:!]?)\\s+${ADVERBS}(?:${past})\\b`),
      pattern(`^(?:${past})\\s+(?:you|your|the|it|that|this)\\b`),
      pattern(
        `\\b(?:is|are|'s|'re|was|were)\\s+(?:now|just|all|officially|successfully)\\s+(?:\\w+ly\\s+)?(?:${past})\\b`,
      ),
      pattern(`\\b(?:has|have|'s|'ve)\\s+(?:now|just|successfully)\\s+been\\s+(?:\\w+ly\\s+)?(?:${past})\\b`),
      pattern(`\\b(?:has|have|'ve|'s)\\s+been\\s+(?:successfully|just)\\s+(?:${past})\\b`),
    ],
    fact: [pattern(`\\b(?:has|have|'s|'ve)\\s+(?:already\\s+|also\\s+|all\\s+)?been\\s+(?:\\w+ly\\s+)?(?:${past})\\b`)],
    state: [
      pattern(`^(?:[-*•✅☑✔]\\uFE0F?\\s*)*(?:${past})\\s*[:—–]`),
      pattern(`\\b(?:you|it|everything)(?:'re| are|'s| is)\\s+(?:${past})\\b`),
      pattern(`\\b(?:your|the)\\s+(?:[\\p{L}\\d.'-]+\\s+){1,5}?(?:is|are)\\s+(?:already\\s+)?(?:${past})\\b`),
      pattern(`\\|\\s*(?:✅\\s*)?(?:${past})(?=\\s*[;,.|]|\\s*$)`),
    ],
  };
});

/** Said instead of a verb: any change bears it out. */
const DONE = new RegExp(
  [
    "^(?:all )?done\\b(?!\\s+(?:with|by|at)\\b)",
    "^success(?:!|:|,)",
    "\\bconsider it done\\b",
    "\\b(?:it|that|this|everything)(?:'s| is)\\s+(?:all\\s+|now\\s+|already\\s+)*(?:done|booked|confirmed|taken care of|sorted|in place|finali[sz]ed|gone through)\\b(?!\\s+(?:in|by|through|with|at|via|online|on)\\b)",
    "\\b(?:has|have|'s)\\s+(?:now\\s+)?gone through\\b",
    "\\b(?:booking|payment|registration|appointment|request|cancellation|refund|order|change|application|reservation|enrollment)\\s+(?:is|was|went)\\s+(?:now\\s+)?(?:confirmed|completed?|successful|through|done|in place|finali[sz]ed)\\b",
    "\\byou(?:'re| are)\\s+(?:now\\s+|officially\\s+|all\\s+)+(?:in|confirmed|booked|registered|enrolled)\\b",
    "已(?:经)?(?:成功)?(?:为您|帮您|给您)?(?:成功)?(?:预订|预约|约好|订好|取消|注册|选上|支付|付款|提交|办理|修改|更新|退款|转账|安排|报名|登记|申请)",
    "(?:办理|预约|注册|支付|提交|取消|修改)(?:已经)?(?:成功|完成|好了)",
    "\\b(?:ya (?:está|he|quedó)|he)\\s+(?:\\w+\\s+)?(?:hech|reservad|registrad|cancelad|pagad|enviad|inscrit|cambiad|actualizad|programad|solicitad)\\w*",
  ].join("|"),
  "iu",
);

const SIGNED_IN =
  /\byou(?:'re| are|'ve been| have been)\s+(?:now\s+|all\s+|successfully\s+)*(?:verified|authori[sz]ed|authenticated|signed in|logged in)\b|\b(?:i|we)(?:'ve| have)?\s+(?:now |just |successfully )*(?:verified|authenticated) (?:you|your identity)\b|\byour identity (?:is|has been) (?:now )?(?:verified|confirmed)\b/iu;
const LOCKED =
  /\b(?:sign-?in|verification|login|account|access)\s+(?:is|has been|was|got)\s+(?:now\s+|therefore\s+)?(?:locked|blocked)\b/iu;

const DATA =
  "(?:account|records?|file|schedule|profile|history|chart|system|database|calendar|appointments?|enrollments?|balance|charges|awards?|holds?)";
const LOOKED_UP = new RegExp(
  `\\b(?:i|we)(?:'ve| have)?\\s+(?:just |now |already )?(?:checked|looked (?:up|at|into)|pulled up|found|reviewed|accessed|opened|searched)\\b[^.!?]{0,40}\\b(?:your|the|our) (?:\\w+ )?${DATA}\\b|\\baccording to (?:your|our|the) (?:\\w+ )?${DATA}\\b|\\b(?:i (?:can )?see|i'm seeing) (?:in|on|from) (?:your|our|the) (?:\\w+ )?${DATA}\\b|\\byour (?:account|records?|file|schedule|profile|chart) (?:shows|says|lists)\\b`,
  "iu",
);

export function findEffectClaims(text: string): EffectClaim[] {
  return sentencesOf(text).flatMap((sentence) => {
    const stated = statementOf(sentence);
    const claims = PATTERNS.flatMap(({ act, ...patterns }): EffectClaim[] => {
      for (const by of ["own", "fact", "state"] as const) {
        const words = match(stated, patterns[by]);
        if (words) return [{ sentence, words, act, by }];
      }
      return [];
    });
    for (const [pattern, by] of WITHOUT_ACT) {
      const words = match(stated, [pattern]);
      if (words) claims.push({ sentence, words, by });
    }
    return claims.filter(({ words }) => !UNREAL.test(words));
  });
}

const WITHOUT_ACT: [RegExp, EffectClaim["by"]][] = [
  [SIGNED_IN, "sign-in"],
  [LOCKED, "lock"],
  [LOOKED_UP, "lookup"],
  [DONE, "own"],
  [
    /\b(?:your|the) [^.!?,;]{2,50}? (?:is|are) (?:already|now) (?:in|filed|placed|lined up|in place|with (?:the|your))\b/iu,
    "fact",
  ],
  [/\b(?:is|are|'s)\s+(?:now\s+|already\s+)?(?:on (?:its|the|their) way|underway|in (?:the )?process)\b/iu, "state"],
];

/** A preview or a summary changes nothing. */
const UNREAL =
  /\b(?:preview|summary|draft|search|calculation|wording|numbers? above|filter|option|typo|my notes|list below|been told by)\b/iu;

/** What a sentence states before it asks: "I've booked you in, anything else?" */
function statementOf(sentence: string): string {
  if (!isQuestion(sentence)) return sentence;
  return ASKING.test(sentence)
    ? ""
    : sentence
        .split(/[,;–—]/)
        .slice(0, -1)
        .join(",");
}

const ASKING =
  /^(?:so,? |and |ok(?:ay)?,? )?(?:did|have|has|had|shall|should|would|do|does|is|are|was|were|can|could|may|might|will|what|which|when|where|who|how|why)\b/iu;

const NOT_YET =
  /\b(?:once|after|when|if|until|till|unless|as soon as|before|whether|in case|so that|would|could|should|shall|might|may|can|will|cannot|can't|won't|to be|let me|please|in order to|had|needs? to|need|must|wait)\b[^.!?;]*$|\b(?:nothing|no|not|never|none|neither|without|isn't|aren't|wasn't|hasn't|haven't|didn't|doesn't|don't|nobody)\b[^.!?;]*$/iu;

/** "the award that has been paid out": describes, and claims nothing. */
const RELATIVE = /\b(?:that|which|who)\s+$/iu;

function match(sentence: string, patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(sentence);
    if (!found) continue;
    const before = sentence.slice(Math.max(0, found.index - 80), found.index);
    const clause = before.split(/[,;:—–]\s|\s-\s|\b(?:and|but|so|which)\s/).at(-1) ?? before;
    if (NOT_YET.test(`${clause} `) || RELATIVE.test(before) || isPast(sentence.slice(found.index))) continue;
    const rest = sentence.slice(found.index + found[0].length);
    if (/^\s*(?:nothing|no|none|neither|not)\b/iu.test(rest)) continue;
    return found[0] + (/^[^,;.!?]*/.exec(rest)?.[0].split(/ and /)[0] ?? "");
  }
  return undefined;
}

/** About an earlier time, which a lookup showed. */
function isPast(rest: string): boolean {
  return /^[^.!?]{0,60}\b(?:last (?:year|term|week|month|fall|spring|semester)|yesterday|earlier this|in (?:20\d\d|january|december|november|october|the fall)|ago|previously|back in|by (?:the|your) (?:bank|clinic|previous|registrar|bursar|university|doctor|instructor|provider)|since)\b/iu.test(
    rest,
  );
}
