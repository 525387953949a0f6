// The page in a real browser, at a viewer that was started for the test.
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { openBrowser } from "./browser.ts";
import { startView, type ViewServer } from "./view-server.ts";

export type ViewPage = {
  page: Page;
  origin: string;
  goto(path: string): Promise<void>;
  texts(selector: string): Promise<string[]>;
};

let taken: Promise<Page> | undefined;

/** The page of the test that runs, in a context of its own: what a test sets or leaves behind ends with it. */
export function takePage(): Promise<Page> {
  if (!taken) {
    const opening = openPage();
    taken = opening;
    onTestFinished(async () => {
      taken = undefined;
      await (await opening).context().close();
    });
  }
  return taken;
}

async function openPage(): Promise<Page> {
  const browser = await openBrowser();
  return (await browser.newContext()).newPage();
}

export async function openView(...folders: string[]): Promise<ViewPage> {
  return showView(await startView(folders));
}

/** Everything that the page's script throws fails the test. */
export async function showView({ address, origin }: Pick<ViewServer, "address" | "origin">): Promise<ViewPage> {
  const page = await takePage();
  const errors: string[] = [];
  const listen = (error: Error) => errors.push(error.message);
  page.on("pageerror", listen);
  onTestFinished(() => {
    page.off("pageerror", listen);
    expect(errors).toEqual([]);
  });
  await page.goto(address);
  return {
    page,
    origin,
    goto: async (path) => {
      await page.goto(origin + path);
      await page.waitForSelector("main h1, main [role=alert]");
    },
    texts: (selector) => page.locator(selector).allInnerTexts(),
  };
}
