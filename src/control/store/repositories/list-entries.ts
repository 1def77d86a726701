/** Entries of named lists: packed into pieces of JSON text, each written by one statement, and read back in order. */
import { type RawBuilder, sql } from 'kysely';
import { sha256Base64Url } from '../../../base/platform/cryptography.ts';
import type { ListKind } from '../../../base/vocabulary/vocabulary.ts';
import { entryKey, type ListEntry } from '../../../rules/model/lists.ts';
import {
  type Flavour,
  int,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
  textsIn,
} from '../database/statement.ts';
import type { ListEntryRow, ListRow } from '../tables/lists.ts';

/** Entries as statements take them: JSON texts of at most `PACKED_AT_ONCE` entries each. */
export type PackedEntries = readonly string[];

/** Entries of one statement: so few that it takes the writer some milliseconds. */
const PACKED_AT_ONCE = 2_000;

const PACKED = {
  position: 'bigint',
  entry_key: 'text',
  value: 'text',
  target: 'text',
  status: 'bigint',
  comment: 'text',
} as const satisfies ListedColumns;

/** What identifies an entry in the table: keys may be long, and contain what no database takes. */
function filedKey(kind: ListKind, value: string): string {
  return sha256Base64Url(Buffer.from(entryKey(kind, value), 'utf16le'));
}

/** Entries for a write. No two may have one key. It is work for a thread: some 0.4 s for 100,000. */
export function packEntries(kind: ListKind, entries: readonly ListEntry[]): PackedEntries {
  return parts(entries).map((part, number) =>
    listedRows(
      part.map(({ value, to, status, comment }, place) => ({
        position: number * PACKED_AT_ONCE + place,
        entry_key: filedKey(kind, value),
        value,
        target: to ?? null,
        status: status ?? null,
        comment: comment ?? null,
      })),
      PACKED,
    ),
  );
}

/** The keys of entries that a write removes. */
export function packKeys(kind: ListKind, values: readonly string[]): PackedEntries {
  return parts(values).map((part) => JSON.stringify(part.map((value) => filedKey(kind, value))));
}

function parts<T>(all: readonly T[]): readonly (readonly T[])[] {
  const starts = Array.from(
    { length: Math.ceil(all.length / PACKED_AT_ONCE) },
    (_, at) => at * PACKED_AT_ONCE,
  );
  return starts.map((start) => all.slice(start, start + PACKED_AT_ONCE));
}

/** An entry as the model has it. */
export function entryOf({
  value,
  target,
  status,
  comment,
}: Pick<ListEntryRow, 'value' | 'target' | 'status' | 'comment'>): ListEntry {
  return {
    value,
    ...(comment === null ? {} : { comment }),
    ...(target === null ? {} : { to: target }),
    ...(status === null ? {} : { status }),
  };
}

/** What the entries of a list amount to. */
export type EntryTotals = Pick<ListRow, 'entries' | 'scanned' | 'octets'>;

/** 1 if an entry has a star elsewhere than at one end. */
const isScanned = sql`case when value like '_%*%_' or value like '*%*' then 1 else 0 end`;

/**
 * Octets of an entry in the sealed list, at most (`engine/compiler/seal-list.ts`): its text, two octets a character, a row and
 * places in tables; of one with inner stars also 20 octets a character in the automaton.
 */
const octetsOf = sql`2 * (length(value) + coalesce(length(target), 0)) + 64
  + case when value like '_%*%_' or value like '*%*' then 20 * length(value) + 16 else 0 end`;

const totals = sql`count(*) as entries, cast(coalesce(sum(${isScanned}), 0) as bigint) as scanned,
  cast(coalesce(sum(${octetsOf}), 0) as bigint) as octets`;

const totalsOf = statement((builder, p: { list_id: number }) =>
  raw<EntryTotals>(sql`select ${totals} from list_entries where list_id = ${p.list_id}`, builder),
);

/** Keys of packed entries. */
function keysIn(packed: string, flavour: Flavour): RawBuilder<unknown> {
  return sql`(select entry_key from (${listed(packed, { entry_key: 'text' }, flavour)}) as given)`;
}

const totalsOfPacked = statement((builder, p: { list_id: number; packed: string }, flavour) =>
  raw<EntryTotals>(
    sql`select ${totals} from list_entries where list_id = ${p.list_id} and entry_key in ${keysIn(p.packed, flavour)}`,
    builder,
  ),
);

