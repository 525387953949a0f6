// Whether a user's message agrees to what the agent proposed, read as a whole: "no problem, go ahead" agrees, "yes… no,
// leave it" does not, and "my card is the blue one" says nothing either way.
import { clausesOf, plainText, sentencesOf } from "./sentences.ts";

/**
 * `waits`: wants time or hesitates; `changes`: wants it otherwise; `asks`: only asks something; `depends`: agrees on a
 * condition; `unread`: in words that rules do not know; `silent`: is about something else.
 */
export type Stance = "yes" | "no" | "waits" | "changes" | "asks" | "depends" | "unread" | "silent";

/** `verbs`: of the proposed act. "Cancel it" agrees to a cancellation and refuses a booking. */
export function readStance(message: string, verbs: readonly string[] = []): Stance {
  const text = foldPhrases(plainText(message).toLowerCase());
  let stance: Stance | undefined;
  let changes = false;
  for (const sentence of sentencesOf(text)) {
    let isConditional = false;
    for (const clause of clausesOf(sentence)) {
      const own = readClause(clause, verbs);
      if (own === "changes") changes = true;
      else if (own === "depends") isConditional = true;
      else if (own === "objects") stance ??= "no";
      else if (own) stance = own;
    }
    const isAbout =
      stance === "yes" &&
      (agreesIn(sentence, verbs) || /^(?:but|only|as long|provided|unless|though)\b/.test(sentence));
    if (isConditional && isAbout) stance = "depends";
  }
  if (stance === "no" || stance === "waits") return stance;
  if (changes) return "changes";
  if (stance) return stance;
  if (/[?？]/.test(text)) return "asks";
  return isUnread(text) ? "unread" : "silent";
}

function agreesIn(sentence: string, verbs: readonly string[]): boolean {
  return clausesOf(sentence).some((clause) => agrees(clause, verbs));
}

/** Set phrases whose words would mislead. */
function foldPhrases(text: string): string {
  return PHRASES.reduce((folded, [pattern, meaning]) => folded.replace(pattern, ` ${meaning} `), text);
}

