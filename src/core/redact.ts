// Strikes secrets out of texts, however they are written there, and says what may be shown instead.

/** What stands where a secret was. */
export const STRUCK = "[redacted]";

/** Secrets of fewer characters do not count. */
const MIN_LENGTH = 4;

/** Strikes out each secret in every spelling: see `spell`. Most texts hold none, and are searched once, quickly. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const counted = [...new Set(secrets)].filter(isWorthHiding);
  if (counted.length === 0) return (text) => text;
  const forms = [...new Set(counted.sort((a, b) => b.length - a.length).flatMap(formsOf))];
  const hint = new RegExp([...new Set(forms.map(hintOf))].join("|"));
  const pattern = new RegExp(forms.map(spell).join("|"), "g");
  return (text) => (hint.test(text) ? text.replace(pattern, STRUCK) : text);
}

/** The longest part of a text that is the same in all spellings. */
function hintOf(form: string): string {
  const runs = form.match(/[A-Za-z0-9]+/g)?.sort((a, b) => b.length - a.length);
  return runs?.[0] ?? spell(form);
}

/** Whether a value can be a secret at all: not very short, and no usual word for "no key". */
export function isWorthHiding(value: string): boolean {
  return value.length >= MIN_LENGTH && !STAND_INS.has(value.toLowerCase());
}

const STAND_INS = new Set([
  ...["empty", "none", "null", "true", "false", "undefined", "dummy", "fake", "mock", "test", "local", "unused"],
  ...["ollama", "vllm", "lm-studio", "not-needed", "no-key", "no-key-required", "sk-no-key-required", "placeholder"],
]);

/** A secret as it is, and inside longer base64 text at each of the three offsets, in both alphabets. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  if (bytes.length < MIN_ENCODED) return [secret];
  const alone = bytes.toString("base64");
  const encoded = [alone, alone.replace(/=+$/, ""), ...[0, 1, 2].map((offset) => insideBase64(bytes, offset))];
  return [secret, ...encoded.flatMap((text) => [text, text.replace(/\+/g, "-").replace(/\//g, "_")])];
}

/** Less of base64 is too likely to be something else. */
const MIN_ENCODED = 6;

/** The base64 characters that encode only these bytes, when `offset` other bytes (modulo three) come before them. */
function insideBase64(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/**
 * A pattern for a text that may be URL-encoded or escaped in JSON or HTML, character by character and several times over:
 * the ways in which servers repeat what they were sent. Letters and digits are the same in all of them.
 */
function spell(text: string): string {
  return [...text].map((character, index) => spellOne(character, index === 0 ? AT_FIRST : BACKSLASHES)).join("");
}

/** JSON inside JSON inside JSON: each level doubles the backslashes and adds one. */
const BACKSLASHES = "\\\\*";
/** A long row of them is looked at once, not from each of its members. */
const AT_FIRST = `(?<!\\\\)${BACKSLASHES}`;

function spellOne(character: string, backslashes: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.codePointAt(0) as number;
  const bytes = [...Buffer.from(character)].map((byte) => byte.toString(16).padStart(2, "0"));
  const units = [...Array(character.length).keys()].map((at) => character.charCodeAt(at).toString(16).padStart(4, "0"));
  const escaped = units.map((unit) => `\\\\u${anyCase(unit)}`).join(BACKSLASHES);
  const letter = { "\n": "n", "\r": "r", "\t": "t" }[character];
  const ways = [
    `${backslashes}(?:${escapePattern(character)}|${escaped}${letter ? `|\\\\${letter}` : ""})`,
    bytes.map((byte) => `%(?:25)*${anyCase(byte)}`).join(""),
    `&#(?:0*${code}|[xX]0*${anyCase(code.toString(16))});`,
    ...(NAMED[character] ?? []),
  ];
  return `(?:${ways.join("|")})`;
}

const NAMED: { [character: string]: string[] } = {
  '"': ["&quot;"],
  "&": ["&amp;"],
  "'": ["&apos;"],
  "<": ["&lt;"],
  ">": ["&gt;"],
  " ": ["\\+"],
};

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** URLs in a text as they may be shown: with name and password replaced. */
export function hideLogin(url: string, replacement = ""): string {
  return url.replace(/(\w:\/\/)[^/?#\s]+@/g, (_, scheme: string) => `${scheme}${replacement}`);
}

/** Whether a setting with this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !HARMLESS_NAME.test(name);
}

const SECRET_NAME = /key|token$|secret|passw(or)?d|passphrase|auth|credential|cookie|signature|^sig$/i;
/** Parts of requests that only sound like it: what a cache goes by, and what a tokenizer calls its marks. */
const HARMLESS_NAME =
  /cache_?key$|(?:^|_)(?:eos|bos|pad|unk|sep|cls|mask|stop|start|end|begin|next|page)_?token$|keyword|keyboard|^author(?:s|_?name)?$/i;
