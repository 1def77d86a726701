/**
 * The lists that a sealed plan names by digest (LIST in `layout.ts`): read without opening the plan, and replaced without
 * compiling it again. In: sealed plans. Out: digests, and the same plans with others.
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
  PLAN_VERSION,
  type Plan,
  sectionsOf,
} from './layout.ts';
import { openPlan, seal, startAfter } from './seal.ts';

/** A list that a plan has by digest. */
export interface ListDigest {
  readonly name: string;
  readonly kind: ListKind;
  /** SHA-256 of the sealed list, 64 lower-case hex digits. */
  readonly digest: string;
}

/** The lists that a plan has by digest, in the order of its rows. Those whose octets it contains are left out. */
export function listDigests(plan: Plan): readonly ListDigest[] {
  const found: ListDigest[] = [];
  for (let row = 0; row + LIST.size <= plan.lists.length; row += LIST.size) {
    if (plan.lists[row + LIST.at] !== NONE) continue;
    found.push({
      name: decodeString(plan, plan.lists[row + LIST.name]!),
      kind: LIST_KINDS[plan.lists[row + LIST.kind]!]!,
      digest: listDigest(plan, row),
    });
  }
  return found;
}

/**
 * The digests of a sealed plan's lists, each once, by a few reads of its octets; empty for octets that are no plan of a
 * version with lists. @param read the octets from `at` on, fewer at the end of the plan
 */
export function readListDigests(read: (at: number, octets: number) => Uint8Array): readonly string[] {
  const sections = sectionsOf(PLAN_VERSION);
  const head = viewOf(read(0, startAfter(sections.length)));
  if (head.byteLength < startAfter(sections.length) || head.getUint32(HEADER.magic * 4, true) !== MAGIC)
    return [];
  if (head.getUint32(HEADER.version * 4, true) !== PLAN_VERSION) return [];
  const entry = DIRECTORY + sections.findIndex(({ name }) => name === 'lists') * 8;
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
 * The plan with other contents of its lists, sealed as another revision. A list that `digests` does not have is as before. Of the
 * octets only the version is checked: the caller has compared their digest.
 * @param digests by name of the list
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
