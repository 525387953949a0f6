// How long a model call may take by default.
import type { PostLimits } from "./post.ts";
import type { CallSettings } from "./resolved.ts";

export const CONNECT_SECONDS = 10;
export const IDLE_SECONDS = 120;
const MAX_CALL_SECONDS = 600;

export function callLimits(settings: CallSettings, idleSeconds = IDLE_SECONDS): PostLimits {
  return { totalMs: (settings.timeoutSeconds ?? MAX_CALL_SECONDS) * 1000, idleMs: idleSeconds * 1000 };
}
