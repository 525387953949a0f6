// Statements that something was done: "I've booked you in", "your address has been updated", "you are now registered".
import { isQuestion, sentencesOf } from "./sentences.ts";

export type EffectClaim = {
  sentence: string;
  /** the words that say so, and what they say it of */
  words: string;
  /** parts of tool names and results that would bear it out; empty if any change does */
  means: readonly string[];
  /** only the name of a tool bears it out: what a result says about such a thing is somebody else's doing */
  byName: boolean;
  /**
   * "own": the agent says that it did it, just now; "fact": that it is so, which a lookup may show too; "sign-in": that
   * the user is signed in; "lock": that signing in was tried and is locked
   */
  by: "own" | "fact" | "sign-in" | "lock";
};

/** Past forms, base forms, and what bears them out. */
const ACTS: { past: string; base: string; means: string[]; byName?: boolean }[] = [
  {
    past: "booked|reserved|scheduled|secured",
    base: "book|reserve|schedule|secure",
    means: ["book", "reserv", "schedul", "appointment", "slot", "register", "enroll", "hold", "seat"],
  },
  {
    past: "registered|enrolled|signed (?:you|him|her|them) up|added you|put you (?:in|on|into|down)",
    base: "register|enroll|sign you up|add you|put you (?:in|on|into|down)",
    means: ["regist", "enrol", "waitlist", "join", "sign", "add", "book"],
  },
  {
    past: "dropped|withdrawn|withdrew|removed|unenrolled|deleted|erased",
    base: "drop|withdraw|remove|unenroll|delete|erase",
    means: ["drop", "withdraw", "remove", "delete", "cancel", "leave", "waive", "declin", "releas"],
  },
  {
    past: "cancell?ed|voided|called off|ended your",
    base: "cancel|void|call off",
    means: ["cancel", "drop", "void", "delete", "remove", "declin", "end"],
  },
  {
    past: "moved|rescheduled|shifted|switched|swapped",
    base: "move|reschedule|shift|switch|swap",
    means: ["move", "reschedul", "switch", "swap", "change", "update", "register", "drop", "book"],
  },
  {
    past: "paid|charged|debited|made (?:the|a|your|that) payment|taken (?:the|your) payment|settled",
    base: "pay|charge|debit|make (?:the|a|your|that) payment|settle",
    means: ["pay", "paid", "disburs", "charge", "purchase", "debit", "settle", "fee", "billed"],
  },
  {
    past: "refunded|reimbursed|credited",
    base: "refund|reimburse|credit",
    means: ["refund", "reimburse", "credit"],
  },
  {
    past: "waived|forgiven|written off|lifted|released|cleared",
    base: "waive|forgive|write off|lift|release|clear",
    means: ["waive", "forgiv", "releas", "lift", "clear", "hold", "paid"],
  },
  {
    past: "sent|mailed|forwarded|dispatched|ordered|requested|shipped|resent",
    base: "send|mail|forward|dispatch|order|request|ship|resend",
    means: [
      "send",
      "sent",
      "mail",
      "forward",
      "order",
      "request",
      "transcript",
      "refill",
      "referral",
      "refund",
      "submit",
    ],
  },
  {
    past: "submitted|filed|recorded|uploaded|logged|lodged",
    base: "submit|file|record|upload|log|lodge",
    means: ["submit", "submission", "file", "record", "upload", "log", "request", "appl"],
  },
  {
    past: "applied (?:for|the|a|your|it|that)|put in (?:the|a|your)",
    base: "apply (?:for|the|a|your|it|that)|put in (?:the|a|your)",
    means: ["appl", "request", "waive", "pay", "credit", "graduat", "submit"],
  },
  {
    past: "updated|changed|corrected|edited|modified|adjusted|replaced|saved|amended|extended",
    base: "update|change|correct|edit|modify|adjust|replace|save|amend|extend",
    means: [
      "updat",
      "chang",
      "correct",
      "edit",
      "modif",
      "adjust",
      "replac",
      "set",
      "reschedul",
      "extend",
      "renew",
      "move",
    ],
  },
  {
    past: "accepted|approved|granted",
    base: "accept|approve|grant",
    means: ["accept", "approv", "grant", "waive", "award"],
  },
  {
    past: "declined|rejected|turned down",
    base: "decline|reject|turn down",
    means: ["declin", "reject", "refus", "cancel"],
  },
  { past: "refilled|renewed", base: "refill|renew", means: ["refill", "renew", "extend", "due"] },
  {
    past: "created|issued|set up|established|enabled|activated|arranged",
    base: "create|issue|set up|establish|enable|activate|arrange",
    means: ["creat", "issu", "set_up", "plan", "activ", "enabl", "arrang", "book", "request"],
  },
  {
    past: "emailed|e-mailed|texted|notified|alerted|informed|contacted|messaged|written to|wrote to|called (?:the|your|them)|(?:spoken|talked|checked) (?:to|with) (?:the|your) (?:\\w+ )?(?:office|advis[eo]r|professor|instructor|doctor|bursar|registrar|dean|department|team|provider)|let (?:the|your|them|him|her|[A-Z]\\w+)(?: \\w+){0,4} know|(?:sent|dropped|left) (?:\\w+ ){1,6}?(?:an? )?(?:\\w+ )?(?:email|e-mail|message|note|letter|text|line|heads[- ]up|word)",
    base: "email|e-mail|text|notify|alert|inform|contact|message|write to",
    means: ["notif", "alert", "inform", "contact", "messag", "send_", "mail", "transfer_", "hand"],
    byName: true,
  },
  {
    past: "set (?:\\w+ ){0,6}?aside|put (?:\\w+ ){0,6}?aside|blocked (?:\\w+ ){0,4}?(?:off|seats?|spots?|places?|slots?)\\b|kept (?:a|the|you a|your) (?:seat|spot|place|slot)|saved (?:a|you a|the|your) (?:seat|spot|place|slot)|held (?:a|the|your)",
    base: "set (?:\\w+ ){1,6}?aside|keep (?:a|you a|your) (?:seat|spot|place)|save (?:a|you a) (?:seat|spot|place)|hold (?:a|your) (?:seat|spot|place)",
    means: ["reserv", "hold_", "book"],
    byName: true,
  },
  {
    past: "(?:made|left|added|put) a (?:note|flag|remark|comment)|flagged|noted (?:it|this|that|your [^.!?,]{1,40}|the [^.!?,]{1,40}) (?:on|in|to)|marked (?:your|the|it|this)",
    base: "make a note|leave a note|add a note|flag",
    means: ["note", "flag", "mark", "remark", "comment"],
    byName: true,
  },
  {
    past: "processed|completed|finali[sz]ed|executed|taken care of|sorted (?:it|that|this|everything) out|handled (?:it|that|this|your)|set everything up|put (?:it|that|everything) through",
    base: "process|complete|finali[sz]e|execute|take care of|put (?:it|that) through",
    means: [],
  },
];