const PHRASES: [RegExp, string][] = [
  [/[👍👌✅🙏💯🆗]|:\)|\u2705/gu, ", yes, "],
  [/\bwhy not\b\??/g, "yes"],
  [/\b(no|nope)?[,.!]*\s*(nothing|not anything) (else|more|further)\b/g, ""],
  [
    /\b(no|nope)[,.!]*\s*(thanks|thank you)?[,.!]*\s*(that|this)('s| is| was|'ll be| will be| should be) (all|it|everything)\b/g,
    "",
  ],
  [/\bif you need (it|that|one|them|this|to)\b/g, ""],
  [/\bbefore i (change|lose|make up) my (mind|nerve)\b/g, ""],
  [/\bbefore i forget( (it|about it|that|it exists))?\b/g, ""],
  [/\b(no|not a|without) (problem|worries|worry|objections?|issues?|doubt|rush|hurry|complaints|concerns?)\b/g, "yes"],
  [/\b(no|without) (further |more |other )?(questions?|changes?|corrections?|need (to|for|of)\b[^,.;!?]*)/g, ""],
  [/\bnothing (else )?to (add|change|correct)\b/g, ""],
  [/\b(can't|cannot|can not|couldn't) wait\b/g, ""],
  [/\b(i )?(can|could|will|don't mind|happy to) (to )?wait (the|an?|until|that|for the|one|two|another)\b/g, ""],
  [/\b(don't|do not|no need to) (worry|hesitate|bother( me)?)\b/g, ""],
  [/\bif (you|u) (could|would|can|don't mind|please|want|like|wouldn't mind)\b/g, "please"],
  [
    /\bif (that|it)('s| is) (ok|okay|fine|alright|all right|possible|easier|needed|necessary|allowed)( (with|for) you)?\b/g,
    "",
  ],
  [
    /\bif (so|that's what it takes|(that|it|this)('s| is) the only (way|option|choice|possibility)|i have to|i must|needed|necessary|possible|need be)\b/g,
    "",
  ],
  [/\b(wait|hold on)[,.!]* (yes|yeah|ok|okay|yep)\b/g, "yes"],
  [/\bnot? (sure )?(if|whether) (it|that) matters\b/g, ""],
  [/\bi'?m not (going to|gonna) (argue|complain|say no)\b/g, "yes"],
  [/\bcan't (argue|complain)\b/g, "yes"],
  [/\b(never|nothing) (better|more certain)\b/g, "yes"],
  [
    /\b(?:no[,.!]* )+(that|this|it|everything)('s| is| all)? ?(all )?(looks |sounds |seems )?(right|fine|correct|good|ok|okay|great|perfect)\b/g,
    "yes",
  ],
];

/** `objects`: a no to some detail, which takes back no yes of the same message. */
function readClause(clause: string, verbs: readonly string[]): Stance | "objects" | undefined {
  if (WAITS.test(clause)) return "waits";
  if (OTHERWISE.test(clause)) return "changes";
  const refusal = readRefusalOf(clause, verbs);
  if (refusal) return refusal;
  if (agrees(clause, verbs)) return CONDITION.test(clause) ? "depends" : "yes";
  if (CONDITION.test(clause) && !/[?]/.test(clause)) return "depends";
  return undefined;
}

const WAITS =
  /\b(?:i don't know|i dunno|no idea|idk)\b|^before you (?:do|go|book|register|submit|cancel|drop|pay|proceed|continue|start|send)\b|\b(let me|i('ll| will| need| have| want| would like|'d like|'d rather| would rather| would prefer|'d prefer| should| must|'m going)?( to)?( first| really| just)?) (think|sleep|check|ask|talk|speak|chat|discuss|consult|consider|look into|see what|get back to you|mull|decide|double[- ]?check|run it by|come back|read (it|that|the))\b|\b(think|sleep) (about|on|over) (it|that|this)\b|\b(not|n't) (so |really |entirely |quite |completely |100% |totally )?(sure|certain|decided|convinced|ready)\b|\bunsure\b|\bundecided\b|^(just )?(wait|hang on|hold on|hold up|hold off|one (moment|sec|second|minute)|a moment|just a|not so fast|give me)\b|\b(hold|hang) (on|off)\b|\bgive me (a|some|until|till)\b|\bmaybe( later| not| tomorrow| another)?$|^(maybe|perhaps|possibly)\b|\bi('ll| will) (let you know|decide|get back to you|come back|call back|think|sleep|ask|check|pass for now)\b|\bsecond thoughts?\b|\bbefore (it|that|this|anything)('s| is| gets| becomes) (fixed|final|booked|done|confirmed|settled|official)\b|\bnot (before|until|till)\b|\bbefore (i|we) (decide|agree|confirm|say|do|commit|go ahead|answer)\b|\b(need|want|like|have) (more |some |a (little|bit|few)? ?(more )?)(time|days?|minutes?|hours?)\b|\b(hesitant|torn|on the fence)\b|\bcan (i|we) (decide|do (it|this|that)|think|wait) (later|tomorrow|another)\b|(?:让我|我)?(?:先)?(?:再)?(?:想想|想一下|考虑|问一下|问问|等等|等一下|等一等|看看再)|先等|再说吧?|(?:déjame|dejame|déjeme|dejeme) (?:pensar|ver|consultar)|\bespere?\b|\bun momento\b|\btodavía no\b|\blaissez-moi\b|\battendez\b|\bmoment mal\b|\bnoch nicht\b|\büberlegen\b|待って|考えさせ|잠깐|잠시만/iu;

const OTHERWISE =
  /^(but|although|though|only|just)\b.*\b(make (it|that|them)|use|change|switch|put|send it|instead|different|another|without|not (the|with|on|to)|only (for|the|one|two|half)|with (the|my)|at \d|on (monday|tuesday|wednesday|thursday|friday)|for (just|only))\b|\b(make|change|switch|move|correct) (it|that|this|them|the \w+) (to|into|for|from)\b|\bi('d| would) (rather|prefer)\b(?! not)|\b(prefer|want|take|need|use|do) (the |a )?(other|another|different|second|first|later|earlier)\b.*\binstead\b|\binstead of\b|\bactually (make|can you make|could you make|use|put|change|i (meant|want|need|would))\b|\bthat('s| is) (not right|wrong|incorrect|not correct|not what)\b|\b(wrong|not the right) (one|section|date|day|amount|card|account|address|name|number)\b|改成|换成|改为/iu;

const CONDITION =
  /\b(if|unless|as long as|provided( that)?|only (if|when|after|once)|assuming|on (the )?condition)\b|如果|除非/iu;

const YES =
  /\b(yes+|yea+h?|yeah+|yep|yup|yess+|aye|yah|ya|sure|surely|ok+|okay|okey|okie|k|kk|alright|all right|alrighty|absolutely|definitely|certainly|of course|indeed|exactly|agreed?|i agree|i confirm|confirm(ed)?|approved?|affirmative|granted|roger|deal|correct|perfect(ly)?|lovely|wonderful|brilliant|awesome|fantastic|excellent|great|fine|lgtm|proceed|obviously|naturally|blessing|sounds (good|great|right|fine|perfect|reasonable|fair|like a plan)|looks? (good|right|great|fine|correct|perfect|accurate)|(that|this|it|which)('s| is|'ll be| will be| would be|'d be| all)? (works?|fine|right|correct|good|great|ok|okay|perfect|all right|it|what i want(ed)?|what i need(ed)?|fair|acceptable|clear|exactly)|that works|works for me|(go|went) (right )?ahead|go (for|with) (it|that|this)|go on|do (it|that|this|so|both|them)|please do|let's (do|go|proceed|book|get)|let us|make it so|by all means|be my guest|for sure|you bet|you got it|you may|you can|you have my (ok|okay|consent|permission|approval|go[- ]ahead)|i('d| would) (like|love|appreciate) (that|it|this|you to)|authori[sz]ed?|i consent|i (should|would|'d) be (most |very |so |quite )?(pleased|obliged|grateful|glad|happy|delighted)|you have my (word|signature)|signed|approved|i('m| am) (happy|fine|good|ok|okay|okey|cool|in|on board)( with| to| for)?|happy with|cool|i accept|i('ll| will) take (it|that|this)|count me in|sign me up|green light|thumbs up|good to go|all (good|clear)|consider it|got my (ok|okay)|ship it|fire away|bring it on|get it done|get on with it|accepted|understood|much obliged|that would be|mhm|uh[- ]?huh|mm-?hm+|y)\b/iu;

const YES_ELSEWHERE =
  /^(?:好|好的|好呀|好吧|好啊|可以|可以的|行|行吧|是|是的|对|对的|嗯|嗯嗯|没问题|没错|同意|确认|就这样|办吧|麻烦了?|请|ok)|(?:好的|可以|没问题|确认|同意|就这么办|就这样吧|请(?:您)?(?:帮我|办理|继续|提交)|那就)|(?:^|[\s¡¿])(?:sí|si|claro|adelante|vale|dale|de acuerdo|perfecto|hágalo|hazlo|confirmo|por favor|está bien|correcto|oui|d'accord|allez-y|vas-y|bien sûr|parfait|ça marche|volontiers|ja|jawohl|gerne?|einverstanden|passt|in ordnung|machen sie( das)?|mach( das)?|sim|pode|tudo bem|claro que sim|va bene|certo|sì)(?=$|[\s,.!])|はい|お願いします|大丈夫です|いいです|네|예|좋아요|그렇게 해/iu;

/** As a whole answer: "I do", "it is", "want it", "good good", "card please". */
const SHORT_YES =
  /^(?:(?:and|then|so|well|oh|ah|hm+)\s+)*(?:(?:very |all |so |it's )?(?:good|nice|right|true|ready|splendid|super|marvellous|terrific)(?: good| then| enough)?|(?:yes )?i (?:do|am|would|should|will|shall|did)(?: so| like to| indeed)?|(?:it|that|this) (?:is|does|will do|would|works)|they (?:are|do)|we do|(?:i )?(?:want|need|love|like|'ll have|take) (?:it|that|this|them|both|those)|(?:i'd|i would) be (?:obliged|grateful|glad|happy|delighted)(?: to you)?|with pleasure|gladly|happily|(?:.{1,30}\s)?(?:please|pls|plz)(?: do| go| and thank you)?|as you say|whatever it takes|let it be so|so be it|ok then|fine then|why yes|right away|now|go|gogo|go go|do|do so)$/iu;

function agrees(clause: string, verbs: readonly string[]): boolean {
  if (YES.test(clause) || YES_ELSEWHERE.test(clause)) return true;
  if (SHORT_YES.test(clause.replace(/[\s.!]+$/, ""))) return true;
  return namesAct(clause, verbs);
}

/** "Book it", "please register me", "I want to drop it": the act itself, asked for. */
function namesAct(clause: string, verbs: readonly string[]): boolean {
  const act = [...verbs, ...GENERAL_VERBS].join("|");
  return new RegExp(
    `^(?:(?:please|do|then|so|and|just|yes|ok|okay|you can|you may|i(?:'d| would) like (?:you )?to|i (?:do )?(?:want|wish) (?:you )?to|i should like (?:you )?to|i(?:'ll| will)|let's|can you|could you|would you)\\s+)*(?:${act})\\b(?!\\s*(?:as it is|it as))`,
    "iu",
  ).test(clause);
}

const GENERAL_VERBS = [
  "submit",
  "send",
  "place",
  "order",
  "file",
  "enter",
  "confirm",
  "finali[sz]e",
  "finish",
  "complete",
  "process",
  "continue",
  "execute",
  "set (?:it|that|this) up",
  "put (?:it|that|this) (?:in|through|down)",
];

/** Words that undo something, unless undoing is the act. */
const UNDOING = ["cancel", "drop", "decline", "stop", "abort", "scrap", "skip", "remove", "delete", "withdraw"];

const NO =
  /^(?:(?:oh|um+|uh|er|hm+|well|sorry|and|so|then|ah|actually|thanks|thank you|please)\s+)*(?:no+|nope|nah|nay|never|negative)(?:$|[!.]|\s+(?:i|i'm|i'd|don't|do not|wait|actually|thanks|thank you|not|way|let's|leave|keep|no|sorry|stop|please|it's|that's|never|cancel)\b)|\b(?:never ?mind|forget (?:it|about it|that|about that|the whole)|leave (?:it|that|everything|things|me|him|her|the \w+)(?: all)? (?:as|alone|be|like|out|for now|where|the way)|leave (?:it|that)$|rather not|prefer not|changed? my mind|scratch that|no thanks|no thank you|(?:i'll|i will|let me|let's) (?:pass|keep (?:it|the|my|everything|what)|leave it|skip)|keep (?:it|everything|things|my \w+|the \w+) (?:as|the way|like)|against it|i decline|i refuse|call it off|no deal|too (?:expensive|much|risky))\b|\bnot (?:yet|now|today|anymore|any more|at all|really|like (?:that|this)|for now|interested|this time|right now)\b|^(?:不|别|不要|不用|不行|不了|取消|算了|先不)|(?:不用了|不要了|算了吧?|先不要|还是不)|\b(?:mejor no|no quiero|déjelo|non|nein|lieber nicht|não|いいえ)\b|아니요/iu;
const DONT =
  /^(?:(?:and|but|so|please|just|then|oh|actually|sorry)\s+)*no\b|\b(?:don't|do not|dont|won't|will not|wouldn't|would not)\b(?! (?:mind|worry|have|know|see|think it|need (?:a|any|anything|the)|care|forget|hesitate))|\bnot going to\b/iu;

/** "No" to the act itself, or "objects" to some other thing. */
function readRefusalOf(clause: string, verbs: readonly string[]): "no" | "objects" | undefined {
  if (NO.test(clause)) return "no";
  const act = [
    ...verbs,
    "do",
    "go",
    "proceed",
    "continue",
    "touch",
    "change",
    "want (?:it|that|this|you to)",
    "like (?:it|that|this)",
  ];
  if (DONT.test(clause))
    return new RegExp(
      `(?:don't|do not|dont|won't|will not|wouldn't|would not|not going to) (?:\\w+ )?(?:${act.join("|")})\\b`,
      "iu",
    ).test(clause)
      ? "no"
      : "objects";
  const undoing = UNDOING.filter((word) => !verbs.some((verb) => verb.startsWith(word) || isUndoing(verb)));
  const isUndone = new RegExp(
    `^(?:please |just |then |so |ok |okay )*(?:${undoing.join("|")})(?: it| that| this| everything| the whole thing)?[.!]*$`,
    "iu",
  );
  return undoing.length > 0 && isUndone.test(clause) ? "no" : undefined;
}

function isUndoing(verb: string): boolean {
  return UNDOING.includes(verb);
}

const MAX_UNREAD_WORDS = 4;

/** Mostly letters that none of the rules above was written for. */
function isUnread(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  const foreign = letters.filter((letter) => !/[a-z\p{Script=Han}]/iu.test(letter));
  if (letters.length === 0 || foreign.length > letters.length / 3) return true;
  // too short to be about something else
  return text.split(/\s+/).filter(Boolean).length <= MAX_UNREAD_WORDS && !/\d/.test(text);
}
