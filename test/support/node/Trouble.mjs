// Every trouble that a server in JavaScript can make in a process of its own.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";

process.stdout.write("noise while loading\n");

export default {
  today: "2026-02-02",
  reads: {
    echo: (_context, args) => args,
    process: () => process.pid,
    place: () => ({ env: process.env, cwd: process.cwd(), files: readdirSync("."), tmp: tmpdir() }),
    noise: () => {
      process.stdout.write("noise\n".repeat(10_000));
      process.stderr.write("more noise\n");
      return { ok: true };
    },
  },
  writes: {
    add_note: (context, { text }) => {
      context.session.count = (context.session.count ?? 0) + 1;
      const row = { note_id: context.newId("N"), text, at: context.now() };
      return { ...context.table("Note").insert(row), count: context.session.count };
    },
    block: () => {
      for (;;);
    },
    block_once: (_context, { mark }) => {
      if (existsSync(mark)) return { ok: true };
      writeFileSync(mark, "");
      for (;;);
    },
    never: () => new Promise(() => {}),
    exit: () => process.exit(7),
    forget: () => {
      void Promise.reject(new Error("forgotten"));
      return { ok: true };
    },
    uncertain: () => process.hrtime.bigint().toString(),
    start_child: () => spawn("sleep", ["600"], { stdio: "ignore" }).pid,
    write_reply: (_context, { text }) => {
      writeSync(5, text);
      return { ok: true };
    },
  },
};