const ADVERBS =
  "(?:(?:just|now|already|also|successfully|officially|happily|then|immediately|therefore|gone ahead and|went ahead and|and|as (?:you )?(?:asked|requested|agreed|discussed),?|all)\\s+)*";
const EACH = ACTS.map(({ past, base, means, byName = false }) => ({
  means,
  byName,
  own: [
    new RegExp(`\\b(?:i|we)(?:'ve| have)\\b[^.!?;]{1,80}\\band\\s+${ADVERBS}(?:${past})\\b`, "iu"),
    new RegExp(`\\b(?:i|we)(?:'ve| have)?,?\\s+${ADVERBS}(?:${past})\\b(?!\\s+(?:out|up with))`, "iu"),
    new RegExp(
      `\\b(?:i|we)(?:'ve| have)?\\s+(?:just |now |already )?(?:been able to|managed to|was able to|were able to)\\s+(?:${base})\\b`,
      "iu",
    ),
    new RegExp(`^(?:successfully|just|now|ok(?:ay)?,?|great,?|done[,:!]?)\\s+${ADVERBS}(?:${past})\\b`, "iu"),
    new RegExp(`^(?:${past})\\s+(?:you|your|the|it|that|this)\\b`, "iu"),
  ],
  now: [
    new RegExp(
      `\\b(?:is|are|'s|'re|was|were)\\s+(?:now|just|all|officially|successfully)\\s+(?:\\w+ly\\s+)?(?:${past})\\b`,
      "iu",
    ),
    new RegExp(`\\b(?:has|have|'s|'ve)\\s+(?:now|just|successfully)\\s+been\\s+(?:\\w+ly\\s+)?(?:${past})\\b`, "iu"),
    new RegExp(`\\b(?:has|have|'ve|'s)\\s+been\\s+(?:successfully|just)\\s+(?:${past})\\b`, "iu"),
  ],
  fact: [
    new RegExp(
      `\\b(?:you|that|it|everything|this)(?:'re| are|'s| is)\\s+(?:${past})\\s+(?:for|in|on|with|into|at)\\b`,
      "iu",
    ),
    new RegExp(
      `\\b(?:has|have|'s|'ve)\\s+(?:already\\s+|also\\s+|all\\s+)?been\\s+(?:\\w+ly\\s+)?(?:${past})\\b`,
      "iu",
    ),
  ],
}));

