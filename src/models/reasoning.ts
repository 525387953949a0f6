// Splits off reasoning that a model wrote into its text, so that it is recorded in one place with every provider.

const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Splits `<think>…</think>` off a text. A text that only closes its thinking (the template wrote the opening tag) is
 * reasoning up to the tag; one that opens with a tag and never closes it is all reasoning. Other text stays as it is.
 */
export function splitThinking(text: string): { content: string; reasoning?: string } {
  if (!text.includes(CLOSE)) {
    const start = text.trimStart();
    return start.startsWith(OPEN) ? withReasoning("", start.slice(OPEN.length)) : { content: text };
  }
  let rest = text;
  let content = "";
  const thoughts: string[] = [];
  for (let close = rest.indexOf(CLOSE); close !== -1; close = rest.indexOf(CLOSE)) {
    const open = rest.indexOf(OPEN);
    const opened = open !== -1 && open < close;
    // a second closing tag without its opening one is the model's own text
    if (!opened && thoughts.length > 0) break;
    content += opened ? rest.slice(0, open) : "";
    thoughts.push(rest.slice(opened ? open + OPEN.length : 0, close).trim());
    rest = rest.slice(close + CLOSE.length);
  }
  return withReasoning((content + rest).trim(), thoughts.filter(Boolean).join("\n"));
}

/** Joins reasoning from two places into one text; undefined if there is none. */
export function joinReasoning(first: string | undefined, second: string | undefined): string | undefined {
  return [first, second].filter(Boolean).join("\n") || undefined;
}

function withReasoning(content: string, reasoning: string): { content: string; reasoning?: string } {
  const text = reasoning.trim();
  return text === "" ? { content } : { content, reasoning: text };
}
