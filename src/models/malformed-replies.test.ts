import { expect, test } from "vitest";
import { MALFORMED, malformedReply } from "./malformed-replies.ts";

test.each(MALFORMED.map((row) => [row.server, row] as const))(
  "%s: the model's text is taken from the error",
  (_, row) => {
    const { status, body, pattern } = row;
    const reply = malformedReply({ status, text: body });
    expect(reply).toMatchObject({ malformed: true, toolCalls: [], finish: "other" });
    expect(body.replace(/\\"/g, '"')).toContain(reply?.content);
    expect(reply?.content).not.toBe("");
    expect(pattern.test(body) || body.includes("failed_generation")).toBe(true);
  },
);

test("what was written is given as it was", () => {
  const text = (index: number) =>
    malformedReply({ status: MALFORMED[index]?.status ?? 0, text: MALFORMED[index]?.body ?? "" })?.content;
  expect(text(0)).toBe("</tool_call>");
  expect(text(1)).toBe('{"input":"a"}]');
  expect(text(2)).toBe('<function=brave_search>{"query": "Hello!"}</function>');
});

test("a proxy's wrapping does not hide it, and other errors are none", () => {
  const wrapped = { error: { message: `litellm.BadRequestError: GroqException - ${MALFORMED[2]?.body}`, code: "400" } };
  expect(malformedReply({ status: 400, text: JSON.stringify(wrapped) })?.content).toContain("<function=brave_search>");
  for (const [status, text] of [
    [500, '{"error":{"message":"Internal server error"}}'],
    [500, '{"error":{"message":"Failed to parse tool call arguments as JSON"}}'],
    [400, '{"error":{"message":"Failed to parse the request body as JSON"}}'],
    [429, '{"error":{"message":"Failed to parse input at pos 3: x"}}'],
    [200, MALFORMED[0]?.body ?? ""],
    [503, ""],
  ] as const)
    expect(malformedReply({ status, text })).toBeUndefined();
});
