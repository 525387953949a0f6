// What the errors of a database mean: it is away and will be back, two transactions met, or somebody has to do something.
import { messageOf } from "../core/index.ts";
import type { Address } from "./address.ts";

const AWAY = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "ENOENT"],
  ...["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EHOSTDOWN"],
  // shutting down, crashed, starting up, too many connections, no room, no memory, read-only after a switch
  ...["57P01", "57P02", "57P03", "53300", "53100", "53200", "25006"],
]);
const AWAY_TEXT =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|connection is closed|Client was closed/i;

export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  return AWAY.has(code) || code.startsWith("08") || AWAY_TEXT.test(messageOf(error));
}

/** A deadlock, or transactions that cannot be put in order: tried again at once. */
export function isClash(error: unknown): boolean {
  return ["40001", "40P01"].includes(codeOf(error));
}

/** What a row belongs to is no longer there. */
export function isOrphaned(error: unknown): boolean {
  return codeOf(error) === "23503";
}

/** One sentence for people; never the password. */
export function describeFailure({ place, user, database }: Address, error: unknown): string {
  const code = codeOf(error);
  const text = messageOf(error);
  if (code === "28P01" || code === "28000")
    return `The database at ${place} refuses the login of ${user || "this user"} (${text}): check user and password of the address`;
  if (code === "3D000") return `There is no database "${database}" at ${place.slice(0, place.lastIndexOf("/"))}`;
  if (code === "42501")
    return `${user || "This user"} may not use ${place} as a queue (${text}): it needs the right to create schemas there (GRANT CREATE ON DATABASE ${database} TO ${user})`;
  if (isAway(error)) return `The database at ${place} cannot be reached (${text})`;
  return `The database at ${place} cannot be used as a queue (${text})`;
}

function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  if (typeof code === "string") return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "";
}
