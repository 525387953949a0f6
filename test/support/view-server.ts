// `rollout view` as a user starts it: a real process, with the address that it prints.
import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { PROGRAM, type Running } from "./cli.ts";

/** `cookie`: what the page sends with every request. */
export type ViewServer = { address: string; origin: string; cookie: string };

export async function startView(args: string[]): Promise<ViewServer> {
  const child = spawn(process.execPath, [PROGRAM, "view", "--no-open", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  onTestFinished(async () => {
    child.kill("SIGINT");
    await ended;
  });
  const address = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const found = /^(http:\S+)$/m.exec(text)?.[1];
      if (found) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`rollout view ended with ${code}`)));
  });
  const { origin, port, searchParams } = new URL(address);
  return { address, origin, cookie: `rollout-${port}=${searchParams.get("token")}` };
}

/** The address of a page that another command serves, once it has printed it. */
export function printedAddress({ child, finished }: Running): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (text: string) => {
      printed += text;
      const address = /http:\S+/.exec(printed)?.[0];
      if (address) resolve(address);
    });
    void finished.then(({ stderr }) => reject(new Error(stderr)));
  });
}
