// Strikes secrets out of any text that leaves the program, and says what may be shown instead.

/**
 * Strikes out each secret, as is and in its encodings: URL-encoded, escaped in JSON, in base64 alone or inside
 * longer encoded text. Secrets of fewer than four characters and common placeholders for "no key" do not count.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(
    secrets.filter((secret) => secret.length >= MIN_LENGTH && !STAND_INS.has(secret.toLowerCase())).flatMap(formsOf),
  );
  if (forms.size === 0) return (text) => text;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escapePattern).join("|"), "g");
  return (text) => text.replace(pattern, "[redacted]");
}

const MIN_LENGTH = 4;
const STAND_INS = new Set(["empty", "none", "null", "dummy", "local", "ollama", "lm-studio", "not-needed", "no-key"]);

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const encoded = encodeURIComponent(bytes.toString());
  const form = new URLSearchParams([["", secret]]).toString().slice(1);
  const base64 = [0, 1, 2].map((offset) => insideBase64(bytes, offset));
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    ...[encoded, form].flatMap((text) => [text, text.replace(/%../g, (code) => code.toLowerCase())]),
    ...[bytes.toString("base64"), bytes.toString("base64").replace(/=+$/, ""), ...base64],
    ...[bytes.toString("base64url"), ...base64.map((text) => text.replace(/\+/g, "-").replace(/\//g, "_"))],
  ];
  return forms.filter((form) => form.length >= MIN_LENGTH);
}

/** The base64 characters that encode only these bytes, when `offset` other bytes (modulo three) come before them. */
function insideBase64(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** URLs in a text as they may be shown: with name and password replaced. */
export function hideLogin(url: string, replacement = ""): string {
  return url.replace(/(\w:\/\/)[^/@\s]+@/g, (_, scheme: string) => `${scheme}${replacement}`);
}

/** Whether a setting with this name holds a secret. */
export function isSecretName(name: string): boolean {
  return /key|token$|secret|password|auth|credential|cookie/i.test(name);
}
