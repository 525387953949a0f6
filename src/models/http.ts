// Connections to model servers: one set of them per origin, direct or through the proxy that the environment names.
// The HTTP client's own time limits are off; each call sets its own.
import { createRequire } from "node:module";
import { BlockList, isIP } from "node:net";
import type { Dispatcher } from "undici";
import { UsageError } from "../core/index.ts";
import { CONNECT_SECONDS } from "./call-limits.ts";
import { createConnections } from "./connections.ts";

export type ProxyEnvironment = { readonly [name: string]: string | undefined };

export interface Dispatchers {
  /** The dispatcher for a URL's origin; the same one for every call to it. */
  for(url: string | URL): Dispatcher;
  /** Drops every connection; calls in flight fail. */
  close(): Promise<void>;
}

/** `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in upper or lower case, are read only from `env`. */
export function createDispatchers(env: ProxyEnvironment, connectSeconds = CONNECT_SECONDS): Dispatchers {
  const dispatchers = new Map<string, Dispatcher>();
  return {
    for(url) {
      const target = typeof url === "string" ? new URL(url) : url;
      let dispatcher = dispatchers.get(target.origin);
      if (!dispatcher) {
        dispatcher = createDispatcher(target, proxyFor(target, env), connectSeconds * 1000);
        dispatchers.set(target.origin, dispatcher);
      }
      return dispatcher;
    },
    async close() {
      const open = [...dispatchers.values()];
      dispatchers.clear();
      await Promise.all(open.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** Loaded on first use: a run without network models, and every other command, does not need it. */
function loadUndici(): typeof import("undici") {
  return createRequire(import.meta.url)("undici");
}

function createDispatcher(target: URL, proxy: URL | undefined, connectMs: number): Dispatcher {
  const options = { headersTimeout: 0, bodyTimeout: 0 };
  const connect = { timeout: connectMs };
  const undici = loadUndici();
  if (!proxy) return createConnections(undici, target.origin, { ...options, connect });
  // plain HTTP is forwarded, not tunnelled: many proxies tunnel to port 443 only
  const proxyTunnel = target.protocol === "https:";
  return new undici.ProxyAgent({ ...options, uri: proxy.href, proxyTls: connect, requestTls: connect, proxyTunnel });
}

/** The proxy that the environment names for a URL, if any. */
export function proxyFor(target: URL, env: ProxyEnvironment): URL | undefined {
  const names = [target.protocol === "https:" ? "https_proxy" : "http_proxy", "all_proxy"];
  const name = names.flatMap((lower) => [lower, lower.toUpperCase()]).find((candidate) => env[candidate]);
  if (name === undefined || isExempt(target, env.no_proxy ?? env.NO_PROXY ?? "")) return undefined;
  const value = env[name] as string;
  const text = value.includes("://") ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  // the value may hold a password: only the name is shown
  if (!proxy || !["http:", "https:", "socks:", "socks5:"].includes(proxy.protocol))
    throw new UsageError(`${name} is not a proxy URL: expected http://host:port`);
  return proxy;
}

/** `NO_PROXY`: hosts (their subdomains too), `.suffix`, `*.suffix`, `host:port`, addresses, address ranges, or `*`. */
function isExempt(target: URL, exemptions: string): boolean {
  const host = target.hostname.toLowerCase().replace(/^\[|\]$/g, "");
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return exemptions
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === "*") return true;
      if (entry.includes("/")) return isInRange(host, entry);
      const [, name = "", entryPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const suffix = name.replace(/^\*?\./, "");
      return host === suffix || (isIP(host) === 0 && host.endsWith(`.${suffix}`));
    });
}

function isInRange(host: string, range: string): boolean {
  const [address = "", bits] = range.split("/");
  const family = isIP(address);
  const prefix = Number(bits);
  if (family === 0 || isIP(host) !== family || !(prefix >= 0 && prefix <= (family === 4 ? 32 : 128))) return false;
  const list = new BlockList();
  list.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  return list.check(host, family === 4 ? "ipv4" : "ipv6");
}
