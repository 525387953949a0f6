// Who may ask: whoever has the token that the printed address carries, from a page of ours, under the name that we listen
// on. Everything else gets 403, and no answer says more than it must.
import { timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";

export type GuardOptions = {
  token: string;
  /** `name:port` of every address that the server answers under */
  hosts: ReadonlySet<string>;
};

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
  return async (context, next): Promise<Response | undefined> => {
    context.header("content-security-policy", POLICY);
    context.header("x-content-type-options", "nosniff");
    context.header("referrer-policy", "no-referrer");
    context.header("cross-origin-opener-policy", "same-origin");
    context.header("cross-origin-resource-policy", "same-origin");
    context.header("cache-control", "no-store");
    const host = (context.req.header("host") ?? "").toLowerCase();
    if (!hosts.has(host)) return context.text("Forbidden", 403);
    const origin = context.req.header("origin");
    if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) return context.text("Forbidden", 403);
    const { method } = context.req;
    const site = context.req.header("sec-fetch-site") ?? "none";
    const isOurs = site === "same-origin" || site === "none";
    const given = context.req.query("token");
    const isNavigation = method === "GET" && context.req.header("sec-fetch-mode") === "navigate";
    const hasToken = given !== undefined && isSame(given, token);
    // an address with the token may be followed from anywhere, anything else only from our own page
    if (!isOurs && !(isNavigation && hasToken)) return context.text("Forbidden", 403);
    const cookie = nameCookie(host);
    if (hasToken) {
      setCookie(context, cookie, token, { httpOnly: true, sameSite: "Strict", path: "/" });
      return goOn(context, isOurs);
    }
    if (!isSame(getCookie(context, cookie) ?? "", token))
      return context.text("Forbidden: open the address that `rollout view` printed, with its token.", 403);
    await next();
    context.res.headers.set("cache-control", "no-store"); // also of a stream, which has its own idea
    return undefined;
  };
}

/** Browsers do not keep the cookies of two ports apart: each has its own name, so that two viewers can be open. */
function nameCookie(host: string): string {
  return `rollout-${/:(\d+)$/.exec(host)?.[1] ?? "80"}`;
}

/** To the same address without the token, so that it stays in no history. */
function goOn(context: Context, isOurs: boolean) {
  const { pathname, searchParams } = new URL(context.req.url);
  searchParams.delete("token");
  // one slash only: two would lead to another host
  const place = `${pathname.replace(/^[/\\]+/, "/")}${searchParams.size > 0 ? `?${searchParams}` : ""}`;
  if (isOurs) return context.redirect(place);
  // the cookie is not sent on a way that began at another site: this page begins a new one
  const quoted = place.replace(/[&"'<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return context.html(`<!doctype html><meta http-equiv="refresh" content="0; url=${quoted}"><title>Rollout</title>`);
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
