/**
 * The lists and the registry that a sealed plan refers to by digest (LIST in `layout.ts`): read without opening the plan, and
 * replaced without compiling it again. In: sealed plans. Out: digests, and the same plans with others.
 */
import { LIST_KINDS, type ListKind } from '../../base/vocabulary/vocabulary.ts';
import {
  DIRECTORY,
  decodeString,
  HEADER,
  LIST,
  listDigest,
  MAGIC,
  NONE,
  OLDEST_VERSION,
  PLAN_VERSION,
  type Plan,
  sectionsOf,
} from './layout.ts';
import { REGISTRY_KIND } from './registry.ts';
import { openPlan, seal, startAfter } from './seal.ts';

/** A list that a plan has by digest. */
export interface ListDigest {
  readonly name: string;
  readonly kind: ListKind;
  /** SHA-256 of the sealed list, 64 lower-case hex digits. */
  readonly digest: string;
}

/** The name of the registry among the digests of a plan; no list has it. */
export const REGISTRY_NAME = '';

/** The lists that a plan has by digest, in the order of its rows. Those whose octets it contains are left out. */
export function listDigests(plan: Plan): readonly ListDigest[] {
  const found: ListDigest[] = [];
  for (let row = 0; row + LIST.size <= plan.lists.length; row += LIST.size) {
    if (plan.lists[row + LIST.at] !== NONE || plan.lists[row + LIST.kind] === REGISTRY_KIND) continue;
    found.push({
      name: decodeString(plan, plan.lists[row + LIST.name]!),
      kind: LIST_KINDS[plan.lists[row + LIST.kind]!]!,
      digest: listDigest(plan, row),
    });
  }
  return found;
}

/** The digest of the registry that a plan refers to; `null`: it contains it, or has none. */
export function registryDigest(plan: Plan): string | null {
  for (let row = 0; row + LIST.size <= plan.lists.length; row += LIST.size)
    if (plan.lists[row + LIST.kind] === REGISTRY_KIND && plan.lists[row + LIST.at] === NONE)
      return listDigest(plan, row);
  return null;
}

/**
 * The digests of a sealed plan's lists and of its registry, each once, by a few reads of its octets; empty for octets that are no
 * plan of a version with lists. @param read the octets from `at` on, fewer at the end of the plan
 */
export function readListDigests(read: (at: number, octets: number) => Uint8Array): readonly string[] {
  const head = viewOf(read(0, startAfter(sectionsOf(PLAN_VERSION).length)));
  if (head.byteLength < DIRECTORY || head.getUint32(HEADER.magic * 4, true) !== MAGIC) return [];
  const version = head.getUint32(HEADER.version * 4, true);
  if (version < OLDEST_VERSION || version > PLAN_VERSION) return [];
  const place = sectionsOf(version).findIndex(({ name }) => name === 'lists');
  const entry = DIRECTORY + place * 8;
  if (place < 0 || head.byteLength < entry + 8) return [];
  const rows = read(head.getUint32(entry, true), head.getUint32(entry + 4, true));
  // A copy: words need a 4-octet boundary.
  const lists = new Uint32Array(Uint8Array.from(rows).buffer, 0, Math.floor(rows.length / 4));
  const found = new Set<string>();
  for (let row = 0; row + LIST.size <= lists.length; row += LIST.size)
    if (lists[row + LIST.at] === NONE) found.add(listDigest({ lists }, row));
  return [...found];
}

/** `readListDigests` of octets in memory. */
export function digestsIn(bytes: Uint8Array): readonly string[] {
  return readListDigests((at, octets) => bytes.subarray(at, at + octets));
}

/**
 * The plan with other contents of its lists and its registry, sealed as another revision. One that `digests` does not have is as
 * before. Of the
 * octets only the version is checked: the caller has compared their digest.
 * @param digests by name of the list, of the registry by REGISTRY_NAME
 * @throws PlanFault when this build does not read the plan's version
 */
export function withListDigests(
  bytes: Uint8Array,
  digests: ReadonlyMap<string, string>,
  revision: number,
): Uint8Array {
  const { plan } = openPlan(bytes, { trusted: true });
  const lists = plan.lists.slice();
  for (let row = 0; row + LIST.size <= lists.length; row += LIST.size) {
    if (lists[row + LIST.at] !== NONE) continue;
    const digest = digests.get(decodeString(plan, lists[row + LIST.name]!));
    if (digest !== undefined) lists.set(wordsOf(digest), row + LIST.digest);
  }
  return seal({ ...plan, lists }, { revision });
}

/** The words of a digest, the first octets the highest. */
export function wordsOf(digest: string): readonly number[] {
  return Array.from({ length: 8 }, (_, word) => Number.parseInt(digest.slice(word * 8, word * 8 + 8), 16));
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
