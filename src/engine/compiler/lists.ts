/**
 * The lists that rules name, in a plan (layout: LIST in `engine/plan/layout.ts`): a row for each, with its sealed form if the rule
 * set has the entries, or with the digest by which nodes have it.
 */
import { LIST_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { listsOf } from '../../rules/model/list-names.ts';
import type { EntryList } from '../../rules/model/types.ts';
import { LIST, NONE, PATTERN_KIND } from '../plan/layout.ts';
import { wordsOf } from '../plan/list-digests.ts';
import { type PlanDraft, placePosting, placeString } from './draft.ts';
import { KEY } from './filing-keys.ts';
import { placeList } from './filters.ts';
import { ListTooLarge, sealList } from './seal-list.ts';

/**
 * Lays the rows of all lists that the rules name, and the sealed forms of those whose entries the rule set has. A list that it does
 * not have is empty: a rule that an older release stored may have a path with `@`, which matched nothing.
 */
export function layLists(draft: PlanDraft): void {
  for (const { kind, source } of draft.patterns.list) {
    if (kind === PATTERN_KIND.list) placeList(draft, source);
  }
  if (draft.lists.size === 0) return;
  const given = new Map((draft.ruleSet.lists ?? []).map((list) => [list.name, list]));
  const kinds = new Map(draft.rules.flatMap(listsOf).map(({ name, kind }) => [name, kind]));
  const sealed: Uint8Array[] = [];
  let octets = 0;
  const rows = [...draft.lists.keys()].flatMap((name) => {
    const kind = kinds.get(name) ?? 'path';
    const named = given.get(name);
    const list = named?.kind === kind ? named : { name, kind, entries: [] };
    const row = new Array<number>(LIST.size).fill(0);
    row[LIST.name] = placeString(draft.strings, name);
    row[LIST.kind] = LIST_KINDS.indexOf(list.kind);
    row[LIST.posting] = placePosting(draft, draft.filing.byKey.get(KEY.listed + name) ?? []);
    if ('digest' in list) {
      for (const [word, value] of wordsOf(list.digest).entries()) row[LIST.digest + word] = value;
      row[LIST.at] = NONE;
    } else {
      const bytes = sealedOrEmpty(draft, list);
      sealed.push(bytes);
      row[LIST.at] = octets;
      row[LIST.octets] = bytes.length;
      octets += bytes.length;
    }
    return row;
  });
  draft.listRows = Uint32Array.from(rows);
  draft.listData = joined(sealed, octets);
}

/**
 * Sealed forms of lists that were compiled.
 * PERF: mutants of a rule set and proofs about it compile it again and again, with the same lists.
 */
const SEALED = new WeakMap<EntryList, Uint8Array>();

/** The sealed list; of one whose author made its hashes collide an empty one, and an error. */
function sealedOrEmpty({ diagnostics }: PlanDraft, list: EntryList): Uint8Array {
  try {
    const known = SEALED.get(list);
    const bytes = known ?? sealList(list);
    if (known === undefined) SEALED.set(list, bytes);
    return bytes;
  } catch (error) {
    if (!(error instanceof ListTooLarge)) throw error;
    const message = `the list \`${list.name}\` ${error.message}`;
    diagnostics.push({ code: 'list_too_large', severity: 'error', path: ['lists'], message });
    return sealList({ kind: list.kind, entries: [] });
  }
}

function joined(parts: readonly Uint8Array[], octets: number): Uint8Array {
  const all = new Uint8Array(octets);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
