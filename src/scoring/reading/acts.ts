// What an agent can say that it has done, and what bears it out.

export type Act = {
  /** as patterns: past forms, and the plain ones after "managed to" */
  past: string;
  base: string;
  /** parts of the name, arguments or result of a call that did it; none: any change did */
  means: string[];
  /** parts of the values in a result that show that it is so, whoever did it; none: only a call of the agent's bears it out */
  shown: string[];
  /** only the name of the tool counts */
  byName?: boolean;
};

export const ACTS: Act[] = [
  act("booked|reserved|scheduled|secured", "book|reserve|schedule|secure", {
    means: "book reserv schedul appointment slot register enroll hold seat",
    shown: "booked reserved scheduled",
  }),
  act(
    "registered|enrolled|signed (?:you|him|her|them) up|added you|put you (?:in|on|into|down)",
    "register|enroll|sign you up|add you|put you (?:in|on|into|down)",
    { means: "regist enrol waitlist join sign add book", shown: "registered enrolled waitlisted" },
  ),
  act("dropped|withdrawn|withdrew|removed|unenrolled|deleted|erased", "drop|withdraw|remove|unenroll|delete|erase", {
    means: "drop withdraw remove delete cancel leave waive declin releas",
    shown: "dropped withdrawn removed deleted waived",
  }),
  act("cancell?ed|voided|called off|ended your", "cancel|void|call off", {
    means: "cancel drop void delete remove declin end",
    shown: "cancel voided ended",
  }),
  act("moved|rescheduled|shifted|switched(?! on)|swapped", "move|reschedule|shift|switch|swap", {
    means: "move reschedul switch swap change update register drop book",
    shown: "moved reschedul",
  }),
  act(
    "paid|charged|debited|made (?:the|a|your|that) payment|taken (?:the|your) payment|settled",
    "pay|charge|debit|make (?:the|a|your|that) payment|settle",
    {
      means: "pay paid disburs charge purchase debit settle fee billed",
      shown: "paid disburs payment completed charged settled",
    },
  ),
  act("refunded|reimbursed|credited", "refund|reimburse|credit", {
    means: "refund reimburse credit",
    shown: "refund reimburs credit",
  }),
  act("waived|forgiven|written off|lifted|released|cleared", "waive|forgive|write off|lift|release|clear", {
    means: "waive forgiv releas lift clear hold paid",
    shown: "waived released lifted cleared",
  }),
  act(
    "sent|mailed|forwarded|dispatched|ordered|requested|shipped|resent",
    "send|mail|forward|dispatch|order|request|ship",
    {
      means: "send sent mail forward order request transcript refill referral refund submit",
      shown: "sent mailed ordered requested pending",
    },
  ),
  act("submitted|filed|recorded|uploaded|logged|lodged", "submit|file|record|upload|log|lodge", {
    means: "submit submission file record upload log request appl",
    shown: "submitted filed recorded uploaded",
  }),
  act(
    "applied (?:for|the|a|your|it|that)|put in (?:the|a|your)",
    "apply (?:for|the|a|your|it|that)|put in (?:the|a|your)",
    {
      means: "appl request waive pay credit graduat submit",
      shown: "applied",
    },
  ),
  act(
    "updated|changed|corrected|edited|modified|adjusted|replaced|saved|amended|extended",
    "update|change|correct|edit|modify|adjust|replace|save|amend|extend",
    {
      means: "updat chang correct edit modif adjust replac set reschedul extend renew move",
      shown: "updated changed corrected extended",
    },
  ),
  act("accepted|approved|granted", "accept|approve|grant", {
    means: "accept approv grant waive award",
    shown: "accepted approved granted",
  }),
  act("declined|rejected|turned down", "decline|reject|turn down", {
    means: "declin reject refus cancel",
    shown: "declined rejected refused",
  }),
  act("refilled|renewed", "refill|renew", { means: "refill renew extend due", shown: "refilled renewed" }),
  act("created|issued|set up|established|arranged", "create|issue|set up|establish|arrange", {
    means: "creat issu set_up plan arrang book request",
    shown: "created issued active form",
  }),
  act(
    "(?:switched|turned) (?:back )?on|enabled|(?:re)?activated|subscribed|restored|reinstated|unlocked|unblocked",
    "(?:switch|turn) (?:back )?on|enable|activate|restore|reinstate|unlock",
    {
      means: "enabl activ subscri switch alert notif",
      shown: "enabled active subscribed",
      byName: true,
    },
  ),
  act(
    `emailed|e-mailed|texted|told(?! (?:you|me))|notified|alerted|informed|contacted|messaged|written to|wrote to|called (?:the|your|them)|(?:spoken|talked|checked) (?:to|with) (?:the|your) (?:\\w+ )?(?:office|advis[eo]r|professor|instructor|doctor|bursar|registrar|dean|department|team|provider)|let (?:the|your|them|him|her|[A-Z]\\w+)(?: \\w+){0,4} know|(?:sent|dropped|left) (?:\\w+ ){1,6}?(?:an? )?(?:\\w+ )?(?:email|e-mail|message|note|letter|text|line|heads[- ]up|word)`,
    "email|e-mail|text|notify|alert|inform|contact|message|write to",
    {
      means: "notif alert inform contact messag send_ mail",
      shown: "notified emailed informed",
      byName: true,
    },
  ),
  act(
    `set (?:\\w+ ){0,6}?aside|put (?:\\w+ ){0,6}?aside|blocked (?:\\w+ ){0,4}?(?:off|seats?|spots?|places?|slots?)\\b|kept (?:a|the|you a|your) (?:seat|spot|place|slot)|saved (?:a|you a|the|your) (?:seat|spot|place|slot)|held (?:a|the|your)|placed a (?:\\w+ )?hold on (?:a|the|your|one)`,
    `set (?:\\w+ ){0,6}?aside|keep (?:a|you a|your) (?:seat|spot|place)|save (?:a|you a) (?:seat|spot|place)|hold (?:a|your) (?:seat|spot|place)`,
    { means: "reserv hold_ book", shown: "reserved", byName: true },
  ),
  act(
    "(?:made|left|added|put) a (?:note|flag|remark|comment)|flagged|noted (?:it|this|that|your [^.!?,]{1,40}|the [^.!?,]{1,40}) (?:on|in|to)|marked (?:your|the|it|this)",
    "make a note|leave a note|add a note|flag",
    { means: "note flag mark remark comment", shown: "noted flagged", byName: true },
  ),
  act(
    "processed|completed|finali[sz]ed|executed|taken care of|sorted (?:it|that|this|everything) out|handled (?:it|that|this|your)|set everything up|put (?:it|that|everything) through",
    "process|complete|finali[sz]e|execute|take care of|put (?:it|that) through",
    { means: "", shown: "processed completed" },
  ),
];

function act(past: string, base: string, words: { means: string; shown: string; byName?: boolean }): Act {
  const list = (text: string) => text.split(" ").filter(Boolean);
  return { past, base, means: list(words.means), shown: list(words.shown), byName: words.byName };
}
