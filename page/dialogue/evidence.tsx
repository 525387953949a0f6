// What is beside a dialogue: its verdict, the checks, the other rollouts of its query, prompt and tools.
import type { CheckView, DialogueView, ToolView } from "../../src/viewer/api.ts";
import { encodePart, pathTo } from "../address.ts";
import { pathToCompare, writePlace } from "../compare/place.ts";
import { count, dollars, duration, exactTime, scoreText } from "../text.ts";
import { JsonView } from "./json.tsx";
import { readJsonText } from "./json-text.ts";
import { TextBlock } from "./text-block.tsx";

export function Verdict({ dialogue }: { dialogue: DialogueView }) {
  const { verdict, score, decidedBy, blame, evidence, checks } = dialogue;
  const [undecided, decided] = [checks.filter(({ pass }) => pass === null), checks.filter(({ pass }) => pass !== null)];
  const [failed, passed] = [decided.filter(({ pass }) => !pass), decided.filter(({ pass }) => pass)];
  return (
    <section aria-labelledby="checks-title">
      <h2 id="checks-title">
        <span class={`verdict ${verdictClass(verdict)}`}>{verdict}</span>
        {score !== null && <span class="small"> score {scoreText(score)}</span>}
      </h2>
      {decidedBy.length > 0 && <p class="small">Decided by {decidedBy.join(", ")}.</p>}
      {blame && <p>The {blame} is to blame.</p>}
      {evidence && checks.length === 0 && <p class="small">{evidence}</p>}
      <Checks checks={failed} />
      {passed.length > 0 && (
        <details open={innerWidth > NARROW}>
          <summary>{plural(passed.length, "check")} passed</summary>
          <Checks checks={passed} />
        </details>
      )}
      {undecided.length > 0 && (
        <details>
          <summary>{plural(undecided.length, "check")} could not decide</summary>
          <Checks checks={undecided} />
        </details>
      )}
    </section>
  );
}

/** There the dialogue is below, and wants to be reached. */
const NARROW = 1000;

function Checks({ checks }: { checks: CheckView[] }) {
  if (checks.length === 0) return null;
  return (
    <ul class="checks">
      {checks.map((check) => (
        <Check key={check.check} check={check} />
      ))}
    </ul>
  );
}

function Check({ check: { check, pass, reason, findings, messages, blame } }: { check: CheckView }) {
  const elsewhere = messages.filter((at) => !findings.some(({ message }) => message === at));
  return (
    <li id={`check-${encodePart(check)}`}>
      <span class={pass === null ? "small" : pass ? "good" : "bad"}>
        {pass === null ? "–" : pass ? "pass" : "fail"}
      </span>{" "}
      <strong>{check}</strong>
      {pass === false && blame && blame !== "agent" && <span class="small"> (blame: {blame})</span>}
      <div class="reason">{reason}</div>
      {findings.length > 0 && (
        <ul class="findings">
          {findings.map(({ text, message }, at) => (
            <li key={at}>
              {text} {message !== undefined && <MessageLink at={message} />}
            </li>
          ))}
        </ul>
      )}
      {elsewhere.map((at) => (
        <MessageLink key={at} at={at} />
      ))}
    </li>
  );
}

function MessageLink({ at }: { at: number }) {
  return (
    <a class="to-message" href={`#m${at}`}>
      message {at}
    </a>
  );
}

export function Siblings({ dialogue, run }: { dialogue: DialogueView; run: string }) {
  const { siblings, id, dataset } = dialogue;
  const own = writePlace(run, dataset, id);
  return (
    <section aria-labelledby="siblings-title">
      <h2 id="siblings-title">Rollouts of this query</h2>
      <ul class="siblings">
        {siblings.map((other) => (
          <li key={other.id}>
            <a
              href={pathTo("run", run, "rollout", dataset, other.id)}
              aria-current={other.id === id ? "page" : undefined}
            >
              {other.id}
            </a>{" "}
            <span class={verdictClass(other.verdict)}>{other.state === "finished" ? other.verdict : other.state}</span>{" "}
            {other.id !== id && (
              <a
                class="small"
                aria-label={`Compare with ${other.id}`}
                href={pathToCompare(own, writePlace(run, dataset, other.id))}
              >
                compare
              </a>
            )}
          </li>
        ))}
      </ul>
      <a class="small" href={pathToCompare(own)}>
        compare with other runs
      </a>
    </section>
  );
}

export function Facts({ dialogue }: { dialogue: DialogueView }) {
  const { facts, state, moments } = dialogue;
  if (!facts)
    return (
      <p role="status">
        {state === "running"
          ? `Still running: ${moments.length} entries so far. This page follows it.`
          : state === "cut off"
            ? "Not finished: it was cut off. A resume goes on from here."
            : "It failed and has no record."}
      </p>
    );
  const scripted = facts.scriptedTokens > 0 ? `about ${count(facts.scriptedTokens)} by scripts` : "";
  const tokens = scripted === "" || facts.tokens > 0 ? count(facts.tokens) : "";
  return (
    <div class="facts-lines">
      <p>
        {facts.ended ? "Ended" : "Broke off"}: <strong>{facts.stopReason}</strong>
        {facts.message && ` (${facts.message})`}
        {" · "}
        {plural(facts.turns, "turn")}
        {" · "}
        {plural(facts.toolCalls, "call")}
        {facts.toolErrors > 0 && <span class="bad"> ({plural(facts.toolErrors, "error")})</span>}
        {" · "}
        tokens: {[tokens, scripted].filter(Boolean).join(" and ")}
        {" · "}cost {dollars(facts.costUsd)}
        {" · "}
        <span title={exactTime(facts.startedAt)}>{duration(facts.seconds)}</span>
      </p>
      <p class="small">
        {Object.entries(facts.models)
          .map(([party, model]) => `${party} ${model}`)
          .join(" · ")}
        {facts.scripted && " (scripted: no model's output)"}
        {facts.mode !== "positive" && ` · mode ${facts.mode}`}
        {facts.attempt > 1 && ` · attempt ${facts.attempt}`}
      </p>
    </div>
  );
}

function plural(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function PromptAndTools({ dialogue, path, isOpen }: { dialogue: DialogueView; path: string; isOpen: boolean }) {
  const { system, tools, userTools } = dialogue;
  return (
    <section aria-label="Prompt and tools">
      {system !== undefined && (
        <details open={isOpen}>
          <summary>System prompt ({count(system.length)} characters)</summary>
          <TextBlock value={{ text: system }} path={path} label="system prompt" />
        </details>
      )}
      <ToolList title="Tools" tools={tools} isOpen={isOpen} />
      <ToolList title="The user's own tools" tools={userTools} isOpen={isOpen} />
    </section>
  );
}

function ToolList({ title, tools, isOpen }: { title: string; tools: ToolView[]; isOpen: boolean }) {
  if (tools.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary>
        {title} ({tools.length})
      </summary>
      {tools.map(({ name, description, parameters }) => {
        const schema = readJsonText(parameters);
        return (
          <details key={name} class="tool">
            <summary>{name}</summary>
            <p>{description}</p>
            {schema && (
              <div class="json">
                <JsonView node={schema} />
              </div>
            )}
          </details>
        );
      })}
    </details>
  );
}

export function verdictClass(verdict: string): string {
  return verdict === "solved" ? "good" : verdict === "failed" || verdict === "not played" ? "bad" : "odd";
}
