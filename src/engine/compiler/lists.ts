/**
 * The lists that rules name and the registry, in a plan (layout: LIST in `engine/plan/layout.ts`): a row for each, with its sealed
 * form if the rule set has what it is made of, or with the digest by which nodes have it.
 */
import { LIST_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { listsOf } from '../../rules/model/list-names.ts';
import { EMPTY_REGISTRY, withoutControlPlane } from '../../rules/model/registry/registry.ts';
import type { EntryList, Registry, SealedRegistry } from '../../rules/model/types.ts';
import { LIST, NONE, PATTERN_KIND } from '../plan/layout.ts';
import { wordsOf } from '../plan/list-digests.ts';
import { REGISTRY_KIND } from '../plan/registry.ts';
import { type PlanDraft, placePosting, placeString } from './draft.ts';
import { KEY } from './filing-keys.ts';
import { placeList } from './filters.ts';
import { ListTooLarge, sealList } from './seal-list.ts';
import { RegistryTooLarge, sealRegistry } from './seal-registry.ts';

/**
 * Lays the rows of all lists that the rules name, and the sealed forms of those whose entries the rule set has. A list that it does
 * not have is empty: a rule that an older release stored may have a path with `@`, which matched nothing. The row of the registry is
 * the last one, so that the others have the numbers that rules name.
 */
export function layLists(draft: PlanDraft): void {
  for (const { kind, source } of draft.patterns.list) {
    if (kind === PATTERN_KIND.list) placeList(draft, source);
  }
  const { registry } = draft.ruleSet;
  if (draft.lists.size === 0 && registry === undefined) return;
  const given = new Map((draft.ruleSet.lists ?? []).map((list) => [list.name, list]));
  const kinds = new Map(draft.rules.flatMap(listsOf).map(({ name, kind }) => [name, kind]));
  const data: SealedData = { parts: [], octets: 0 };
  const rows = [...draft.lists.keys()].flatMap((name) => {
    const kind = kinds.get(name) ?? 'path';
    const named = given.get(name);
    const list = named?.kind === kind ? named : { name, kind, entries: [] };
    const row = new Array<number>(LIST.size).fill(0);
    row[LIST.name] = placeString(draft.strings, name);
    row[LIST.kind] = LIST_KINDS.indexOf(list.kind);
    row[LIST.posting] = placePosting(draft, draft.filing.byKey.get(KEY.listed + name) ?? []);
    placeSealed(row, data, 'digest' in list ? list.digest : sealedOrEmpty(draft, list));
    return row;
  });
  if (registry !== undefined) rows.push(...registryRow(draft, registry, data));
  draft.listRows = Uint32Array.from(rows);
  draft.listData = joined(data);
}

function registryRow(
  draft: PlanDraft,
  registry: Registry | SealedRegistry,
  data: SealedData,
): readonly number[] {
  // Readers of an earlier version would take it for a list.
  draft.newest = true;
  const row = new Array<number>(LIST.size).fill(0);
  row[LIST.name] = placeString(draft.strings, '');
  row[LIST.kind] = REGISTRY_KIND;
  row[LIST.posting] = NONE;
  placeSealed(row, data, 'digest' in registry ? registry.digest : registryOrEmpty(draft, registry));
  return row;
}

/** Sealed forms that the plan contains, in the order of their rows. */
interface SealedData {
  readonly parts: Uint8Array[];
  octets: number;
}

/** Writes a digest, or octets that the plan contains, into a row. */
function placeSealed(row: number[], data: SealedData, sealed: string | Uint8Array): void {
  if (typeof sealed === 'string') {
    for (const [word, value] of wordsOf(sealed).entries()) row[LIST.digest + word] = value;
    row[LIST.at] = NONE;
    return;
  }
  row[LIST.at] = data.octets;
  row[LIST.octets] = sealed.length;
  data.parts.push(sealed);
  data.octets += sealed.length;
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

/** Sealed forms of registries that were compiled, as `SEALED`. */
const SEALED_REGISTRIES = new WeakMap<Registry, Uint8Array>();

/** The sealed registry; of one that is too large an empty one, and an error. A plan that contains it has no control plane. */
function registryOrEmpty({ diagnostics }: PlanDraft, registry: Registry): Uint8Array {
  diagnostics.push(...withoutControlPlane(registry));
  try {
    const known = SEALED_REGISTRIES.get(registry);
    const bytes = known ?? sealRegistry(registry);
    if (known === undefined) SEALED_REGISTRIES.set(registry, bytes);
    return bytes;
  } catch (error) {
    if (!(error instanceof RegistryTooLarge)) throw error;
    const message = `the registry ${error.message}`;
    diagnostics.push({ code: 'registry_too_large', severity: 'error', path: ['consumers'], message });
    return sealRegistry(EMPTY_REGISTRY);
  }
}

function joined({ parts, octets }: SealedData): Uint8Array {
  const all = new Uint8Array(octets);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
