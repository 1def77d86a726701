/** Accessibility of a page: the rules of axe-core, and no sideways scroll. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds fault with, as `rule: element`; and a line if the page is wider than its window. */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${SOURCE};0`);
  const { violations } = (await page.evaluate('axe.run(document)')) as {
    readonly violations: readonly Violation[];
  };
  const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
    ...(wide === true ? ['wider than its window'] : []),
  ];
}
