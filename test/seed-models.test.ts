import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { writeShop } from "./support/shop-dataset.ts";

const ENTRY = "{provider: openai, api_base: http://127.0.0.1:1/v1}";

test("configs/models.yml is read where it exists and no file is named, by every command that knows models", async () => {
  const work = workFolder();
  writeShop(work);
  work.write("configs/models.yml", `models:\n  deepseek-v3.2-fc: ${ENTRY}\n  gpt-5: ${ENTRY}\n`);
  const plan = ["single", "--domains", "Domain1", "--base-path", "shop", "--dry-run"];
  const single = await work.run(plan);
  expect(single).toMatchObject({ code: 0, stderr: "" });
  expect(single.stdout).toMatch(/Domain1 .* openai\/deepseek-v3\.2-fc +openai\/gpt-5 /);
  expect((await work.run(["models", "list"])).stdout).toMatch(/^openai\/deepseek-v3\.2-fc /m);
  expect((await work.run(["models", "show", "openai/gpt-5"])).stdout).toContain("http://127.0.0.1:1/v1");

  work.write("other.yml", `models:\n  gpt-5: ${ENTRY}\n`);
  const named = await work.run([...plan, "--models-config", "other.yml"]);
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining("No model is named for the agent")]);
});

test("a name of the public catalogue means the registry's model of that name, not the public endpoint", async () => {
  const work = workFolder();
  work.write("configs/models.yml", `models:\n  deepseek-chat: ${ENTRY}\n`);
  const { stdout } = await work.run(["models", "show", "deepseek/deepseek-chat"]);
  expect(stdout).toContain("http://127.0.0.1:1/v1");
  expect(stdout).toContain("no key needed");
});

test("a mistake in configs/models.yml has its line, and says why the file is read at all", async () => {
  const work = workFolder();
  work.write("configs/models.yml", "models:\n  a:\n    api_bas: http://x\n");
  const { code, stderr } = await work.run(["single", "--all", "--limit", "1"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^configs\/models\.yml:3:5: .*unknown key "api_bas".*\nconfigs\/models\.yml is read because/);
  expect(work.names()).toEqual(["configs"]);
});
