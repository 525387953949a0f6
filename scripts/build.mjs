// Builds dist/: compiles the sources and copies the bundled domains' data next to them. Runs on `npm install` (prepare).
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
let tsc;
try {
  tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
} catch {
  if (existsSync(join(root, "dist", "index.js"))) process.exit(0); // installed without development packages, already built
  console.error("TypeScript is not installed, so dist/ cannot be built. Run `npm install` without --omit=dev.");
  process.exit(1);
}

// built next to it and swapped in whole, so that a failed build leaves the old one and no half-built one is ever seen
const dist = join(root, "dist");
const fresh = join(root, `dist.${process.pid}.new`);
const compiled = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json"), "--outDir", fresh], {
  stdio: "inherit",
});
if (compiled.status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(compiled.status ?? 1);
}

// the page, whose sources are not Node's: a few files for browsers, next to the server that hands them out
const { build } = await import("vite");
await build({
  configFile: join(root, "page", "vite.config.mjs"),
  build: { outDir: join(fresh, "viewer", "page"), emptyOutDir: true },
});

const isAsset = (path) => !path.endsWith(".ts") && !/[\\/]__pycache__([\\/]|$)/.test(path);
for (const assets of ["domains/bundled", "models/catalogue", "tools/python", "export/formats", "import/servers"]) {
  const from = join(root, "src", assets);
  if (existsSync(from)) cpSync(from, join(fresh, assets), { recursive: true, filter: isAsset });
}

// as they are: `rollout init` writes them into users' folders
cpSync(join(root, "src", "domains", "starter"), join(fresh, "domains", "starter"), { recursive: true });

const old = join(root, `dist.${process.pid}.old`);
if (existsSync(dist)) renameSync(dist, old);
renameSync(fresh, dist);
rmSync(old, { recursive: true, force: true });
