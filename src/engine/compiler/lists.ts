/**
 * The lists that rules name, in a plan (layout: LIST in `engine/plan/layout.ts`): a row for each, with its sealed form if the rule
 * set has the entries, or with the digest by which nodes have it.
 */
import { LIST_KINDS } from '../../base/vocabulary/vocabulary.ts';
import type { EntryList, RuleList } from '../../rules/model/types.ts';
import { LIST, NONE, PATTERN_KIND } from '../plan/layout.ts';
import { type PlanDraft, placePosting, placeString } from './draft.ts';
import { KEY } from './filing-keys.ts';
import { placeList } from './filters.ts';
import { ListTooLarge, sealList } from './seal-list.ts';

/** Lays the rows of all lists that the rules name, and the sealed forms of those whose entries the rule set has. */
export function layLists(draft: PlanDraft): void {
  for (const { kind, source } of draft.patterns.list) {
    if (kind === PATTERN_KIND.list) placeList(draft, source);
  }
  if (draft.lists.size === 0) return;
  const given = new Map((draft.ruleSet.lists ?? []).map((list) => [list.name, list]));
  const sealed: Uint8Array[] = [];
  let octets = 0;
  const rows = [...draft.lists.keys()].flatMap((name) => {
    const list = given.get(name) ?? emptyList(name);
    const row = new Array<number>(LIST.size).fill(0);
    row[LIST.name] = placeString(draft.strings, name);
    row[LIST.kind] = LIST_KINDS.indexOf(list.kind);
    row[LIST.posting] = placePosting(draft, draft.filing.byKey.get(KEY.listed + name) ?? []);
    if ('digest' in list) {
      for (let word = 0; word < 8; word++)
        row[LIST.digest + word] = Number.parseInt(list.digest.slice(word * 8, word * 8 + 8), 16);
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

/** The sealed list; of one whose author made its hashes collide an empty one, and an error. */
function sealedOrEmpty({ diagnostics }: PlanDraft, list: EntryList): Uint8Array {
  try {
    return sealList(list);
  } catch (error) {
    if (!(error instanceof ListTooLarge)) throw error;
    const message = `the list \`${list.name}\` ${error.message}`;
    diagnostics.push({ code: 'list_too_large', severity: 'error', path: ['lists'], message });
    return sealList({ kind: list.kind, entries: [] });
  }
}

/**
 * The stand-in for a list that the rule set does not have: a rule that an older release stored may have a path with `@`, which
 * matched nothing.
 */
function emptyList(name: string): RuleList {
  return { name, kind: 'path', entries: [] };
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
