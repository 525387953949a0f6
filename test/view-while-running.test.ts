// `--view` on every command that runs rollouts: the page is there while models are waited for, Ctrl-C ends both while
// pages listen, and `resume --view` goes on with a page of its own.
import { expect, onTestFinished, test } from "vitest";
import type { RunCard } from "../src/viewer/api.ts";
import { type Running, untilStopping, type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, serveModel } from "./support/model-server.ts";
import { asker } from "./support/view-server.ts";

const BUNDLED = ["--bundled", "--limit", "2"];
const COMMANDS: { [name: string]: string[] } = {
  run: ["run", "--config", "own.yml"],
  single: ["single", "--domains", "StudentHealthServices", ...BUNDLED],
  cross: ["cross", "--domains", "StudentAcademicPortal", "StudentFinancialServices", ...BUNDLED],
  multi: ["multi", "--input", "questions.jsonl"],
};

/** A model that answers nobody until it is told to. */
async function holdModel(work: WorkFolder): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answer = JSON.stringify(completion({ content: "Done." }));
  const server = await serveModel((response) => {
    void released.then(() => response.setHeader("content-type", "application/json").end(answer));
  });
  onTestFinished(() => server.close());
  work.write("models.yml", `models:\n  held:\n    provider: openai\n    api_base: ${server.baseUrl}\n`);
  return release;
}

function watched({ child, finished }: Running): Promise<string> {
  onTestFinished(() => void child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (text: string) => {
      said += text;
      const found = /http:\S+token=\S+/.exec(said)?.[0];
      if (found) resolve(found);
    });
    void finished.then(({ stderr }) => reject(new Error(stderr)));
  });
}

test.each(Object.keys(COMMANDS))("%s --view: Ctrl-C while the page listens, then resume --view", async (name) => {
  const work = workFolder();
  const release = await holdModel(work);
  work.write(
    "own.yml",
    "datasets: [StudentHealthServices]\nbundled: true\nlimit: 2\noutput_dir: out\nagent_model: openai/held\n",
  );
  work.write("questions.jsonl", `${JSON.stringify({ question: "What is 6 times 7?", answer: "42" })}\n`);
  const flags = ["--output-dir", "out", "--models-config", "models.yml", "--quiet", "--view"];
  const running = work.start([...(COMMANDS[name] as string[]), "--agent-model", "openai/held", ...flags]);
  const { origin, cookie, until } = asker(await watched(running));
  await until<RunCard[]>("/api/runs", (all) =>
    all.some(({ state, running: count }) => state === "running" && count > 0),
  );
  const stream = await fetch(`${origin}/api/changes`, { headers: { cookie } });
  const stopping = untilStopping(running.child);
  running.child.kill("SIGINT");
  await stopping;
  // no new work, and the reply in flight is still waited for: the page is there
  await until<RunCard[]>("/api/runs", ([card]) => card?.state === "running");
  running.child.kill("SIGINT");
  expect((await running.finished).code).toBe(130);
  await expect(stream.text()).rejects.toThrow();

  const resumed = work.start(["resume", "out", "--quiet", "--view"]);
  const again = asker(await watched(resumed));
  const seen = again.until<RunCard[]>("/api/runs", ([card]) => card?.state === "running");
  await seen;
  const listening = await fetch(`${again.origin}/api/changes`, { headers: { cookie: again.cookie } });
  release();
  const { code, stderr } = await resumed.finished;
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^The run can be watched at http:\S+\n$/)]);
  await expect(listening.text()).rejects.toThrow();
});
