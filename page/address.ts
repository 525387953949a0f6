// Where the page is: the path names the view, the rest of the address what it shows. Back and reload work by themselves.
import { signal } from "@preact/signals";

const here = () => new URL(location.href);

const current = signal(here());

export const Address = {
  get path(): string[] {
    return current.value.pathname.split("/").filter(Boolean).map(decodePart);
  },
  get params(): URLSearchParams {
    return new URLSearchParams(current.value.search);
  },
  /** Goes there; `replace` leaves no way back to here. */
  go(to: string, replace = false): void {
    history[replace ? "replaceState" : "pushState"](null, "", to);
    current.value = here();
    if (!replace) scrollTo(0, 0);
  },
  /** The same view with other parameters; null removes one. */
  with(changes: { [name: string]: string | string[] | null }): string {
    const params = Address.params;
    for (const [name, value] of Object.entries(changes)) {
      params.delete(name);
      for (const one of value === null ? [] : [value].flat()) params.append(name, one);
    }
    const text = params.toString();
    return current.value.pathname + (text ? `?${text}` : "");
  },
  /** Links of ours change the view without loading the page again. */
  listen(): void {
    addEventListener("popstate", () => {
      current.value = here();
    });
    document.addEventListener("click", (event) => {
      const link = (event.target as Element).closest?.("a[href]");
      const href = link?.getAttribute("href");
      const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
      if (!href?.startsWith("/") || !isPlain || link?.hasAttribute("download")) return;
      event.preventDefault();
      Address.go(href);
    });
  },
};

export const pathTo = (...parts: string[]): string => `/${parts.map(encodePart).join("/")}`;

/** Half a character, which texts of models may have, cannot be part of an address. */
export function encodePart(part: string): string {
  return encodeURIComponent(part.replace(/\p{Surrogate}/gu, "\uFFFD"));
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand, or cut
  }
}
