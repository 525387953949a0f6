// A person's seat in a dialogue: what was said so far, and what they say or call next. The server keeps all of it; what is
// typed and not yet sent is kept by the browser's tab, so that a reload loses nothing.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SeatView as Seat, SeatItem } from "../../src/viewer/api.ts";
import { pathTo } from "../address.ts";
import { Shown } from "../frame.tsx";
import { useKeys } from "../keys.ts";
import { useServer } from "../server.ts";
import { dropDrafts, keepDraft, readDraft } from "./seat-draft.ts";
import { type Call, ToolForm } from "./seat-form.tsx";
import "./seat.css";

const ENDS = [
  ["###STOP###", "End: I have what I wanted"],
  ["###TRANSFER###", "End: I am handed over"],
  ["###OUT-OF-SCOPE###", "End: the agent cannot help"],
] as const;

export function SeatView() {
  const answer = useServer<Seat>("/api/seat", "/seat");
  return (
    <>
      <Shown answer={answer}>{(seat) => <Table seat={seat} />}</Shown>
      {answer.error !== undefined && (
        <p>
          <code>npx rollout play DOMAIN --as agent --view</code> gives you a seat, and its address.
        </p>
      )}
    </>
  );
}

function Table({ seat }: { seat: Seat }) {
  const { party, place, system, tools, items, over, isLeft, notice, asked } = seat;
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [items.length, asked?.position]);
  return (
    <div class="seat">
      <h1>
        You are the {party}
        {place && <span class="small"> {`${place.queryId} of ${place.dataset}`}</span>}
      </h1>
      <details open={party === "user"}>
        <summary>{party === "user" ? "Your scenario" : "Your instructions and the policy"}</summary>
        <pre class="seat-text">{system}</pre>
      </details>
      <div class="seat-log" role="log" aria-label="The dialogue">
        {items.map((item, at) => (
          <Item key={at} item={item} party={party} />
        ))}
        <div ref={end} />
      </div>
      {notice && (
        <p class="odd" role="alert">
          {notice}
        </p>
      )}
      {over && <Over seat={seat} />}
      {!over && isLeft && (
        <p role="status">
          This seat was left. <code>npx rollout resume</code> goes on with it.
        </p>
      )}
      {!over && !isLeft && !asked && <p role="status">The other side is at work …</p>}
      {asked && <Answer key={asked.position} seat={seat} asked={asked} tools={asked.canCall ? tools : []} />}
    </div>
  );
}

function Over({ seat: { over, place } }: { seat: Seat }) {
  const runs = useServer<{ name: string }[]>("/api/runs", "");
  const run = runs.value?.[0]?.name;
  return (
    <p role="status" class="seat-over">
      The dialogue is over: {over?.stopReason}
      {over?.message ? ` (${over.message})` : ""}.{" "}
      {run !== undefined && place && (
        <a href={pathTo("run", run, "rollout", place.dataset, place.queryId)}>The record with its checks</a>
      )}
    </p>
  );
}

function Item({ item, party }: { item: SeatItem; party: Seat["party"] }) {
  const { by, text, calls = [], tool, isError, end } = item;
  const who = by === "tool" ? `${tool} ${isError ? "failed" : "answered"}` : by === party ? "you" : by;
  return (
    <article class={`seat-item ${by === party ? "mine" : by}${isError ? " failed" : ""}`}>
      <h2>{who}</h2>
      {text !== "" && <pre class="seat-text">{by === "tool" ? readable(text) : text}</pre>}
      {calls.map((call, at) => (
        <p key={at} class="seat-call">
          <code>
            {call.name} {call.arguments}
          </code>
        </p>
      ))}
      {end && <p class="small">{end}</p>}
    </article>
  );
}

/** Indented where that changes no number: the text itself is only spread over lines. */
function readable(text: string): string {
  try {
    const spread = JSON.stringify(JSON.parse(text), null, 2);
    return spread.replace(/\s/g, "") === text.replace(/\s/g, "") ? spread : text;
  } catch {
    return text;
  }
}

type AnswerProps = { seat: Seat; asked: NonNullable<Seat["asked"]>; tools: Seat["tools"] };

function Answer({ seat, asked: { position }, tools }: AnswerProps) {
  const [content, setContent] = useState(() => readDraft(position, "content", ""));
  const [calls, setCalls] = useState(() => readDraft<Call[]>(position, "calls", []));
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  const change = <T,>(name: string, set: (value: T) => void, value: T) => {
    keepDraft(position, name, value);
    set(value);
  };
  const send = async (answer: { content: string; calls: Call[] }) => {
    setSending(true);
    const wrong = await post({ position, ...answer });
    if (wrong === "") dropDrafts(position);
    setProblem(wrong);
    setSending(false);
  };
  const say = () => send({ content, calls });
  const focus = (id: string) => () => document.getElementById(id)?.focus();
  useKeys(
    {
      m: { does: "write what you say (Ctrl+Enter sends it, Escape leaves the field)", act: focus("seat-content") },
      ...(tools.length > 0 ? { t: { does: "choose a tool to call", act: focus("seat-tool") } } : {}),
    },
    "Your seat",
  );
  return (
    <section class="seat-answer" aria-label="Your answer">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void say();
        }}
      >
        <label for="seat-content">What you say to the {seat.party === "agent" ? "user" : "agent"}</label>
        <textarea
          id="seat-content"
          rows={3}
          value={content}
          onInput={(event) => change("content", setContent, event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void say();
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
        <Kept calls={calls} drop={(at) => change("calls", setCalls, calls.toSpliced(at, 1))} />
        {problem && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
        <Buttons>
          <button type="submit" disabled={isSending}>
            {calls.length > 0 ? `Send with ${calls.length} ${calls.length === 1 ? "call" : "calls"}` : "Say"}
          </button>
          {seat.party === "user" &&
            ENDS.map(([token, label]) => (
              <button
                key={token}
                type="button"
                disabled={isSending}
                onClick={() => void send({ content: `${content} ${token}`.trim(), calls: [] })}
              >
                {label}
              </button>
            ))}
        </Buttons>
      </form>
      {tools.length > 0 && (
        <ToolForm
          tools={tools}
          position={position}
          isSending={isSending}
          call={(made) => void send({ content, calls: [...calls, made] })}
          keep={(made) => change("calls", setCalls, [...calls, made])}
        />
      )}
    </section>
  );
}

function Buttons({ children }: { children: ComponentChildren }) {
  return <div class="seat-buttons">{children}</div>;
}

function Kept({ calls, drop }: { calls: Call[]; drop(at: number): void }) {
  if (calls.length === 0) return null;
  return (
    <ul aria-label="Calls to be made together" class="seat-kept">
      {calls.map((call, at) => (
        <li key={at}>
          <code>
            {call.name} {call.arguments}
          </code>{" "}
          <button type="button" aria-label={`Leave out ${call.name}`} onClick={() => drop(at)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** What is wrong, or nothing. */
async function post(answer: { position: number; content: string; calls: Call[] }): Promise<string> {
  try {
    const response = await fetch("/api/seat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(answer),
    });
    if (response.ok) return "";
    const { error } = (await response.json().catch(() => ({}))) as { error?: string };
    return error ?? `The server answered ${response.status}.`;
  } catch {
    return "The server cannot be reached: is `rollout play` still running?";
  }
}
