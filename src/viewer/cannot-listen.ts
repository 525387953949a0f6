// Why the page's server cannot listen, and what to do about it.
import { messageOf, UsageError } from "../core/index.ts";

export function cannotListen(error: unknown, host: string, port: number): UsageError {
  const { code } = error as NodeJS.ErrnoException;
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const another = "Choose another with --port; 0 takes any that is free";
  if (code === "EADDRINUSE")
    return new UsageError(`Something listens on ${place} already, perhaps this program. ${another}`);
  if (code === "EACCES") return new UsageError(`You may not listen on ${place}. ${another}`);
  if (code === "ERR_SOCKET_BAD_PORT")
    return new UsageError(`There is no port ${port}: the last one is 65535. ${another}`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return new UsageError(`This machine has no address ${host}. Leave --host out to listen on 127.0.0.1`);
  return new UsageError(`Cannot listen on ${place} (${messageOf(error)}). Try another --host or --port`);
}
