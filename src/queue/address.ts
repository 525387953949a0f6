// The address of a queue's database. Its password is never shown.
import { learnSecret, UsageError } from "../core/index.ts";

export type Address = {
  url: string;
  /** host, port and database, for messages */
  place: string;
  user: string;
  database: string;
};

export function readAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.password) learnSecret(decode(url.password));
  if (!url || !/^postgres(ql)?:$/.test(url.protocol))
    throw new UsageError(
      "The queue needs the address of a PostgreSQL database, such as postgres://user:password@host:5432/database",
    );
  const host = url.hostname || url.searchParams.get("host") || "localhost";
  const user = decode(url.username) || url.searchParams.get("user") || "";
  const database = decode(url.pathname.slice(1)) || user || "postgres";
  return { url: text, place: `${host}:${url.port || "5432"}/${database}`, user, database };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
