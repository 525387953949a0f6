// `conduct`: what the rules of `policy` and `claims` could not decide, put to a judge as exact statements, each with its
// evidence.
import { type Check, notCheckable } from "../check.ts";
import { askAboutStatements } from "../judge/statements.ts";
import { findUnborneClaims } from "./claims.ts";
import { findBreaches } from "./policy.ts";

export const conductCheck: Check = {
  name: "conduct",
  version: 1,
  needsJudge: true,
  guards: true,
  run: (context) => {
    const { domain, trajectory } = context;
    const isPositive = trajectory.metadata.mode === "positive";
    const doubts = [
      ...(domain && isPositive ? findBreaches(context, domain).doubts : []),
      ...findUnborneClaims(context).doubts,
    ];
    if (doubts.length === 0) return notCheckable("rules left nothing open");
    return askAboutStatements(context, doubts);
  },
};
