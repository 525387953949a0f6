// Which checks there are, and which of them are wanted: by name, or from a user's file.
import { basename, extname } from "node:path";
import { didYouMean, isObject, type Json, messageOf, UsageError } from "../core/index.ts";
import { loadDefaultExport } from "../tools/index.ts";
import { type Check, type CheckContext, type CheckResult, failed, notCheckable, passed } from "./check.ts";
import { actionsCheck } from "./checks/actions.ts";
import { answerCheck, judgedAnswerCheck } from "./checks/answer.ts";
import { assertionsCheck } from "./checks/assertions.ts";
import { claimsCheck } from "./checks/claims.ts";
import { communicateCheck } from "./checks/communicate.ts";
import { conductCheck } from "./checks/conduct.ts";
import { policyCheck } from "./checks/policy.ts";
import { qualityCheck } from "./checks/quality.ts";
import { refusalCheck } from "./checks/refusal.ts";
import { stateCheck } from "./checks/state.ts";
import { judgedUserCheck, userCheck } from "./checks/user.ts";
import { userActionsCheck } from "./checks/user-actions.ts";
import type { EvaluationSettings } from "./settings.ts";

/** By default all that need no judge; if a judge is named, also those that need one. */
export async function chooseChecks(settings: EvaluationSettings, hasJudge: boolean): Promise<Check[]> {
  const all = builtIn(settings, hasJudge);
  if (!settings.checks) return all.filter((check) => hasJudge || !check.needsJudge);
  return Promise.all(
    settings.checks.map(async (name) => {
      const known = all.find((check) => check.name === name);
      if (known?.needsJudge && !hasJudge) throw new UsageError(`The check "${name}" needs a judge: --judge-model`);
      if (known) return known;
      if (/\.[cm]?[jt]s$/.test(name)) return loadCheck(name);
      const names = all.map((check) => check.name);
      throw new UsageError(
        `There is no check "${name}"${didYouMean(name, names)} There are ${names.join(", ")}, and files of your own (.ts, .js)`,
      );
    }),
  );
}

/** Every built-in check, configured by the settings. */
function builtIn({ actions, quality_pass }: EvaluationSettings, hasJudge: boolean): Check[] {
  return [
    actionsCheck(actions),
    stateCheck,
    userActionsCheck,
    policyCheck,
    claimsCheck,
    communicateCheck,
    refusalCheck,
    hasJudge ? judgedAnswerCheck : answerCheck,
    hasJudge ? judgedUserCheck : userCheck,
    conductCheck,
    assertionsCheck,
    qualityCheck(quality_pass),
  ];
}

type OwnResult = CheckResult | boolean | number | undefined;
type OwnCheck = (context: CheckContext) => Promise<OwnResult> | OwnResult;

/** A default export: a check, or just a function that gives a result, true or false, or a score from 0 to 1. */
async function loadCheck(file: string): Promise<Check> {
  const exported = await loadDefaultExport(file);
  const own = isObject(exported) ? exported : { run: exported };
  if (typeof own.run !== "function")
    throw new UsageError("the default export must be a check: a function, or { name, version, run }", { file });
  const run = own.run as OwnCheck;
  return {
    name: typeof own.name === "string" ? own.name : basename(file, extname(file)),
    version: typeof own.version === "number" ? own.version : 1,
    settings: own.settings as Json | undefined,
    guards: own.guards === true,
    run: async (context) => {
      try {
        return toResult(await run(context));
      } catch (error) {
        return notCheckable(`the check failed: ${messageOf(error)}`);
      }
    },
  };
}

function toResult(result: OwnResult): CheckResult {
  if (result === undefined) return notCheckable("the check gave no result");
  if (typeof result === "boolean") return result ? passed("passed") : failed("failed");
  if (typeof result === "number")
    return { ...(result >= 1 ? passed("passed") : failed("failed")), score: clamp(result) };
  if (result.pass === null) return { ...result, score: null, reason: String(result.reason ?? "not checkable") };
  const pass = result.pass === true;
  const score = typeof result.score === "number" ? clamp(result.score) : pass ? 1 : 0;
  return {
    ...result,
    pass,
    score,
    reason: String(result.reason ?? ""),
    blame: pass ? undefined : (result.blame ?? "agent"),
  };
}

function clamp(score: number): number {
  return Math.min(1, Math.max(0, Number.isNaN(score) ? 0 : score));
}
