// A user whose lines are fixed: the source has what it said, not why.
export function describeLines(lines: string[]): string {
  const numbered = lines.map((line, index) => `${index + 1}. ${line}`).join("\n\n");
  return `You say these messages, one each time that it is your turn, in this order and word for word, whatever the agent answers. When you have said the last one and the agent has answered it, you are done.\n\n${numbered}`;
}
