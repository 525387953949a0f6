// Text as a shell takes it.
export function quote(text: string): string {
  return /^[\w./:@%+=~\\-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
