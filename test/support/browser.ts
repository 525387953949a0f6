// A real browser for tests of the page: the one that comes with `npm install` on Linux, an installed Chrome elsewhere.
import { type Browser, chromium as launcher } from "playwright-core";

let opened: Promise<Browser> | undefined;

/** One for all tests of a worker. */
export function openBrowser(): Promise<Browser> {
  opened ??= launch();
  return opened;
}

async function launch(): Promise<Browser> {
  if (process.platform !== "linux") return launcher.launch({ channel: "chrome" });
  process.env.AWS_LAMBDA_JS_RUNTIME ??= "nodejs22.x"; // the package then unpacks the libraries that it carries
  const { default: chromium } = await import("@sparticuz/chromium");
  const executablePath = await chromium.executablePath();
  // in a single process, closing one page's context would end the browser for all tests
  const args = chromium.args.filter((arg) => arg !== "--single-process" && arg !== "--no-zygote");
  return launcher.launch({ executablePath, args, headless: true });
}
