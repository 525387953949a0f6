// A check of one's own: `rollout eval FOLDER --check examples/checks/polite.ts`. It looks at what the agent said to the user.
import type { CheckContext, CheckResult } from "agent-rollout";

export default function polite({ dialogue }: CheckContext): CheckResult {
  const rude = dialogue.agent.find(({ text }) => /\b(stupid|shut up|obviously)\b/i.test(text));
  return rude
    ? { pass: false, score: 0, reason: `the agent said "${rude.text.slice(0, 80)}"` }
    : { pass: true, score: 1, reason: `${dialogue.agent.length} polite replies` };
}
