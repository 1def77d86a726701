/** Reads all of the manifest from its beginning, to be compared with what is held. */
import type { ManifestPage } from '../plan/manifest.ts';
import { TrustFault } from './trust.ts';

export interface CompareOptions {
  /** The page above a position, believed. */
  readonly page: (since: number) => Promise<ManifestPage>;
  /** A number that rises with whatever is put in place. */
  readonly tick: () => number;
  /** Takes each page, with the tick before it was asked for. */
  readonly take: (page: ManifestPage, asOf: number) => void;
}

export interface Compared {
  /** Every name that the manifest lists. */
  readonly listed: ReadonlySet<string>;
  /** How far it was read. */
  readonly through: number;
}

export async function readAll({ page: read, tick, take }: CompareOptions): Promise<Compared> {
  const listed = new Set<string>();
  let through = 0;
  for (let complete = false; !complete; ) {
    const asOf = tick();
    const page = await read(through);
    if (page.since !== through) {
      throw new TrustFault(`asked above ${through}, the page begins above ${page.since}`);
    }
    for (const { domain } of page.entries) listed.add(domain);
    take(page, asOf);
    through = page.through;
    complete = page.complete;
  }
  return { listed, through };
}
