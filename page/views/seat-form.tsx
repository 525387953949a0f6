// A form for each tool, made from its schema. What is typed becomes the text of the arguments as it is, so no number changes.
import { useState } from "preact/hooks";
import type { SeatView } from "../../src/viewer/api.ts";
import {
  describeField,
  type Field,
  fieldsOf,
  ownText,
  type Problems,
  writeArguments,
} from "../../src/viewer/tool-form.ts";
import { keepDraft, readDraft } from "./seat-draft.ts";

export type Call = { name: string; arguments: string };

type Typed = { [field: string]: string };

type ToolFormProps = {
  tools: SeatView["tools"];
  position: number;
  isSending: boolean;
  /** sent at once */
  call(made: Call): void;
  /** sent together with others */
  keep(made: Call): void;
};

export function ToolForm({ tools, position, isSending, call, keep }: ToolFormProps) {
  const [name, setName] = useState(() => readDraft(position, "tool", ""));
  const [typed, setTyped] = useState(() => readDraft<Typed>(position, `form ${name}`, {}));
  const [asJson, setAsJson] = useState(() => readDraft(position, "as json", false));
  const [problems, setProblems] = useState<Problems>({});
  const tool = tools.find((each) => each.name === name);
  const fields = tool && !asJson ? fieldsOf(tool.parameters) : undefined;
  const choose = (next: string) => {
    keepDraft(position, "tool", next);
    setName(next);
    setTyped(readDraft<Typed>(position, `form ${next}`, {}));
    setProblems({});
  };
  const type = (field: string, text: string) => {
    const next = { ...typed, [field]: text };
    keepDraft(position, `form ${name}`, next);
    setTyped(next);
  };
  const finish = (use: (made: Call) => void) => {
    const written = fields ? writeArguments(fields, typed) : { arguments: typed[JSON_FIELD]?.trim() || "{}" };
    setProblems("problems" in written ? written.problems : {});
    if ("arguments" in written) use({ name, arguments: written.arguments });
  };
  const keepAndClear = (made: Call) => {
    keep(made);
    keepDraft(position, `form ${name}`, {});
    setTyped({});
  };
  return (
    <form
      class="tool-form"
      aria-label="Call a tool"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        finish(call);
      }}
    >
      <label for="seat-tool">Tool</label>
      <select id="seat-tool" value={name} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">Choose one of {tools.length} …</option>
        {tools.map((each) => (
          <option key={each.name} value={each.name}>
            {each.name}
          </option>
        ))}
      </select>
      {tool && (
        <>
          <p class="small">{tool.description}</p>
          {fields?.map((field) => (
            <FieldRow
              key={`${name} ${field.name}`}
              field={field}
              text={ownText(typed, field.name) ?? ""}
              problem={ownText(problems, field.name)}
              type={(text) => type(field.name, text)}
            />
          ))}
          {fields?.length === 0 && <p>It takes no arguments.</p>}
          {!fields && (
            <>
              <label for="seat-json">Arguments as JSON</label>
              <textarea
                id="seat-json"
                rows={4}
                class="code"
                spellcheck={false}
                value={typed[JSON_FIELD] ?? ""}
                placeholder="{}"
                onInput={(event) => type(JSON_FIELD, event.currentTarget.value)}
              />
              <details>
                <summary>Its schema</summary>
                <pre class="seat-text">{JSON.stringify(tool.parameters, null, 2)}</pre>
              </details>
            </>
          )}
          <div class="seat-buttons">
            <button type="submit" disabled={isSending}>
              Call
            </button>
            <button type="button" disabled={isSending} onClick={() => finish(keepAndClear)}>
              Keep for a joint call
            </button>
            {fieldsOf(tool.parameters) !== undefined && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={asJson}
                  onChange={(event) => {
                    keepDraft(position, "as json", event.currentTarget.checked);
                    setAsJson(event.currentTarget.checked);
                  }}
                />
                as JSON
              </label>
            )}
          </div>
        </>
      )}
    </form>
  );
}

/** No field of a schema has this name: it is kept beside them. */
const JSON_FIELD = "\u0000json";

type FieldRowProps = { field: Field; text: string; problem?: string; type(text: string): void };

function FieldRow({ field, text, problem, type }: FieldRowProps) {
  const { name, required, description } = field;
  const id = `field-${name}`;
  const about = `${id}-about`;
  return (
    <div class="field">
      <label for={id}>
        {name}
        {required && <span class="needed"> needed</span>}
      </label>
      <Control field={field} text={text} type={type} id={id} about={about} isWrong={problem !== undefined} />
      <p id={about} class="small">
        {[field.kind === "choice" ? "" : describeField(field), description].filter(Boolean).join(". ")}
      </p>
      {problem && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

type ControlProps = Omit<FieldRowProps, "problem"> & { id: string; about: string; isWrong: boolean };

function Control({ field: { kind, choices, required }, text, type, id, about, isWrong }: ControlProps) {
  const shared = { id, "aria-describedby": about, "aria-invalid": isWrong, "aria-required": required };
  if (kind === "choice" || kind === "boolean") {
    const options = choices?.map(({ label }) => label) ?? ["true", "false"];
    return (
      <select {...shared} value={text} onChange={(event) => type(event.currentTarget.value)}>
        <option value="">{required ? "Choose …" : "(left out)"}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  }
  if (kind === "list" || kind === "json")
    return (
      <textarea
        {...shared}
        rows={kind === "list" ? 2 : 3}
        class="code"
        spellcheck={false}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
    );
  return (
    <input
      {...shared}
      type="text"
      inputMode={kind === "text" ? "text" : "decimal"}
      autocomplete="off"
      value={text}
      onInput={(event) => type(event.currentTarget.value)}
    />
  );
}
