// Saying that something cannot be done here, asking for more, or pointing to somebody who can.
import { findHandover, offersHandover } from "./handovers.ts";
import { plainText } from "./sentences.ts";

const CANNOT =
  /\b(?:can't|cannot|can not|couldn't|could not|unable|not able|not possible|impossible|isn't possible|not (?:something|available|set up|equipped|in a position|within|authori[sz]ed|allowed)|don't (?:\w+ )?have|do not (?:\w+ )?have|haven't (?:got )?(?:a|any|the|access)|have no|lack|no (?:tool|tools|way|access|means|function|option|ability|system)|isn't (?:something|available|supported|possible|anything)|won't be able|outside (?:of )?(?:what|my)|beyond (?:what|my)|out of (?:my )?(?:scope|reach)|none of (?:my|the)|nothing (?:here|that i have|available)|sorry|afraid|apologi[sz]e|unfortunately|only (?:help|assist|cover|handle|support|deal)|not (?:the right|my) (?:place|desk|area|department))\b|无法|不能|没有(?:办法|工具|权限)|抱歉|对不起|\b(?:no puedo|lo siento|desafortunadamente|no tengo)\b/iu;
const ELSEWHERE =
  /\b(?:contact|reach out to|get in touch with|call|visit|go to|stop by|ask|speak (?:to|with)|talk to|check with|turn to|head (?:over )?to|email|see)\s+(?:the|your|a|an|their|our|someone|somebody)\b/iu;

/** How the message declines, or undefined if it does not. */
export function readRefusal(text: string): "cannot" | "asks" | "hands over" | undefined {
  const plain = plainText(text);
  if (CANNOT.test(plain)) return "cannot";
  if (findHandover(plain) || offersHandover(plain) || ELSEWHERE.test(plain)) return "hands over";
  return /[?？]/.test(plain) ? "asks" : undefined;
}
