// Whether the caller says that they are somebody else than the person whose data it is about.
import { plainText, sentencesOf } from "./sentences.ts";

const RELATION =
  "(?:mother|mom|mum|mommy|father|dad|daddy|parents?|stepmother|stepfather|brother|sister|sibling|twin|husband|wife|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|friend|best friend|room ?mate|flat ?mate|house ?mate|class ?mate|guardian|uncle|aunt|cousin|grandmother|grandfather|grandma|grandpa|son|daughter|child|kid|nephew|niece|tutor|coach|landlord|boss|employer|colleague|co-?worker|neighbou?r|assistant|secretary|lawyer|attorney|ex)";
const THIRD_PERSON: RegExp[] = [
  // "I'm her mother", "this is Greta's dad", "as his wife", "I am the brother of S1023"
  new RegExp(
    `\\b(?:i(?:'m| am)|this is|it's|as|here is|speaking(?: is)?|you(?:'re| are) (?:speaking|talking|chatting) (?:to|with))\\s+(?:(?:actually|really|just|only|still)\\s+)?(?:her|his|their|(?:\\p{Lu}|S\\d)[\\p{L}\\d-]*(?:\\s\\p{Lu}[\\p{L}-]*)?'s?|the student's|the patient's|a student's)\\s+(?:older |younger |big |little |twin |best |own |legal )?${RELATION}\\b`,
    "iu",
  ),
  new RegExp(
    `\\b(?:i(?:'m| am)|this is|as)\\s+(?:the|a)\\s+(?:legal |proud |worried )?${RELATION}\\s+(?:of|to)\\s+(?!(?:the|a|this|our|my)\\s(?!student|patient))`,
    "iu",
  ),
  // "her mother here", "mom of Greta speaking"
  new RegExp(`\\b(?:her|his|their|\\p{Lu}[\\p{L}-]*'s)\\s+${RELATION}\\s+(?:here|speaking|writing|calling)\\b`, "iu"),
  // "Dmitri Rossi, father of Omar Rossi", "Ola here, Viktor's girlfriend", "S1023's roommate here"
  new RegExp(`(?:^|[,(] ?|\\bthe )${RELATION} of (?:the )?(?:\\p{Lu}|student|patient)[\\p{L}\\d-]*`, "u"),
  new RegExp(
    `\\b(?:here|speaking|name is|name's)\\b[^.!?]{0,30}(?:her|his|their|[\\p{Lu}][\\p{L}\\d-]*'s)\\s+(?:\\w+ )?${RELATION}\\b`,
    "u",
  ),
  // "I'm calling for my daughter", "on behalf of my wife"
  new RegExp(
    `\\b(?:calling|writing|asking|contacting you|reaching out|chatting|texting|here|doing this|handling this|checking|looking)\\s+(?:in\\s+)?(?:on behalf of|for|about|regarding|in the name of)\\s+(?:my|a|our)\\s+(?:\\w+ )?${RELATION}\\b`,
    "iu",
  ),
  /\bon behalf of\s+(?:my|our|\p{Lu})/iu,
  new RegExp(`\\bhelping (?:my|our)\\s+(?:\\w+ )?${RELATION}\\s+(?:with|to|out|get)\\b`, "iu"),
  /\b(?:taking care of|doing|handling|sorting|dealing with|arranging)\s+(?:this|it|that|everything|things)\s+(?:out )?for (?:her|him|them)\b/iu,
  /\b(?:gave|given|told|sent) me (?:her|his|their) (?:\w+ )?(?:id|pin|number|card|password|date of birth|birthday|details|login)\b/iu,
  /\bsoy (?:la|el) (?:madre|padre|mam[áa]|pap[áa]|hermana|hermano|novia|novio|esposa|esposo|pareja|amiga|amigo) de\b/iu,
  /我是(?:她|他|学生)的|替(?:我)?(?:女儿|儿子|妹妹|弟弟|姐姐|哥哥|朋友|室友|女朋友|男朋友|老婆|老公)/u,
];

const SELF =
  /\b(?:i am|i'm|this is|it's)\s+(?:the (?:student|patient|account holder)|\p{L}+ (?:herself|himself)|(?:actually )?me\b)|\b(?:her|him|my)self (?:here|now|speaking|on the (?:line|phone))|\b(?:took|taking|takes) over (?:now|the (?:phone|chat|keyboard))|\bnow it's me\b|\bgive the (?:phone|keyboard) to\b/iu;

/** What the caller said about it, or undefined if they speak for themselves; the later of two statements counts. */
export function findThirdPerson(userTexts: readonly string[]): string | undefined {
  let found: string | undefined;
  for (const sentence of userTexts.flatMap((text) => sentencesOf(plainText(text)))) {
    if (SELF.test(sentence)) found = undefined;
    else if (THIRD_PERSON.some((pattern) => pattern.test(sentence))) found = sentence;
  }
  return found;
}

const OTHERS = new RegExp(
  `\\b(?:her|his|their|he|she|he's|she's|they're)\\b|\\b(?:my|our|a)\\s+(?:\\w+ )?${RELATION}\\b`,
  "iu",
);

/** The sentence in which the caller names this person as somebody else: "my brother is S1037", "her ID is S1037". */
export function findNamedOther(userTexts: readonly string[], person: string): string | undefined {
  const naming = userTexts
    .flatMap((text) => sentencesOf(plainText(text)))
    .filter((sentence) => sentence.toLowerCase().includes(person.toLowerCase()));
  const isOwn = naming.some(
    (sentence) => !OTHERS.test(sentence) || /\b(?:i'm|i am|my (?:student )?id|mine is)\b/iu.test(sentence),
  );
  return isOwn ? undefined : naming[0];
}
