/** Plans in the layouts of other versions, to meet in an upgrade. */
import { sha256Hex } from '../../src/base/platform/cryptography.ts';
import type { Store } from '../../src/control/store/store.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import {
  DIRECTORY,
  HEADER,
  OLDEST_VERSION,
  PLAIN_VERSION,
  sectionsOf,
} from '../../src/engine/plan/layout.ts';
import { openPlan, seal, sealChecksum, startAfter } from '../../src/engine/plan/seal.ts';

/** Stores the domain's plan, changed, as its next revision, as a server of another version would have published it. */
export function filePlan(
  { store }: { readonly store: Store },
  domain: DomainRow,
  change: (bytes: Uint8Array, revision: number) => Uint8Array,
  reason = 'as it was',
): Promise<number> {
  return store.write(async (tx) => {
    const [last] = await tx.plans.list(domain.id, { limit: 1 });
    const revision = last!.revision + 1;
    const bytes = change((await tx.plans.blob(last!.digest!))!, revision);
    const digest = sha256Hex(bytes);
    await tx.plans.putBlob(digest, bytes, Date.now());
    const { through } = last!;
    const place = { domain: domain.name, domain_id: domain.id, revision, digest, through };
    await tx.plans.publish({ ...place, ...SERVICE, reason, at: Date.now() });
    return revision;
  });
}

/** The plan as the oldest version that this build reads sealed it, under another revision; what that one lacks must be empty. */
export function sealAsPrevious(bytes: Uint8Array, revision: number): Uint8Array {
  const { plan } = openPlan(bytes);
  const now = seal(plan, { revision });
  const [sections, before] = [sectionsOf(PLAIN_VERSION), sectionsOf(OLDEST_VERSION)];
  for (const { name } of sections.slice(before.length)) {
    if (plan[name].length > 0) throw new Error(`\`${name}\` has no place in version ${OLDEST_VERSION}`);
  }
  const shift = startAfter(sections.length) - startAfter(before.length);
  const older = new Uint8Array(now.length - shift);
  older.set(now.subarray(0, DIRECTORY));
  older.set(now.subarray(startAfter(sections.length)), startAfter(before.length));
  const [from, to] = [new DataView(now.buffer), new DataView(older.buffer)];
  for (let at = DIRECTORY; at < DIRECTORY + before.length * 8; at += 8) {
    to.setUint32(at, from.getUint32(at, true) - shift, true);
    to.setUint32(at + 4, from.getUint32(at + 4, true), true);
  }
  to.setUint32(HEADER.bytes * 4, older.length, true);
  to.setUint32(HEADER.sections * 4, before.length, true);
  return withVersion(older, OLDEST_VERSION);
}

/** The same octets under another version and the right checksum. */
export function withVersion(bytes: Uint8Array, version: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const view = new DataView(changed.buffer);
  view.setUint32(HEADER.version * 4, version, true);
  view.setUint32(HEADER.checksum * 4, sealChecksum(changed), true);
  return changed;
}
