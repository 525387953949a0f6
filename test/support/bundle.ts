// A run as it is on this machine, and the same on another one: packed in a folder that is gone when it is unpacked.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Trajectory } from "../../src/core/index.ts";
import { type WorkFolder, workFolder } from "./cli.ts";
import { canonical } from "./network-run.ts";

const STEPS = fileURLToPath(new URL("bundle-steps.mjs", import.meta.url));

export type Step = { code: number | null; stdout: string; stderr: string };
export type Packed = { files: string[]; needs: string[]; notes: string[] };
type Env = { [name: string]: string };

/** `project` is written by the test; everything else is next to it. */
export class TwoMachines {
  readonly work: WorkFolder = workFolder();
  readonly project: string = join(this.work.path, "home", "project");
  #moved = 0;

  constructor() {
    mkdirSync(this.project, { recursive: true });
  }

  write(file: string, text: string): void {
    this.work.write(join("home", "project", file), text);
  }

  /** Relative to the project, as a user starts it there. */
  async here(config: string, env: Env = {}): Promise<string[]> {
    const out = join(this.work.path, "out-here");
    const { code, stderr, stdout } = await this.#step(this.project, ["here", config, out], env);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ failed: 0, left: 0 });
    return this.records("out-here");
  }

  async pack(config: string, env: Env = {}): Promise<Packed> {
    const { stderr, stdout } = await this.tryPacking(config, env);
    expect(stderr).toBe("");
    return JSON.parse(stdout) as Packed;
  }

  tryPacking(config: string, env: Env = {}): Promise<Step> {
    return this.#step(this.project, ["pack", config, join(this.work.path, "store")], env);
  }

  /** Nothing of the project can be found any more. */
  leave(): void {
    renameSync(join(this.work.path, "home"), join(this.work.path, `gone-${this.#moved++}`));
  }

  async there(env: Env = {}): Promise<string[]> {
    const { code, stderr, stdout } = await this.tryThere(env);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ failed: 0, left: 0 });
    return this.records("out-there");
  }

  tryThere(env: Env = {}, out = "out-there"): Promise<Step> {
    const elsewhere = join(this.work.path, "elsewhere");
    mkdirSync(elsewhere, { recursive: true });
    const args = ["there", ...["store", "cache", out].map((name) => join(this.work.path, name))];
    return this.#step(elsewhere, args, env);
  }

  records(out: string): string[] {
    const folder = join(this.work.path, out);
    const lines = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /^(trajectories\/.*|iter\d+)\.jsonl$/.test(name))
      .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean));
    return canonical(lines.map((line) => JSON.parse(line) as Trajectory));
  }

  #step(cwd: string, args: string[], env: Env): Promise<Step> {
    const { PATH = "", HOME = "" } = process.env;
    const child = spawn(process.execPath, [STEPS, ...args], { cwd, env: { PATH, HOME: HOME || dirname(cwd), ...env } });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    return new Promise((done, fail) => {
      child.on("error", fail);
      child.on("close", (code) => done({ code, stdout, stderr }));
    });
  }
}
