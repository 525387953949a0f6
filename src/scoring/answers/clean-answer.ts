// Answers as plain text: without markup, quotes and accents, so that only what they say is compared.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Without Markdown, LaTeX, tags and quotes; case and punctuation stay. */
export function cleanAnswer(text: string): string {
  return withoutLatex(text)
    .replace(/⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (raised) => `^${[...raised].map(lower).join("")}`)
    .replace(/(?<=\d)[\u00a0\u2009\u202f](?=\d{3})/g, ",")
    .replace(/(?<=\d)(?=[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])/g, " ")
    .normalize("NFKC")
    .replaceAll("⁄", "/")
    .normalize("NFD")
    .replace(/(\p{Script=Latin})[\u0300-\u036f]+/gu, "$1")
    .normalize("NFC")
    .replace(/[‐‑‒–—−]/g, (dash) => (dash === "—" ? " - " : "-"))
    .replace(/[’‘ʼ]/g, "'")
    .replace(/<\/?[a-z][^<>]{0,80}>/gi, " ")
    .replace(/!?\[([^[\]]+)\]\([^()\s]*\)/g, "$1")
    .replace(/\[\^?\d{1,3}\]|【[^】]{0,40}】/g, " ")
    .replace(/^[^\S\n]*(?:#{1,6}|>(?![^\S\n]*[\d.$€£-]))[^\S\n]+/gm, "")
    .replace(/(\*{2,3})(?=\S)([^*\n]+?)(?<=\S)\1/g, "$2")
    .replace(/(?<![\p{L}\p{N})\]}*])\*(?=[^\s*])([^*\n]+?)(?<=\S)\*(?![\p{L}\p{N}([{*])/gu, "$1")
    .replace(/(?<![\p{L}\p{N}])(_{1,3})(?=\S)([^_\n]+?)(?<=\S)\1(?![\p{L}\p{N}])/gu, "$2")
    .replace(/`+/g, "")
    .replace(/["“”«»「」『』《》]|(?<![\p{L}\p{N}])'|'(?![\p{L}\p{N}])/gu, "")
    .replace(/[^\S\n]+/g, " ")
    .trim();
}

const lower = (raised: string) => (raised === "⁻" ? "-" : SUPERSCRIPTS.indexOf(raised));

function withoutLatex(text: string): string {
  if (!/[\\$]/.test(text)) return text;
  return (
    text
      .replace(/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, "$1/$2")
      .replace(/\\(?:text|textbf|textit|mathrm|mathbf|mathit|operatorname|boxed)\s*\{([^{}]*)\}/g, "$1")
      .replace(/\^\{?\s*\\circ\s*\}?/g, "°")
      .replace(/\\(?:times|cdot)\b/g, "×")
      .replace(/\\(?:left|right|[,;:!]|quad)/g, " ")
      .replace(/\{,\}/g, ",")
      .replace(/\\([$%&#_{}])/g, "$1")
      .replace(/\\[()[\]]/g, " ")
      // as Pandoc tells formulas from prices
      .replace(/\$\$/g, " ")
      .replace(/\$(?=\S)([^$\n]*?)(?<=\S)\$(?!\d)/g, "$1")
  );
}

/** For equality: ignoring case, articles, punctuation and hyphens. */
export function foldAnswer(text: string): string {
  const bare = cleanAnswer(text)
    .toLowerCase()
    .replace(/^[^\S\n]*[-*•·][^\S\n]+/gm, "")
    .replace(/(?<![\p{L}\p{N}])(?:\p{L}\.){2,}/gu, (initials) => initials.replaceAll(".", ""))
    .replace(/&/g, " and ")
    .replace(/(?<=\p{L})-(?=\p{L})/gu, " ")
    .replace(/(?<=\p{L})'(?=\p{L})/gu, "")
    .replace(/[^\p{L}\p{M}\p{N}.%+#^/$€£¥₹<>≤≥≠±~≈-]+|\.(?!\d)|(?<![\p{L}\p{N}+#])[+#/^]|\/(?!\d)|-(?!\S)/gu, " ")
    .trim()
    .replace(/\s+/g, " ");
  return bare.replace(/\b(?:the|an?) (?=\S)/g, "").trim() || bare;
}
