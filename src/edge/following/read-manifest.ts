/** Reads the whole manifest from its beginning, page by page. */
import type { ManifestPage } from '../../engine/plan/manifest.ts';
import { TrustFault } from './trust.ts';

export interface ReadManifestOptions {
  /** Requests the page above a position and checks it. */
  readonly page: (since: number) => Promise<ManifestPage>;
  /** The number of installations so far; see `EntrySource.asOf`. */
  readonly tick: () => number;
  /** Called with each page and the tick before it was requested. */
  readonly onPage: (page: ManifestPage, asOf: number) => void;
}

/** The manifest's content. */
export interface ManifestNames {
  /** Every name that the manifest lists. */
  readonly listed: ReadonlySet<string>;
  /** The position of its last page. */
  readonly through: number;
}

/** @throws TrustFault when pages do not follow one another; what `page` throws */
export async function readManifest({
  page: requestPage,
  tick,
  onPage,
}: ReadManifestOptions): Promise<ManifestNames> {
  const listed = new Set<string>();
  let through = 0;
  for (let complete = false; !complete; ) {
    const asOf = tick();
    const page = await requestPage(through);
    if (page.since !== through) {
      throw new TrustFault(`the page after ${through} begins above ${page.since}`);
    }
    for (const { domain } of page.entries) listed.add(domain);
    onPage(page, asOf);
    through = page.through;
    complete = page.complete;
  }
  return { listed, through };
}
