/** The pages that were read last, one for each set of groups: nodes that reconnect at once share one reading. */
import type { SignedPage } from '../../engine/plan/manifest.ts';
import { type PageTools, readPage } from './pages.ts';

/** Pages in memory: some 4 MB. */
const MAX_PAGES = 16;

interface CachedPage {
  readonly since: number;
  /** The newest position when the page was read. */
  readonly position: number;
  readonly page: Promise<SignedPage>;
}

export interface PageCache {
  /** The page above `since` for a set of groups, read again if `position` has moved; see `readPage` for errors. */
  page(range: { readonly since: number; readonly position: number }, groups: string): Promise<SignedPage>;
  clear(): void;
}

export function createPageCache(tools: PageTools): PageCache {
  /** By groups. */
  const pages = new Map<string, CachedPage>();
  return {
    page({ since, position }, groups) {
      const cached = pages.get(groups);
      if (cached?.since === since && cached.position === position) return cached.page;
      const fresh = { since, position, page: readPage(since, groups, tools) };
      if (pages.size >= MAX_PAGES) pages.clear();
      pages.set(groups, fresh);
      fresh.page.catch(() => {
        if (pages.get(groups) === fresh) pages.delete(groups);
      });
      return fresh.page;
    },
    clear: () => pages.clear(),
  };
}
