import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { UsageError } from "../core/index.ts";
import { loadDefaultExport } from "./load-module.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-module-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

describe("a module of the user's", () => {
  test("may be TypeScript, with types from the library that leave no trace", async () => {
    const file = write(
      "Typed.ts",
      `import type { DomainServer } from "agent-rollout";
       type Book = { book_id: string };
       const title = (book: Book): string => book.book_id satisfies string;
       export default { today: "2026-01-01", reads: { title: () => title({ book_id: "b" } as Book) }, writes: {} } satisfies DomainServer;`,
    );
    expect(await loadDefaultExport(file)).toMatchObject({
      today: "2026-01-01",
      reads: { title: expect.any(Function) },
    });
  });

  test("may import a file next to it", async () => {
    write("shared.ts", "export const today: string = '2026-01-02';");
    const file = write("Sharing.ts", `import { today } from "./shared.ts"; export default { today };`);
    expect(await loadDefaultExport(file)).toEqual({ today: "2026-01-02" });
  });

  test("may be JavaScript, also in a folder that no package declares as modules", async () => {
    expect(await loadDefaultExport(write("plain.mjs", "export default { plain: 1 };"))).toEqual({ plain: 1 });
    expect(await loadDefaultExport(write("bare.js", "export default { bare: 1 };"))).toEqual({ bare: 1 });
  });

  test("may lie in a folder whose name has a space", async () => {
    expect(await loadDefaultExport(write("single domain/Odd.mjs", "export default 1;"))).toBe(1);
    expect(await loadDefaultExport(write("single domain/Odder.ts", "export default 2 as number;"))).toBe(2);
  });

  test.each([
    ["without a default export", "none.mjs", "export const a = 1;", "has no default export"],
    ["with a syntax error", "syntax.mjs", "export default {", "cannot be loaded"],
    ["with a syntax error in TypeScript", "syntax.ts", "export default {", "cannot be loaded"],
    ["that throws", "throws.mjs", "throw new Error('no database')", "cannot be loaded: no database"],
    ["that imports what is not there", "missing.mjs", "import './nowhere.mjs'; export default 1;", "cannot be loaded"],
  ])("%s is a usage error that names the file", async (_what, name, text, message) => {
    const file = write(name, text);
    const error = await loadDefaultExport(file).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).location?.file).toBe(file);
    expect((error as UsageError).reason).toContain(message);
  });
});
