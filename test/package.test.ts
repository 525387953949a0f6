// What `npm publish` would send: its name, what is in it, and that its pages lead nowhere that is not in it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Packs the built program as it stands and unpacks it elsewhere. */
function unpack(): { folder: string; files: Set<string> } {
  const place = mkdtempSync(join(tmpdir(), "rollout-package-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  execFileSync("npm", ["pack", root, "--ignore-scripts", "--silent"], { cwd: place, stdio: "pipe" });
  execFileSync("tar", ["-xzf", ...readdirSync(place)], { cwd: place });
  const folder = join(place, "package");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return { folder, files: new Set(files.map((file) => file.replaceAll("\\", "/"))) };
}

test("the package has a name that is free, the command's own, and everything that its pages link to", () => {
  const { folder, files } = unpack();
  const { name, bin, repository } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect({ name, bin }).toEqual({ name: "agent-rollout", bin: { rollout: "bin/rollout.js" } });
  expect(repository.url).toMatch(/^git\+https:/);
  for (const file of ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "NOTICE", "examples/library.ts"])
    expect(files).toContain(file);

  const pages = [...files].filter((file) => file.endsWith(".md"));
  expect(pages.length).toBeGreaterThan(20);
  const dead = pages.flatMap((page) =>
    linksOf(readFileSync(join(folder, page), "utf8"))
      .map((link) => posix.join(posix.dirname(page), link).replace(/\/$/, ""))
      .filter((target) => !files.has(target))
      .map((target) => `${page} → ${target}`),
  );
  expect(dead).toEqual([]);
});

test("the unpacked package runs", () => {
  const { folder } = unpack();
  symlinkSync(join(root, "node_modules"), join(dirname(folder), "node_modules"));
  const run = (...args: string[]) =>
    execFileSync(process.execPath, ["bin/rollout.js", ...args], { cwd: folder, encoding: "utf8" });
  expect(run("--version").trim()).toBe(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
  expect(run("run", "--config", "configs/example.yml", "--dry-run")).toContain("Nothing was written.");
  expect(run("models", "show", "deepseek/deepseek-chat")).toContain("DEEPSEEK_API_KEY");
});

/** Links within the package, of Markdown and of the HTML in it, without their anchors. */
function linksOf(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?```/g, "").replace(/`[^`\n]*`/g, "");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(([, a, b]) => (a ?? b) as string);
  return links.filter((link) => !/^(\w+:|#)/.test(link)).map((link) => link.replace(/#.*$/, ""));
}
