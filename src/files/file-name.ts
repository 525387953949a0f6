// User-given names as parts of paths.
import { contentHash } from "../core/index.ts";

/** A name as one part of a path: never empty, `.`, `..` or a separator; two names never share a file. */
export function fileName(name: string): string {
  const encoded = encodeURIComponent(name.replace(/\p{Surrogate}/gu, (half) => `\ufffd${half.charCodeAt(0)}`))
    .replace(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^\./, "%2E");
  if (encoded === "") return "~";
  return encoded.length <= MAX_NAME ? encoded : `${encoded.slice(0, MAX_NAME - 17)}~${contentHash(name)}`;
}

/** In bytes, with room for an extension: file systems allow at most 255. */
const MAX_NAME = 200;
