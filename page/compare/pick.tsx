// A button of a row: picks it, and with a second one picked, compares the two.
import { pick, picked } from "./place.ts";

/** `place`: RUN or RUN/DATASET/ID; `name` is said to people. */
export function PickButton({ place, name }: { place: string; name: string }) {
  const isPicked = picked.value === place;
  const word = isPicked ? "picked" : picked.value === undefined ? "compare" : "with this";
  return (
    <button
      type="button"
      class="more pick"
      aria-pressed={isPicked}
      aria-label={`${isPicked ? "Do not compare" : picked.value === undefined ? "Compare" : "Compare with"} ${name}`}
      onClick={() => pick(place)}
    >
      {word}
    </button>
  );
}
