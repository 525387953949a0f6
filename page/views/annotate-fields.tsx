// The fields of an annotation: tags, one after the other, and a note.
import { useEffect, useId, useRef, useState } from "preact/hooks";

type TagsProps = { tags: string[]; usual: string[]; what: string; onChange: (tags: string[]) => void };

export function Tags({ tags, usual, what, onChange }: TagsProps) {
  const list = useId();
  const add = (field: HTMLInputElement) => {
    const given = field.value.split(",").map((tag) => tag.replace(/\s+/g, " ").trim());
    const fresh = given.filter((tag) => tag !== "" && !tags.includes(tag));
    field.value = "";
    if (fresh.length > 0) onChange([...tags, ...new Set(fresh)]);
  };
  return (
    <div class="tags">
      {tags.map((tag) => (
        <span key={tag} class="tag">
          {tag}
          <button
            type="button"
            aria-label={`Remove the tag ${tag} from ${what}`}
            onClick={() => onChange(tags.filter((other) => other !== tag))}
          >
            ×
          </button>
        </span>
      ))}
      <input
        class="tag-field"
        list={list}
        maxLength={60}
        placeholder="tag"
        aria-label={`Add a tag to ${what}`}
        autocomplete="off"
        onKeyDown={(event) => {
          if (event.key === "Enter" || event.key === ",") {
            event.preventDefault();
            add(event.currentTarget);
          } else if (event.key === "Escape") event.currentTarget.blur();
        }}
        onBlur={(event) => add(event.currentTarget)}
      />
      <datalist id={list}>
        {usual
          .filter((tag) => !tags.includes(tag))
          .map((tag) => (
            <option key={tag} value={tag} />
          ))}
      </datalist>
    </div>
  );
}

type NoteProps = { note: string; what: string; onChange: (note: string) => void };

/** Saved when the field is left, and when the page is. */
export function Note({ note, what, onChange }: NoteProps) {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const latest = useRef<() => void>(() => {});
  latest.current = () => {
    if (typed === undefined) return;
    setTyped(undefined);
    if (typed.trim() !== note) onChange(typed.trim());
  };
  useEffect(() => {
    const save = () => latest.current();
    addEventListener("pagehide", save);
    return () => {
      removeEventListener("pagehide", save);
      save();
    };
  }, []);
  const shown = typed ?? note;
  return (
    <textarea
      rows={Math.min(6, shown.split("\n").length)}
      placeholder="note"
      maxLength={10_240}
      aria-label={`Your note on ${what}`}
      value={shown}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onBlur={() => latest.current()}
      onKeyDown={(event) => {
        if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey)))
          event.currentTarget.blur();
      }}
    />
  );
}
