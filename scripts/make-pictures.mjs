// The pictures of the README: a real run of bundled domains with a scripted agent and a fixed seed, as the page shows it.
// `npm run build && node scripts/make-pictures.mjs` writes docs/pictures/run.png and docs/pictures/dialogue.png.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";

const program = fileURLToPath(new URL("../bin/rollout.js", import.meta.url));
const pictures = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const { openBrowser } = await createJiti(import.meta.url).import("../test/support/browser.ts");

const folder = mkdtempSync(join(tmpdir(), "rollout-pictures-"));
try {
  const run = ["single", "--all", "--bundled", "--rollouts", "4", "--eval", "--seed", "7", "--quiet"];
  const agent = ["--agent-model", "scripted/agent?skill=0.7", "--output-dir", join(folder, "outputs", "skill")];
  execFileSync(process.execPath, [program, ...run, ...agent], { cwd: folder, stdio: "inherit" });
  const server = spawn(process.execPath, [
    program,
    "view",
    join(folder, "outputs"),
    "--no-open",
    "--annotator",
    "Mei Lin",
  ]);
  try {
    const address = await new Promise((resolve) => {
      server.stdout.on("data", (text) => resolve(/http:\S+/.exec(String(text))?.[0]));
    });
    await takePictures(new URL(address));
  } finally {
    server.kill("SIGINT");
  }
} finally {
  rmSync(folder, { recursive: true });
}

async function takePictures(address) {
  mkdirSync(pictures, { recursive: true });
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  await page.goto(address.href);
  for (const [name, path] of [
    ["run", "/run/skill"],
    ["dialogue", "/run/skill/rollout/StudentHealthServices/shs-001"],
  ]) {
    await page.goto(address.origin + path);
    await page.waitForSelector("main h1");
    await page.waitForLoadState("load");
    await page.evaluate("document.fonts.ready");
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
  await browser.close();
}
