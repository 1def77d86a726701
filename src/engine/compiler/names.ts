/** Which host has which proxied records: exact names, and wildcards at the closest encloser (semantics §2). */
import { assert } from '../../base/diagnostics/assert.ts';
import { RECORD_SCHEMES } from '../../base/vocabulary/vocabulary.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { DnsRecord } from '../../rules/model/types.ts';
import { META, NAME, NONE, nameHash } from '../plan/layout.ts';
import { type PlanDraft, placePosting, placeString, placeWords, type RecordGroup } from './draft.ts';

/** The host name of a record: `@` is the domain itself. */
function nameOf(draft: PlanDraft, record: DnsRecord): string {
  const name = absoluteName(record.name, draft.ruleSet.domain.name);
  assert(name !== null, 'the model refuses names outside the domain');
  return name;
}

/** Gathers the proxied records of each name, in the order of names. */
export function groupRecords(draft: PlanDraft): void {
  const { records } = draft.ruleSet;
  const byName = new Map<string, DnsRecord[]>();
  for (const record of records) {
    if (!record.proxied) continue;
    const name = nameOf(draft, record);
    const list = byName.get(name);
    if (list === undefined) byName.set(name, [record]);
    else list.push(record);
  }
  draft.groups = [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, list]) => ({ name, records: list.sort((a, b) => a.id - b.id) }));
  draft.groupOf = new Map(
    draft.groups.flatMap(({ records: own }, place) => own.map(({ id }) => [id, place] as const)),
  );
}

/** Lays out the groups and the hash table of every name that exists. */
export function layNames(draft: PlanDraft): void {
  layGroups(draft);
  const { domain, records } = draft.ruleSet;
  const existing = new Set<string>();
  for (const record of records) addWithParents(existing, nameOf(draft, record), domain.name);
  const groupOf = new Map(draft.groups.map((group, index) => [group.name, index]));
  let size = 4;
  while (size < existing.size * 2) size *= 2;
  const table = new Uint32Array(size * NAME.size).fill(NONE);
  for (let row = 0; row < size; row++) table[row * NAME.size + NAME.string] = 0;
  for (const name of [...existing].sort()) {
    let row = nameHash(name, 0) & (size - 1);
    while (table[row * NAME.size + NAME.string] !== 0) row = (row + 1) & (size - 1);
    table[row * NAME.size + NAME.string] = placeString(draft.strings, name);
    table[row * NAME.size + NAME.group] = groupOf.get(name) ?? NONE;
    table[row * NAME.size + NAME.wildcard] = groupOf.get(`*.${name}`) ?? NONE;
  }
  draft.names = table;
  draft.meta[META.nameSlots] = size;
}

/** A name exists when a record has it or lies below it (RFC 4592 §2.2.2). */
function addWithParents(existing: Set<string>, name: string, domain: string): void {
  let at = name;
  while (at.length >= domain.length && !existing.has(at)) {
    existing.add(at);
    const dot = at.indexOf('.');
    if (dot < 0) return;
    at = at.slice(dot + 1);
  }
}

/** Whether requests to the host of a group count for its uptime. */
export function isMonitored({ records }: RecordGroup): boolean {
  return records.some(({ monitor }) => monitor);
}

/**
 * Writes every group to `words` (layout: `GROUP`): the posting list of its rules, the lowest id of its records with a
 * captcha, and its record rows in id order. `META.groups` is the list of their offsets. A word per group follows, if any
 * record is monitored, so that the plans of all other domains stay the same.
 */
function layGroups(draft: PlanDraft): void {
  const { groups, meta } = draft;
  const anyMonitored = groups.some(isMonitored);
  const offsets = groups.map((group, index) => {
    const posting = placePosting(draft, draft.filing.byKey.get(groupKey(index)) ?? []);
    const captcha = group.records.find((record) => record.captcha)?.id ?? 0;
    const rows = group.records.flatMap((record) => recordRow(draft, group, record));
    return placeWords(draft.words, [
      posting,
      captcha,
      group.records.length,
      ...rows,
      ...(anyMonitored ? [isMonitored(group) ? 1 : 0] : []),
    ]);
  });
  meta[META.groupCount] = groups.length;
  meta[META.groups] = placeWords(draft.words, offsets);
}

/** The row of one record (layout: `RECORD`). */
function recordRow(draft: PlanDraft, group: RecordGroup, record: DnsRecord): readonly number[] {
  const scheme = RECORD_SCHEMES.indexOf(record.scheme);
  assert(scheme >= 0, 'the scheme is in the vocabulary');
  return [
    record.id,
    placeString(draft.strings, group.name),
    placeString(draft.strings, record.destination),
    record.port ?? 0,
    scheme,
    placeString(draft.strings, record.host_header),
    record.timeout ?? 0,
  ];
}

/** The key that rules scoped to the group's records are filed under. */
export function groupKey(group: number): string {
  return `g:${group}`;
}
