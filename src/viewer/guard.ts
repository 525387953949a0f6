// Who may ask: whoever has the token that the printed address carries, from a page of ours, under the name that we listen
// on. Everything else gets 403, and no answer says more than it must.
import { timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";

export type GuardOptions = {
  token: string;
  /** `name:port` of every address that the server answers under */
  hosts: ReadonlySet<string>;
};

const COOKIE = "rollout";

/** Scripts and styles are files of ours; nothing is loaded from elsewhere, framed, or sent elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function createGuard({ token, hosts }: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    context.header("content-security-policy", POLICY);
    context.header("x-content-type-options", "nosniff");
    context.header("referrer-policy", "no-referrer");
    context.header("cross-origin-opener-policy", "same-origin");
    context.header("cross-origin-resource-policy", "same-origin");
    context.header("cache-control", "no-store");
    if (!hosts.has((context.req.header("host") ?? "").toLowerCase())) return context.text("Forbidden", 403);
    const site = context.req.header("sec-fetch-site");
    const given = context.req.query("token");
    const isNavigation = context.req.method === "GET" && context.req.header("sec-fetch-mode") === "navigate";
    // an address with the token may be followed from anywhere, anything else only from our own page
    if (site !== undefined && site !== "same-origin" && site !== "none" && !(isNavigation && given))
      return context.text("Forbidden", 403);
    const origin = context.req.header("origin");
    if (origin !== undefined && !hosts.has(origin.replace(/^https?:\/\//, "").toLowerCase()))
      return context.text("Forbidden", 403);
    if (given !== undefined && isSame(given, token)) {
      setCookie(context, COOKIE, token, { httpOnly: true, sameSite: "Strict", path: "/" });
      const url = new URL(context.req.url);
      url.searchParams.delete("token");
      return context.redirect(url.pathname + url.search);
    }
    if (!isSame(getCookie(context, COOKIE) ?? "", token))
      return context.text("Forbidden: open the address that `rollout view` printed, with its token.", 403);
    return next();
  };
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
