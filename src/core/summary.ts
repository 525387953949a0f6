// A context that is full goes on from a summary: how one is asked for, and how it stands in place of what it replaces.

export const SUMMARY_REQUEST = `The context is nearly full, and what you see of this conversation will be replaced by your summary of it. Do not call a tool and do not answer the user now. Write the summary: what is wanted, what was tried, every fact found that matters with its source (names, numbers, dates, ids, addresses exactly as they are), what is still open, and what to do next. Leave out what led nowhere.`;

export const ANSWER_REQUEST =
  "The context is nearly full: no more tools can be called. Give your final answer now, from what you have found so far, in the form that was asked for.";

/** Between results and what we ask for then: some templates refuse a user message after a tool's. */
export const RESULTS_READ = "I have read these results.";

const INTRODUCTION =
  "You have worked on this already. What was said and found so far is replaced by this summary; go on from there.";

/** The one message that stands for a dialogue: what the agent was asked last, and the summary of its work. */
export function joinSummary(asked: string, summary: string): string {
  return `${asked}\n\n${INTRODUCTION}\n\n<summary>\n${summary}\n</summary>`;
}

/** The parts of such a message; undefined if it is none. */
export function splitSummary(text: string): { asked: string; summary: string } | undefined {
  const at = text.lastIndexOf(`\n\n${INTRODUCTION}\n\n<summary>\n`);
  if (at === -1) return undefined;
  const summary = text.slice(text.indexOf("<summary>\n", at) + "<summary>\n".length);
  return { asked: text.slice(0, at), summary: summary.replace(/\n<\/summary>$/, "") };
}
