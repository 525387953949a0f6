// Moving through a list with the keyboard: the focus goes from link to link.

/** By 1 to the next, by -1 to the one before; from nowhere to the first or the last. */
export function focusNext(selector: string, by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = links.findIndex((link) => link.contains(document.activeElement));
  links[at === -1 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

/** The link of the row that has the focus. */
export function focused(selector: string): HTMLElement | null | undefined {
  return document.activeElement?.closest("tr, li")?.querySelector<HTMLElement>(selector);
}
