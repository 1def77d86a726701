/** A real browser, headless: Debian's Chromium, driven over its own protocol. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { missingFile } from './requires.ts';

const CHROMIUM = '/usr/bin/chromium';

/** Why the tests cannot run here, or `null`. */
export function missingBrowser(): string | null {
  return missingFile(CHROMIUM, 'chromium');
}

/** @param flags added to those that keep the browser to this machine. */
export function startBrowser(...flags: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  });
}

/** What a page did that it should not have. */
export interface Watch {
  /** Errors and warnings of the console, uncaught errors, what the page's policy kept it from. */
  readonly complaints: string[];
  /** Every URL it asked for. */
  readonly requests: string[];
}

/** Opens a page that is watched from its first request on. */
export async function openWatched(browser: Browser): Promise<{ readonly page: Page; readonly watch: Watch }> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  // Against hangs alone, and below the time-out of tests, which does not say what was awaited.
  page.setDefaultTimeout(100_000);
  const watch: Watch = { complaints: [], requests: [] };
  page.on('console', (said) => {
    if (said.type() === 'error' || said.type() === 'warning') watch.complaints.push(said.text());
  });
  // The console names the status alone: neither the request nor the sentence of the refusal.
  page.on('response', async (response) => {
    if (response.status() < 500) return;
    const at = watch.complaints.push(
      `${response.status()} to ${response.request().method()} ${response.url()}`,
    );
    const body = await response.text().catch(() => 'no body');
    watch.complaints[at - 1] += `: ${body}`;
  });
  page.on('pageerror', (error) => watch.complaints.push(error.message));
  page.on('request', (request) => watch.requests.push(request.url()));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    // A page ends its own calls: a check whose fields have changed again, the events of a page that is left.
    const isEnded = why === 'net::ERR_ABORTED' && ['fetch', 'eventsource'].includes(request.resourceType());
    if (!isEnded) watch.complaints.push(`failed: ${request.url()} ${why}`);
  });
  await page.exposeFunction('complain', (what: string) => watch.complaints.push(what));
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (one) =>
    complain('policy: ' + one.violatedDirective + ' ' + one.blockedURI + ' ' + one.sourceFile + ':' + one.columnNumber))`);
  return { page, watch };
}