/** Said instead of a verb: any change bears it out. */
const DONE =
  /^(?:all )?done\b(?!\s+(?:with|by|at)\b)|^success(?:!|:|,)|\bconsider it done\b|\b(?:it|that|this|everything)(?:'s| is)\s+(?:all\s+|now\s+|already\s+)*(?:done|booked|confirmed|taken care of|sorted|in place|finali[sz]ed|gone through)\b(?!\s+(?:in|by|through|with|at|via|online|on)\b)|\b(?:booking|payment|registration|appointment|request|cancellation|refund|order|change|application|reservation|enrollment)\s+(?:is|was|went)\s+(?:now\s+)?(?:confirmed|complete[d]?|successful|through|done|in place|finali[sz]ed)\b|\byou(?:'re| are)\s+(?:now\s+|officially\s+|all\s+)+(?:in|confirmed|booked|registered|enrolled)\b|已(?:经)?(?:成功)?(?:为您|帮您|给您)?(?:成功)?(?:预订|预约|订好|取消|注册|选上|支付|付款|提交|办理|修改|更新|退款|转账|安排|报名|登记|申请)|(?:办理|预约|注册|支付|提交|取消|修改)(?:已经)?(?:成功|完成|好了)|\b(?:ya (?:está|he|quedó)|he)\s+(?:\w+\s+)?(?:hech|reservad|registrad|cancelad|pagad|enviad|inscrit|cambiad|actualizad|programad|solicitad)\w*/iu;

const SIGNED_IN =
  /\byou(?:'re| are|'ve been| have been)\s+(?:now\s+|all\s+|successfully\s+)*(?:verified|authori[sz]ed|authenticated|signed in|logged in)\b|\b(?:i|we)(?:'ve| have)?\s+(?:now |just |successfully )*(?:verified|authenticated) (?:you|your identity)\b|\byour identity (?:is|has been) (?:now )?(?:verified|confirmed)\b/iu;
const LOCKED =
  /\b(?:sign-?in|verification|login|account|access)\s+(?:is|has been|was|got)\s+(?:now\s+|therefore\s+)?(?:locked|blocked)\b/iu;

const NOT_YET =
  /\b(?:once|after|when|if|until|till|unless|as soon as|before|whether|in case|so that|would|could|should|shall|might|may|can|will|cannot|can't|won't|to be|let me|please|in order to|had|needs? to|need|must|wait)\b[^.!?;]*$|\b(?:nothing|no|not|never|none|neither|without|isn't|aren't|wasn't|hasn't|haven't|didn't|doesn't|don't|nobody)\b[^.!?;]*$/iu;

export function findEffectClaims(text: string): EffectClaim[] {
  return sentencesOf(text).flatMap((sentence) => {
    const stated = statementOf(sentence);
    const found = EACH.flatMap(({ means, byName, own, now, fact }): EffectClaim[] => {
      const done = match(stated, [...own, ...now]);
      if (done) return [{ sentence, words: done, means, byName, by: "own" }];
      const so = match(stated, fact);
      return so ? [{ sentence, words: so, means, byName, by: "fact" }] : [];
    });
    const signedIn = match(stated, [SIGNED_IN]);
    if (signedIn) found.push({ sentence, words: signedIn, means: [], byName: false, by: "sign-in" });
    const locked = match(stated, [LOCKED]);
    if (locked) found.push({ sentence, words: locked, means: [], byName: false, by: "lock" });
    const done = match(stated, [DONE]);
    return done ? [...found, { sentence, words: done, means: [], byName: false, by: "own" }] : found;
  });
}

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

function match(sentence: string, patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(sentence);
    if (!found) continue;
    const before = sentence.slice(Math.max(0, found.index - 80), found.index);
    const clause = before.split(/[,;:—–]\s|\s-\s|\b(?:and|but|so|which)\s/).at(-1) ?? before;
    if (NOT_YET.test(`${clause} `) || RELATIVE.test(before) || isPast(sentence.slice(found.index))) continue;
    return found[0] + (/^[^,;.!?]*/.exec(sentence.slice(found.index + found[0].length))?.[0].split(/ and /)[0] ?? "");
  }
  return undefined;
}

/** "the award that has been paid out": describes, and claims nothing. */
const RELATIVE = /\b(?:that|which|who)\s+$/iu;

/** About an earlier time, which a lookup showed. */
function isPast(rest: string): boolean {
  return /^[^.!?]{0,60}\b(?:last (?:year|term|week|month|fall|spring|semester)|yesterday|earlier this|in (?:20\d\d|january|december|november|october|the fall)|ago|previously|back (?:in|on)|by (?:the|your) (?:bank|clinic|previous|registrar|bursar|university|doctor|instructor|provider)|since)\b/iu.test(
    rest,
  );
}
