/** The page in light, in dark and on a narrow screen: axe finds no violation in any view, and nothing is wider than the screen. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TABS } from '../../src/page/panel/page/state.ts';
import { accessFaults } from '../support/axe.ts';
import { missingBrowser, startBrowser } from '../support/browser.ts';
import { builtCli } from '../support/built.ts';
import { type Play, startPlay, waitForDecision } from '../support/play.ts';
import { requires } from '../support/requires.ts';

const SHOP = readFileSync(new URL('../../fixtures/shop/edge.yaml', import.meta.url), 'utf8');

const SCREENS = [
  { name: 'light', colorScheme: 'light', width: 1280 },
  { name: 'dark', colorScheme: 'dark', width: 1280 },
  { name: 'narrow and light', colorScheme: 'light', width: 390 },
  { name: 'narrow and dark', colorScheme: 'dark', width: 390 },
] as const;

/** A request that many rules have something to say about. */
const REQUEST =
  'url=https%3A%2F%2Fshop.example.com%2Fapi%2Forders%3Fid%3D7&ip=203.0.113.7&country=RU&agent=GPTBot%2F1.2&node=3';

// Skipped only where Debian's Chromium is missing; the reason is printed above.
describe('in a browser', requires(missingBrowser()), () => {
  let folder: string;
  let browser: Browser;
  let play: Play;
  let before: string;
  beforeAll(async () => {
    await builtCli();
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-accessible-'));
    writeFileSync(join(folder, 'edge.yaml'), SHOP);
    play = await startPlay(folder);
    browser = await startBrowser();
    // A second plan, for the comparison, and a text that does not compile, for the mistakes.
    const page = await browser.newPage();
    await page.goto(`${play.url}#tab=json`);
    before = /"digest": "sha256:([0-9a-f]{64})"/.exec((await page.locator('pre').textContent())!)![1]!;
    writeFileSync(join(folder, 'edge.yaml'), SHOP.replace('action_mode: dry_run', 'action_mode: enforce'));
    await page.getByText('plan #2').waitFor();
    writeFileSync(join(folder, 'edge.yaml'), `${SHOP}\n  - { type: dropp }\n`);
    await page.getByText('does not compile').waitFor();
    await page.close();
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    await play.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(SCREENS)(
    '$name: every view is free of violations and of sideways scrolling',
    async ({ colorScheme, width }) => {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      await page.goto(`${play.url}#${REQUEST}&before=${before}`);
      await waitForDecision(page, 'Block 403');
      for (const tab of TABS) {
        await page.locator(`#tab-${tab}`).click();
        await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
        await page.locator('[role=tabpanel] > *').first().waitFor();
        expect(await accessFaults(page), tab).toEqual([]);
      }
      await page.close();
    },
  );
});
