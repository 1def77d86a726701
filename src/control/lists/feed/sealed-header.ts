/**
 * The `Authorization` headers of feeds, encrypted as the store has them. In: a header, its list and URL. Out: its encrypted form, which
 * only the same list and origin opens.
 */
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { type KeyRing, openKey, sealedUnder, sealKey } from '../../certificates/key-ring.ts';
import type { Resealed } from '../../certificates/stored-keys.ts';
import type { Store } from '../../store/store.ts';
import { HEADERS_AT_ONCE } from './limits.ts';
import { settingsOf } from './settings.ts';

/** What an encrypted header is bound to. */
export interface HeaderPlace {
  /** The id of the list. */
  readonly list: number;
  readonly url: string;
}

function placeOf({ list, url }: HeaderPlace) {
  return { domain_id: 0, sha256: sha256Hex(`header of list ${list} for ${new URL(url).origin}`) };
}

/** Encrypts a header. @throws SecretsKeyFault */
export function sealHeader(header: string, place: HeaderPlace, ring: KeyRing): Uint8Array {
  return sealKey(header, placeOf(place), ring.current());
}

/** Decrypts a header; `null`: its secrets key is not there. @throws SecretsKeyFault */
export function openHeader(sealed: Uint8Array, place: HeaderPlace, ring: KeyRing): string | null {
  return openKey(sealed, placeOf(place), ring);
}

/** Encrypts headers that are under another key than the current one. @throws StoreFault, SecretsKeyFault */
export async function resealHeaders(store: Store, ring: KeyRing): Promise<Resealed> {
  const current = ring.current().id;
  let [resealed, lost] = [0, 0];
  for (let after = 0; ; ) {
    const rows = await store.latest.listFeeds.withHeaders(after, HEADERS_AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) return { resealed, lost };
    after = last.list_id;
    for (const { list_id, sealed_header: before } of rows) {
      const list = await store.latest.lists.byId(list_id);
      if (list === null || list.feed === null || sealedUnder(before) === current) continue;
      const place = { list: list_id, url: settingsOf(list.feed).url };
      const header = openHeader(before, place, ring);
      if (header === null) {
        lost += 1;
        continue;
      }
      const headers = { before, after: sealHeader(header, place, ring) };
      // Replaced meanwhile: then it is under the current key.
      if (await store.write((tx) => tx.listFeeds.reseal(list_id, headers))) resealed += 1;
    }
  }
}
