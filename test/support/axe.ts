/** Accessibility of a page: the rules of axe-core, and no sideways scroll. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds fault with, as `rule: element`; and a line if the page is wider than its window. */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${axe.source};0`);
  const { violations } = (await page.evaluate('axe.run(document)')) as {
    readonly violations: readonly Violation[];
  };
  const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
    ...(wide === true ? ['wider than its window'] : []),
  ];
}
