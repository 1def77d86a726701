/** `edgeplan play` as a process, and its page in a browser. */
import type { Page } from 'playwright-core';
import { startEdgeplan } from './built.ts';
import { until } from './publish-setup.ts';

export interface Play {
  readonly url: string;
  /** What it printed on stderr so far. */
  err(): string;
  stop(): Promise<number | null>;
}

/** Starts it for `edge.yaml` of a folder and waits for its URL. */
export async function startPlay(cwd: string, ...args: readonly string[]): Promise<Play> {
  const child = startEdgeplan(['play', '--port', '0', ...args], { cwd });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  await until(() => out.includes('\n') || child.exitCode !== null, 'the URL of the page');
  if (child.exitCode !== null) throw new Error(`play ended with ${child.exitCode}: ${err}`);
  return {
    url: out.split('\n', 1)[0]!,
    err: () => err,
    stop() {
      child.kill('SIGTERM');
      return closed;
    },
  };
}

/** The decision that the page shows, once it shows one for this text. */
export async function waitForDecision(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.outcome h2').filter({ hasText: text }).first().waitFor();
}
