// The page in the person's own browser.
import { spawn } from "node:child_process";
import type { Host } from "./host.ts";

/** Where there is a screen; nothing is said if it fails, the address is printed. */
export function openBrowser(host: Host, address: string): void {
  const { DISPLAY, WAYLAND_DISPLAY } = host.env;
  const [command, ...args] =
    process.platform === "darwin"
      ? ["open", address]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", "", address]
        : ["xdg-open", address];
  if (process.platform === "linux" && !DISPLAY && !WAYLAND_DISPLAY) return;
  const child = spawn(command as string, args, { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
