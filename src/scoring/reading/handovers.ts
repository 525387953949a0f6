// Handing the user over, and ending the talk, in words.
import { isQuestion, sentencesOf } from "./sentences.ts";

const MOVES =
  "(?:transfer(?:ring|red)?|hand(?:ing|ed)?|connect(?:ing|ed)?|pass(?:ing|ed)?|forward(?:ing|ed)?|put(?:ting)?|escalat(?:e|ing|ed)|rout(?:e|ing|ed)|redirect(?:ing|ed)?|patch(?:ing|ed)?)";
const ANNOUNCED: RegExp[] = [
  new RegExp(
    `\\b(?:i|we)(?:'m| am|'re| are|'ll| will|'ve| have)?\\s+(?:(?:now|just|going to|gonna|already|therefore|also|gone ahead and|went ahead and|immediately)\\s+)*${MOVES}\\s+(?:you|your (?:call|chat|case|request|matter)|this(?: (?:chat|case|matter|request|call))?|the (?:chat|call|case|matter))\\s*(?:over\\s+|through\\s+|on\\s+|straight\\s+|directly\\s+|right\\s+|now\\s+|immediately\\s+|at once\\s+)*(?:to|with|through)\\b`,
    "iu",
  ),
  new RegExp(`\\blet me ${MOVES}\\s+you\\b`, "iu"),
  /^(?:ok(?:ay)?,? |now |please hold,? |one moment,? )*(?:transferring|connecting|handing|passing|putting) (?:you|this)\b/iu,
  /\b(?:while|as) i (?:transfer|connect|hand|put) you\b/iu,
  /\byou(?:'re| are|'ve been| have been| will be|'ll be)\s+(?:now\s+)?(?:being\s+)?(?:transferred|connected|handed over|put through|passed on)\b/iu,
  /\b(?:takes|will take|is taking|are taking|take) over (?:from here|now|this (?:chat|conversation|case|matter))\b/iu,
  /(?:正在|现在|马上)?(?:为您|将您|把您|帮您)转(?:接|到|至)/u,
];

/** The sentence in which the agent hands the user over; an offer or a question is none. */
export function findHandover(text: string): string | undefined {
  return sentencesOf(text).find(
    (sentence) => !isQuestion(sentence) && !HYPOTHETICAL.test(sentence) && ANNOUNCED.some((one) => one.test(sentence)),
  );
}

const HYPOTHETICAL =
  /\b(?:if|either|or i|alternatively|option|would you|shall i|should i|can transfer|could transfer|may transfer|do you want|cannot|can't|unable|won't|will not|not (?:able|going|allowed)|no need|before i|once you|as soon as you|let me know|after you|when you (?:say|agree|confirm))\b/iu;

const ASKED_FOR =
  /\b(?:like|want|need|prefer|wish|love) to be (?:put through|transferred|connected|handed|passed)\b|\b(?:transfer|connect|put|pass|hand|forward|escalate)\s+(?:me|this|it)\b|\b(?:speak|talk|chat)(?:ing)?\s+(?:to|with)\s+(?:a |an |the |your |some|any)?\s*(?:real |actual |live )?(?:person|human|people|someone|somebody|supervisor|manager|agent|registrar|advis[eo]r|office|counsell?or|nurse|representative|staff)|\b(?:need|want|get me|give me)\s+(?:a |the )?(?:real |actual |live )?(?:person|human|supervisor|manager|registrar|advis[eo]r)\b|转(?:接)?(?:人工|到)|人工(?:客服|服务)/iu;

export function asksForHandover(userText: string): boolean {
  return sentencesOf(userText).some((sentence) => ASKED_FOR.test(sentence) && !declinesHandover(sentence));
}

export function declinesHandover(userText: string): boolean {
  return /\b(?:don't|do not|not|no|never|without|rather not|please don't|prefer not)\b[^.!?]{0,40}\b(?:transfer(?:red|ring)?|connected|handed|passed|put through|another (?:person|office|department)|someone else|sent (?:away|elsewhere)|talk to (?:anyone|someone|anybody))\b|\bno transfers?\b/iu.test(
    userText,
  );
}

/** Whether the agent's message brings a handover up, for the user to agree to. */
export function offersHandover(agentText: string): boolean {
  return /\b(?:transfer|connect|hand|pass|forward|put|redirect|escalat)\w*\b[^.!?]{0,60}\b(?:you|this|it|over)\b|\bhand(?:ing)? (?:you )?over\b|转接/iu.test(
    agentText,
  );
}

const ENDS =
  /\b(?:i(?:'m| am|'ll| will)?|we(?:'re| are|'ll| will)?|let me)\s+(?:now\s+|going to\s+|just\s+|therefore\s+|have to\s+|need to\s+|must\s+)*(?:end(?:ing)?|clos(?:e|ing)|terminat(?:e|ing)|disconnect(?:ing)?|stop(?:ping)?)\s+(?:this|the|our|your)?\s*(?:conversation|chat|call|session|case|ticket|dialogue|here)\b|\b(?:this|the|our|your)\s+(?:conversation|chat|call|session|case|ticket)\s+(?:is|has been|will be|will)\s+(?:now\s+)?(?:be\s+)?(?:closed|ended|over|terminated|close|end)\b/iu;

/** The sentence in which the agent ends the talk. */
export function findEnding(text: string): string | undefined {
  return sentencesOf(text).find(
    (sentence) => !isQuestion(sentence) && !/\b(?:if|unless|once|before)\b/i.test(sentence) && ENDS.test(sentence),
  );
}

const DONE =
  /\b(?:that(?:'s| is| was| will be|'ll be) (?:all|it|everything)|nothing (?:else|more|further)|no(?:thing)?,? (?:that's|thanks|thank you)|i(?:'m| am) (?:done|good|all set|fine|happy)|all (?:good|set|done)|bye|good ?bye|see you|have a (?:nice|good|great)|thanks?(?: you)?(?: so much| very much| a lot| again| for (?:your|the|all)[^.!?]*)?[.! ]*$|cheers|that(?:'s| is) all i (?:need|want)ed?)\b|谢谢|再见|没有了|没事了/iu;

export function isDone(userText: string): boolean {
  return DONE.test(userText) && !/[?？]/.test(userText);
}
