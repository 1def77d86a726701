/** Chooses source and views by the server that served the page. */
import type { FunctionComponent } from 'preact';
import type { PageSource } from '../source.ts';
import type { PageState } from '../state.ts';
import { app } from '../views/app.ts';
import { playSource } from './play.ts';

/** Where plans come from, and what draws the page. */
export interface PageParts {
  readonly source: PageSource;
  readonly view: FunctionComponent<{ readonly state: PageState }>;
}

/** The parts of this page; those for the API are a chunk of their own. */
export async function partsOfPage(): Promise<PageParts> {
  if (document.documentElement.dataset['source'] !== 'api') return { source: playSource(), view: app };
  const [{ apiSource }, { shell }] = await Promise.all([import('./api.ts'), import('../views/api/shell.ts')]);
  return { source: apiSource(), view: shell };
}
