/**
 * The lists that the rules of a plan name (semantics §13), for comparisons of plans. In: a plan. Out: for each rule the lists that it
 * names, with a text that is equal for equal contents.
 */
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { type OpenedList, openList } from '../../engine/evaluator/lists.ts';
import { createLoaded, type LoadedPlan } from '../../engine/evaluator/loaded.ts';
import type { FindList } from '../../engine/evaluator/plan-parts.ts';
import {
  decodeString,
  LIST,
  listDigest,
  NONE,
  PATTERN,
  PATTERN_KIND,
  type Plan,
  SLOT,
} from '../../engine/plan/layout.ts';
import { REGISTRY_KIND } from '../../engine/plan/registry.ts';
import { entriesAt } from './space/language.ts';
import { listNumbersAt } from './space/lists.ts';
import { entriesOf, termsAt } from './space/terms.ts';

/** By slot: the contents of the lists that the rule names, by their names. */
export type ListContents = readonly Readonly<Record<string, string>>[];

/** Reads the contents of all lists that rules name. `find`: finds those that the plan refers to. @throws PlanFault */
export function listContents(plan: Plan, find?: FindList): ListContents {
  const count = plan.slots.length / SLOT.size;
  if (plan.lists.length === 0) return Array.from({ length: count }, () => ({}));
  const loaded = createLoaded(plan, 0);
  const rows = Array.from({ length: plan.lists.length / LIST.size }, (_, number) => number * LIST.size);
  // The row of the registry is the last one, so that those before it have the numbers that rules name.
  const ofLists = rows.filter((row) => plan.lists[row + LIST.kind] !== REGISTRY_KIND);
  const named = ofLists.map((row) => ({
    name: decodeString(plan, plan.lists[row + LIST.name]!),
    text: contentText(plan, row, find),
  }));
  return Array.from({ length: count }, (_, slot) =>
    Object.fromEntries(
      [...namedAt(loaded, slot)].map((number) => [named[number]!.name, named[number]!.text]),
    ),
  );
}

/** `2 entries, checksum 0011223344556677`; of a list that is not there its digest. */
function contentText(plan: Plan, row: number, find: FindList | undefined): string {
  const at = plan.lists[row + LIST.at]!;
  const digest = listDigest(plan, row);
  const list =
    at === NONE
      ? (find?.(digest) ?? null)
      : openList(plan.listData.subarray(at, at + plan.lists[row + LIST.octets]!), { trusted: true });
  return list === null || list.kind === 'registry' ? `sha256:${digest}` : contentOf(list);
}

/** A text that is equal for equal lists: `2 entries, checksum 0011223344556677`. */
export function contentOf({ entries, words, text }: OpenedList): string {
  const parts = [words, text].map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  // Two sums, since a comparison claims that lists are equal.
  const sums = [0, 1].map((seed) => parts.reduce((sum, part) => xxhash32(part, sum), seed));
  const checksum = sums.map((sum) => (sum >>> 0).toString(16).padStart(8, '0')).join('');
  return `${entries} ${entries === 1 ? 'entry' : 'entries'}, checksum ${checksum}`;
}

/** The numbers of the lists that the rule in a slot names. */
function namedAt(loaded: LoadedPlan, slot: number): ReadonlySet<number> {
  const { slots, words, patterns } = loaded.plan;
  const row = slot * SLOT.size;
  const offsets = [SLOT.addresses, SLOT.countries].map((field) => slots[row + field]!);
  const filters = [SLOT.host, SLOT.path].flatMap((field) => entriesAt(loaded, slots[row + field]!) ?? []);
  const numbers = filters.flatMap(({ includes, excludes }) => [...includes, ...excludes]);
  for (const term of termsAt(loaded, slot)) {
    if (term.comparison === 'addresses') offsets.push(term.data);
    else if (term.comparison !== 'any' && term.comparison !== 'tagged')
      numbers.push(...entriesOf(loaded, term));
  }
  const isList = (number: number): boolean =>
    patterns[number * PATTERN.size + PATTERN.kind] === PATTERN_KIND.list;
  return new Set([
    ...offsets.flatMap((at) => (at === NONE ? [] : listNumbersAt(words, at))),
    ...numbers.filter(isList).map((number) => patterns[number * PATTERN.size + PATTERN.data]!),
  ]);
}
