// The names under which the page's server can be asked for, so that a name that somebody else points at it is refused.
import { hostname, networkInterfaces } from "node:os";

const LOOPBACK = ["127.0.0.1", "localhost", "::1"];
const EVERYWHERE = ["0.0.0.0", "::"];

/** As they stand in a `Host` header, the one to print first. `address` is what `host` turned out to be. */
export function listHosts(host: string, address: string, port: number): string[] {
  const names = [...namesOf(host, address)].map((name) => (name.includes(":") ? `[${name}]` : name).toLowerCase());
  return names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
}

function namesOf(host: string, address: string): Set<string> {
  if (!EVERYWHERE.includes(address)) return new Set([host, ...LOOPBACK]);
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const addresses = own.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address);
  return new Set([...addresses, hostname(), ...LOOPBACK]);
}
