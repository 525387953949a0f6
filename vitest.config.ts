import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "agent-rollout": fileURLToPath(new URL("./src/index.ts", import.meta.url)) } },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // for tests that hang: no test depends on being quick
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "threads",
    isolate: false, // a worker loads each module once for all its files: tests leave nothing behind
    setupFiles: ["test/support/forget-secrets.ts"],
    unstubEnvs: true,
    maxWorkers: 3, // most of the time goes to child processes starting, so more workers than cores pay
  },
});
