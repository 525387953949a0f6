// The review queue: any filter of the table, one rollout after the other, until this annotator has judged them all. The
// filter is in the address of each dialogue, so that a review can be left, reloaded and gone back in.
import { useEffect, useState } from "preact/hooks";
import type { NextView } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { useAnnotator } from "../annotator.ts";
import { useKeys } from "../keys.ts";
import { settled, type Target } from "../own-annotations.ts";
import { get, useServer } from "../server.ts";
import { count } from "../text.ts";

/** On the table: reviews what it shows. */
export function ReviewLink({ name }: { name: string }) {
  const filters = Address.params;
  filters.delete("offset");
  filters.delete("limit");
  const href = `${pathTo("run", name, "review")}?${filters}`;
  useKeys({ r: { does: "review these rollouts one after the other", act: () => Address.go(href) } }, "Rollouts");
  return (
    <a class="action" href={href} title="One after the other, until each has your verdict">
      Review<kbd>r</kbd>
    </a>
  );
}

/** Leads to the first rollout that is not reviewed, or says that there is none. */
export function ReviewView({ name }: { name: string }) {
  const me = useAnnotator();
  return me === undefined ? <p role="status">Reading …</p> : <Start name={name} me={me} />;
}

function Start({ name, me }: { name: string; me: string }) {
  const filters = Address.params.toString();
  const { value, error } = useServer<NextView>(nextPath(name, filters, me), name);
  const table = `${pathTo("run", name, "rollouts")}?${filters}`;
  useKeys({ b: { does: "back to the table", act: () => Address.go(table) } }, "Review");
  const next = value?.next;
  useEffect(() => {
    if (next) Address.go(placeOf(name, filters, next), true);
  }, [next?.dataset, next?.id]);
  if (error !== undefined) return <p role="alert">{error}</p>;
  if (!value || next) return <p role="status">Reading …</p>;
  return (
    <>
      <h1>{value.chosen === 0 ? "Nothing to review" : "All reviewed"}</h1>
      <p role="status">
        {value.chosen === 0
          ? "No rollout fits the filter, so there is nothing to review; choose another one in the table."
          : `${me} has given a verdict on all ${count(value.chosen)} of them. More will come up here if more are made.`}
      </p>
      <p>
        <a href={table}>Back to the table</a>
      </p>
    </>
  );
}

/** On a dialogue that a review has come to: how many are left, and the way on. */
export function ReviewBar({ me, ...here }: Target & { me: string }) {
  const filters = Address.params.get("review");
  return filters === null ? null : <Bar here={here} me={me} filters={filters} />;
}

function Bar({ here, me, filters }: { here: Target; me: string; filters: string }) {
  const { name, dataset, id } = here;
  const path = nextPath(name, filters, me, here);
  const { value } = useServer<NextView>(path, name);
  const [said, say] = useState("");
  const goOn = async () => {
    if (!(await settled())) return say("This one is not saved yet.");
    const { value: fresh, error } = await get<NextView>(path);
    if (error !== undefined) return say(error);
    const next = fresh?.next;
    if (!next) return Address.go(`${pathTo("run", name, "review")}?${filters}`);
    if (next.dataset === dataset && next.id === id) return say("Only this one is left.");
    return Address.go(placeOf(name, filters, next));
  };
  useKeys({ Enter: { does: "the next one that you have not reviewed", act: () => void goOn() } }, "Reviewing");
  return (
    <div class="review">
      <p role="status">
        {value ? `Review: ${count(value.left)} of ${count(value.chosen)} left.` : "Review."} {said}
      </p>
      <button type="button" onClick={() => void goOn()}>
        Next <kbd>Enter</kbd>
      </button>
      <a href={`${pathTo("run", name, "rollouts")}?${filters}`}>Table</a>
    </div>
  );
}

function nextPath(name: string, filters: string, me: string, here?: Target): string {
  const params = new URLSearchParams(filters);
  params.set("by", me);
  params.delete("at");
  for (const part of here ? [here.dataset, here.id] : []) params.append("at", part);
  return `/api${pathTo("run", name, "next")}?${params}`;
}

function placeOf(name: string, filters: string, { dataset, id }: { dataset: string; id: string }): string {
  return `${pathTo("run", name, "rollout", dataset, id)}?${new URLSearchParams({ review: filters })}`;
}