const totalsOfKeys = statement((builder, p: { list_id: number; keys: string }, flavour) =>
  raw<EntryTotals>(
    sql`select ${totals} from list_entries where list_id = ${p.list_id} and entry_key in ${textsIn(p.keys, flavour)}`,
    builder,
  ),
);

/** An entry that is there already has its place still. */
const put = statement((builder, p: { list_id: number; packed: string; from: number }, flavour) =>
  raw(
    sql`insert into list_entries (list_id, position, entry_key, value, target, status, comment)
      select ${int(p.list_id)}, ${int(p.from)} + given.position, given.entry_key, given.value, given.target,
        given.status, given.comment
      from (${listed(p.packed, PACKED, flavour)}) as given where true
      on conflict (list_id, entry_key) do update set value = excluded.value, target = excluded.target,
        status = excluded.status, comment = excluded.comment`,
    builder,
  ),
);

const removeAll = statement((builder, p: { list_id: number }) =>
  builder.deleteFrom('list_entries').where('list_id', '=', p.list_id),
);

const removeKeys = statement((builder, p: { list_id: number; keys: string }, flavour) =>
  builder
    .deleteFrom('list_entries')
    .where('list_id', '=', p.list_id)
    .where('entry_key', 'in', textsIn(p.keys, flavour)),
);

const last = statement((builder, p: { list_id: number }) =>
  builder
    .selectFrom('list_entries')
    .select('position')
    .where('list_id', '=', p.list_id)
    .orderBy('position', 'desc')
    .limit(int(1)),
);

/** Replaces all entries and returns the new totals. */
export async function replaceEntries(
  session: Session,
  listId: number,
  packed: PackedEntries,
): Promise<EntryTotals> {
  await removeAll(session, { list_id: listId });
  for (const part of packed) await put(session, { list_id: listId, packed: part, from: 0 });
  return (await one(session, totalsOf, { list_id: listId }))!;
}

/** Adds entries after the others, or replaces those of the same keys. Returns by how much the totals change. */
export async function addEntries(
  session: Session,
  listId: number,
  packed: PackedEntries,
): Promise<EntryTotals> {
  const from = ((await one(session, last, { list_id: listId }))?.position ?? -1) + 1;
  let change = NOTHING;
  for (const part of packed) {
    const of = { list_id: listId, packed: part };
    const before = (await one(session, totalsOfPacked, of))!;
    await put(session, { ...of, from });
    change = sum(change, difference((await one(session, totalsOfPacked, of))!, before));
  }
  return change;
}

/** Removes the entries that are there. Returns by how much the totals change. */
export async function removeEntries(
  session: Session,
  listId: number,
  packed: PackedEntries,
): Promise<EntryTotals> {
  let change = NOTHING;
  for (const keys of packed) {
    const of = { list_id: listId, keys };
    change = difference(change, (await one(session, totalsOfKeys, of))!);
    await removeKeys(session, of);
  }
  return change;
}

const NOTHING: EntryTotals = { entries: 0, scanned: 0, octets: 0 };

function sum(one: EntryTotals, other: EntryTotals): EntryTotals {
  return {
    entries: one.entries + other.entries,
    scanned: one.scanned + other.scanned,
    octets: one.octets + other.octets,
  };
}

function difference(one: EntryTotals, other: EntryTotals): EntryTotals {
  return {
    entries: one.entries - other.entries,
    scanned: one.scanned - other.scanned,
    octets: one.octets - other.octets,
  };
}

/** A part of the entries of a list, by position. */
export interface EntryPage {
  /** Only entries with higher positions; -1: from the beginning. */
  readonly after: number;
  readonly limit: number;
}

const page = statement((builder, p: EntryPage & { list_id: number }) =>
  builder
    .selectFrom('list_entries')
    .select(['position', 'value', 'target', 'status', 'comment'])
    .where('list_id', '=', p.list_id)
    .where('position', '>', p.after)
    .orderBy('position')
    .limit(p.limit),
);

/** Entries in order. */
export function pageOfEntries(
  session: Session,
  listId: number,
  asked: EntryPage,
): Promise<readonly ListEntryRow[]> {
  return page(session, { ...asked, list_id: listId });
}
