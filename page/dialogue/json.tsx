// JSON as people read it: one line for each member, deep and long parts folded, every number as it was written.
import { useState } from "preact/hooks";
import type { JsonNode } from "./json-text.ts";

/** Shown at once; the rest is asked for. */
const FIRST = 40;
const MORE = 400;
/** Short ones stay on one line; deep ones are folded anyway, and may be longer. */
const LINE = 80;
const DEEP_LINE = 300;
/** Levels that are open from the start. */
const OPEN_LEVELS = 2;

export function JsonView({ node, depth = 0 }: { node: JsonNode; depth?: number }) {
  const [isOpen, setOpen] = useState(depth < OPEN_LEVELS);
  const [shown, setShown] = useState(FIRST);
  if (node.open === undefined) return <Leaf source={node.source} />;
  const { members, open, source } = node;
  const isFlat = members.every((member) => member.node.open === undefined);
  if (
    members.length === 0 ||
    (isFlat && source.length <= (depth < OPEN_LEVELS ? LINE : DEEP_LINE) && !source.includes("\n"))
  )
    return <span class="json-line">{source}</span>;
  const close = open === "{" ? "}" : "]";
  const what = `${members.length} ${open === "{" ? "members" : "items"}`;
  return (
    <>
      <button
        type="button"
        class="fold"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? "Fold" : "Unfold"} ${what}`}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? "−" : "+"}
      </button>
      {open}
      {isOpen ? (
        <div class="json-members">
          {members.slice(0, shown).map(({ key, node: member }, at) => (
            <div key={at}>
              {key !== undefined && (
                <>
                  <span class="json-key">{key}</span>
                  {": "}
                </>
              )}
              <JsonView node={member} depth={depth + 1} />
              {at < members.length - 1 && ","}
            </div>
          ))}
          {members.length > shown && (
            <button type="button" class="more" onClick={() => setShown(shown + MORE)}>
              {Math.min(MORE, members.length - shown)} more of {members.length}
            </button>
          )}
        </div>
      ) : (
        <span class="small"> {what} </span>
      )}
      {close}
    </>
  );
}

/** A text with line breaks is shown with them. */
function Leaf({ source }: { source: string }) {
  const [isWhole, setWhole] = useState(false);
  const kind = source.startsWith('"') ? "text" : /^[-\d]/.test(source) ? "number" : "word";
  const text = kind === "text" && source.includes("\\n") ? `"${JSON.parse(source)}"` : source;
  const isLong = text.length > LONG_LEAF && !isWhole;
  return (
    <span class={`json-${kind}`}>
      {isLong ? text.slice(0, LONG_LEAF) : text}
      {isLong && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          … all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </span>
  );
}

const LONG_LEAF = 2000;
