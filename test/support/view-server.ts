// `rollout view` as a user starts it: a real process, with the address that it prints.
import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { PROGRAM, type Running } from "./cli.ts";

/** `cookie`: what the page sends with every request. */
export type ViewServer = {
  address: string;
  origin: string;
  cookie: string;
  child: ChildProcess;
  ended: Promise<number | null>;
  /** What it answers, with the cookie. */
  get<T = unknown>(path: string): Promise<{ status: number; json: T }>;
  send(path: string, body: unknown): Promise<{ status: number; json: { error?: string } }>;
  /** Asks again and again until the answer is right. */
  until<T>(path: string, isRight: (answer: T, status: number) => boolean): Promise<T>;
};

/** Root may read and write everything: where that matters, the server is somebody else's. */
export const STRANGER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

export type StartedAs = { uid?: number; gid?: number; env?: NodeJS.ProcessEnv };

export async function startView(args: string[], { env, ...user }: StartedAs = {}): Promise<ViewServer> {
  const child = spawn(process.execPath, [PROGRAM, "view", "--no-open", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
    ...user,
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
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
  return { ...asker(address), address, child, ended };
}

/** For whoever has the address. */
export function asker(address: string): Pick<ViewServer, "origin" | "cookie" | "get" | "send" | "until"> {
  const { origin, port, searchParams } = new URL(address);
  const cookie = `rollout-${port}=${searchParams.get("token")}`;
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(origin + path, { ...init, headers: { cookie, ...init.headers } });
    return { status: answer.status, json: await answer.json() };
  };
  return {
    origin,
    cookie,
    get: (path) => ask(path) as never,
    send: (path, body) =>
      ask(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }) as never,
    until: async (path, isRight) => {
      for (;;) {
        const began = performance.now();
        const { status, json } = await ask(path);
        if (isRight(json as never, status)) return json as never;
        // as the page does: what is slow to answer is asked less often
        const wait = Math.max(20, (performance.now() - began) * 10);
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    },
  };
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
