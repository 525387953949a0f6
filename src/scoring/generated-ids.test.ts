import { expect, test } from "vitest";
import { GeneratedIds } from "./generated-ids.ts";

const [A, B] = ["3f2b8c1e-0d4a-4c55-9a7e-1b2c3d4e5f60", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"];

function learned(...pairs: [unknown, unknown][]): GeneratedIds {
  const ids = new GeneratedIds();
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  for (const [recorded, replayed] of pairs) ids.learn(text(recorded), text(replayed));
  return ids;
}

test("an id at the same place stands for the same thing, alone or inside a text", () => {
  const ids = learned(
    [{ booking: { id: A } }, { booking: { id: B } }],
    ["Refund REF-00aa11bb is on its way.", "Refund REF-cc22dd33 is on its way."],
  );
  expect(ids.rename(`{"id":"${A}","note":"\\nREF-00aa11bb, ${A}"}`)).toBe(
    `{"id":"${B}","note":"\\nREF-cc22dd33, ${B}"}`,
  );
});

test("times, other spacing and another order of the keys do not matter", () => {
  const ids = learned([`{ "at": "09:10", "id": "${A}" }`, `{"id":"${B}","at":"11:45"}`]);
  expect(ids.rename(A)).toBe(B);
});

test("an id that both results hold, another prefix and lists of other lengths say nothing", () => {
  const ids = learned(
    [
      ["APT-11111111", "APT-22222222"],
      ["APT-22222222", "APT-33333333"],
    ],
    [{ id: "PAY-11112222" }, { id: "REF-33334444" }],
    [{ ids: ["TR-aaaaaaaa"] }, { ids: ["TR-bbbbbbbb", "TR-cccccccc"] }],
  );
  const recorded = "APT-22222222 PAY-11112222 TR-aaaaaaaa";
  expect(ids.rename(recorded)).toBe(recorded);
});

test("the first meaning of an id stays, and a new id that looks like a recorded one is not translated again", () => {
  const ids = learned(
    [{ id: "APT-11111111" }, { id: "APT-22222222" }],
    [{ id: "APT-11111111" }, { id: "APT-99999999" }],
    [{ id: "APT-22222222" }, { id: "APT-33333333" }],
  );
  expect(ids.rename("APT-11111111 APT-22222222")).toBe("APT-22222222 APT-33333333");
});
