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

/** Characters of a key: 132 bits. */
const KEY_CHARACTERS = 22;

/** What identifies an entry in the table: keys may be long, and contain what no database takes. */
function filedKey(kind: ListKind, value: string): string {
  return sha256Base64Url(Buffer.from(entryKey(kind, value), 'utf16le')).slice(0, KEY_CHARACTERS);
}

/** Entries for a write. No two may have one key. It is work for a thread: some tenths of a second for 100,000. */
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

/** A list whose entries change. */
export type EntriesOf = Pick<ListRow, 'id' | 'kind'>;

/** Octets of an entry in the sealed list (`engine/compiler/seal-list.ts`), at most: fixed ones, and those of each character. */
interface EntryCost {
  readonly fixed: number;
  readonly each: number;
}

/** Of text: a row and places in tables; the text itself has one or two octets a character. */
const TEXT_COST: EntryCost = { fixed: 64, each: 2 };
const COSTS: Readonly<Record<ListKind, EntryCost>> = {
  ip: { fixed: 32, each: 0 },
  asn: { fixed: 4, each: 0 },
  country: { fixed: 0, each: 0 },
  host: TEXT_COST,
  path: TEXT_COST,
  user_agent: TEXT_COST,
  redirect: TEXT_COST,
};

/** Whether an entry has a star elsewhere than at one end. */
const isScanned = sql`(value like '_%*%_' or value like '*%*')`;

/** What a sum over entries needs. */
type Summed = EntryCost & { readonly list_id: number };

function summedOf({ id, kind }: EntriesOf): Summed {
  return { list_id: id, ...COSTS[kind] };
}

/** Entries with inner stars also have 20 octets a character in the automaton. */
function totals({ fixed, each }: Summed): RawBuilder<unknown> {
  return sql`count(*) as entries, cast(coalesce(sum(case when ${isScanned} then 1 else 0 end), 0) as bigint) as scanned,
    cast(coalesce(sum(${int(fixed)} + ${int(each)} * (length(value) + coalesce(length(target), 0))
      + case when ${isScanned} then 20 * length(value) + 16 else 0 end), 0) as bigint) as octets
    from list_entries`;
}

const totalsOf = statement((builder, p: Summed) =>
  raw<EntryTotals>(sql`select ${totals(p)} where list_id = ${p.list_id}`, builder),
);

/** Keys of packed entries. */
function keysIn(packed: string, flavour: Flavour): RawBuilder<unknown> {
  return sql`(select entry_key from (${listed(packed, { entry_key: 'text' }, flavour)}) as given)`;
}

const totalsOfPacked = statement((builder, p: Summed & { packed: string }, flavour) =>
  raw<EntryTotals>(
    sql`select ${totals(p)} where list_id = ${p.list_id} and entry_key in ${keysIn(p.packed, flavour)}`,
    builder,
  ),
);

const totalsOfKeys = statement((builder, p: Summed & { keys: string }, flavour) =>
  raw<EntryTotals>(
    sql`select ${totals(p)} where list_id = ${p.list_id} and entry_key in ${textsIn(p.keys, flavour)}`,
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
  list: EntriesOf,
  packed: PackedEntries,
): Promise<EntryTotals> {
  await removeAll(session, { list_id: list.id });
  for (const part of packed) await put(session, { list_id: list.id, packed: part, from: 0 });
  return (await one(session, totalsOf, summedOf(list)))!;
}

/** Adds entries after the others, or replaces those of the same keys. Returns by how much the totals change. */
export async function addEntries(
  session: Session,
  list: EntriesOf,
  packed: PackedEntries,
): Promise<EntryTotals> {
  const from = ((await one(session, last, { list_id: list.id }))?.position ?? -1) + 1;
  let change = NOTHING;
  for (const part of packed) {
    const of = { ...summedOf(list), packed: part };
    const before = (await one(session, totalsOfPacked, of))!;
    await put(session, { list_id: list.id, packed: part, from });
    change = sum(change, difference((await one(session, totalsOfPacked, of))!, before));
  }
  return change;
}

/** Removes the entries that are there. Returns by how much the totals change. */
export async function removeEntries(
  session: Session,
  list: EntriesOf,
  packed: PackedEntries,
): Promise<EntryTotals> {
  let change = NOTHING;
  for (const keys of packed) {
    const of = { ...summedOf(list), keys };
    change = difference(change, (await one(session, totalsOfKeys, of))!);
    await removeKeys(session, { list_id: list.id, keys });
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
