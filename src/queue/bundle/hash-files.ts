// Files read in pieces: their hashes, and whether a secret of this machine is in one. Hundreds of megabytes pass through
// here, one piece at a time.
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const PIECE_BYTES = 1 << 20;
/** Of the piece before, so that nothing is missed between two. */
const OVERLAP = 512;

export async function* readPieces(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file);
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

export async function hashFile(file: string, onPiece: (piece: Buffer) => void = () => {}): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of readPieces(file)) {
    hash.update(piece);
    onPiece(piece);
  }
  return hash.digest("hex");
}

/** Told the pieces of a file in turn; whether one of the secrets has been among them, in any spelling. */
export function createSecretSearch(redact: (text: string) => string): {
  search(piece: Buffer): void;
  isFound(): boolean;
} {
  let tail = "";
  let found = false;
  return {
    search(piece) {
      const text = tail + piece.toString("latin1");
      found ||= redact(text) !== text;
      tail = text.slice(-OVERLAP);
    },
    isFound: () => found,
  };
}
