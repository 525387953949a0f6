// One thing that was said or done: a message with its calls and their results, or what happened beside them.
import type { CallView, LongText, Mark, Moment, Spent, StateChange } from "../../src/viewer/api.ts";
import { encodePart } from "../address.ts";
import { count, dollars, duration, exactTime } from "../text.ts";
import { AnnotateButton, AnnotateMessage } from "../views/annotate.tsx";
import { ChangeList } from "./state.tsx";
import { readWhole, TextBlock } from "./text-block.tsx";

export type MomentProps = {
  moment: Moment;
  /** where the server has the dialogue */
  path: string;
  isReasoningOpen: boolean;
  /** what a tool is for, by its name */
  tools: ReadonlyMap<string, string>;
  changes: { [callId: string]: StateChange[] };
  /** the checks that were decided by a message */
  decided: ReadonlyMap<number, string[]>;
};

const NAMES: { [by: string]: string } = {
  user: "User",
  agent: "Agent",
  setup: "Setup",
  system: "System",
  judge: "Judge",
  summary: "Summary",
  tool: "Result",
};

export function MomentView(props: MomentProps) {
  const { moment, path, isReasoningOpen } = props;
  const { kind, by, message, text, reasoning, calls, marks, spent } = moment;
  return (
    <article
      class={`moment ${kind} by-${by}`}
      id={message === undefined ? undefined : `m${message}`}
      tabIndex={-1}
      aria-label={labelOf(moment)}
    >
      <header class="moment-head">
        <h3>{kind === "calls" ? `${NAMES[by]}'s calls` : NAMES[by]}</h3>
        {message !== undefined && (
          <a class="small" href={`#m${message}`} title="A link to this message">
            {message}
          </a>
        )}
        {message !== undefined && <AnnotateButton at={message} />}
        <SpentView spent={spent} />
      </header>
      <Marks marks={marks} />
      <Decided checks={message === undefined ? undefined : props.decided.get(message)} />
      {reasoning && (
        <details class="reasoning" open={isReasoningOpen}>
          <summary>Reasoning ({count(reasoning.length ?? reasoning.text.length)} characters)</summary>
          <TextBlock value={reasoning} path={path} label="reasoning" />
        </details>
      )}
      {text && text.text !== "" && <TextBlock value={text} path={path} label="message" />}
      {calls.map((call, at) => (
        <Call key={at} call={call} {...props} />
      ))}
      {message !== undefined && <AnnotateMessage at={message} />}
    </article>
  );
}

function Call({ call, path, tools, changes, decided }: MomentProps & { call: CallView }) {
  const { id, name, result, marks } = call;
  const made = Object.hasOwn(changes, id) ? changes[id] : undefined;
  return (
    <div class={`call ${result?.isError ? "failed-call" : ""}`}>
      <div class="call-head">
        <span class="call-word">calls</span> <strong title={tools.get(name)}>{name}</strong>
      </div>
      <TextBlock value={call.arguments} path={path} label={`arguments of ${name}`} />
      <Marks marks={marks} />
      {result ? (
        <div
          class={`result ${result.isError ? "error" : ""}`}
          id={result.message === undefined ? undefined : `m${result.message}`}
        >
          <div class="moment-head">
            <span class={result.isError ? "bad" : "small"}>{result.isError ? "error" : "result"}</span>
            {result.message !== undefined && (
              <a class="small" href={`#m${result.message}`} title="A link to this result">
                {result.message}
              </a>
            )}
            <SpentView spent={result.spent} />
          </div>
          <Decided checks={result.message === undefined ? undefined : decided.get(result.message)} />
          <TextBlock value={result.content} path={path} label={`result of ${name}`} />
          {result.raw && (
            <details>
              <summary>
                The whole result; the agent got it cut ({count(result.raw.length ?? result.raw.text.length)} characters)
              </summary>
              <TextBlock value={result.raw} path={path} label={`whole result of ${name}`} />
            </details>
          )}
          {result.trace && (
            <details>
              <summary>Where the tool failed</summary>
              <pre>{result.trace}</pre>
            </details>
          )}
        </div>
      ) : (
        <p class="small">No result.</p>
      )}
      {made && (
        <div class="changed">
          <span class="small">What it changed</span>
          <ChangeList changes={made} />
        </div>
      )}
    </div>
  );
}

function Marks({ marks }: { marks: Mark[] }) {
  if (marks.length === 0) return null;
  return (
    <ul class="marks">
      {marks.map(({ level, text }, at) => (
        <li key={at} class={`mark ${level}`}>
          {text}
        </li>
      ))}
    </ul>
  );
}

function Decided({ checks }: { checks: string[] | undefined }) {
  if (!checks) return null;
  return (
    <p class="decided small">
      Decided:{" "}
      {checks.map((check) => (
        <a key={check} href={`#check-${encodePart(check)}`}>
          {check}
        </a>
      ))}
    </p>
  );
}

function SpentView({ spent }: { spent: Spent | undefined }) {
  if (!spent) return null;
  const { ms, at, inputTokens, outputTokens, cachedTokens, reasoningTokens, costUsd, scripted } = spent;
  const about = scripted ? "about " : "";
  const parts = [
    ms === undefined ? "" : duration(ms / 1000),
    inputTokens === undefined
      ? ""
      : `${about}${count(inputTokens)} tokens in${cachedTokens ? ` (${count(cachedTokens)} cached)` : ""}`,
    outputTokens === undefined
      ? ""
      : `${count(outputTokens)} out${reasoningTokens ? ` (${count(reasoningTokens)} reasoning)` : ""}`,
    costUsd === undefined || scripted ? "" : costUsd === null ? "cost unknown" : dollars(costUsd),
  ];
  return (
    <span class="spent small" title={exactTime(at)}>
      {parts.filter(Boolean).join(" · ")}
    </span>
  );
}

function labelOf({ by, message, kind }: Moment): string {
  const name = kind === "rejected" ? `Rejected reply, ${NAMES[by]}` : (NAMES[by] ?? by);
  return message === undefined ? name : `${name}, message ${message}`;
}

/** All of it as text, for copying: also what is shown only in part. */
export async function readText({ text, reasoning, calls }: Moment, path: string): Promise<string> {
  const whole = async (value: LongText | undefined) =>
    value ? ((await readWhole(value, path)).value ?? value.text) : "";
  const parts = [await whole(reasoning), await whole(text)];
  for (const { name, arguments: given, result } of calls)
    parts.push(`${name} ${await whole(given)}`, await whole(result?.content));
  return parts.filter(Boolean).join("\n\n");
}
