/** Named lists of domains and accounts (semantics §13), their entries, their sealed forms, and which rules name them. */
import type { ListKind } from '../../../base/vocabulary/vocabulary.ts';
import { accounts } from './accounts.ts';
import { bytes, id, integer, json, type RowOf, table, text, time } from './describe.ts';
import { domains } from './domains.ts';
import { planBlobs } from './plans.ts';
import { publishedRules, rules } from './rules.ts';

/** Lists. */
export const lists = table(
  'lists',
  24,
  {
    id: id(),
    /** The account whose domains all may name it; `null`: it is of one domain. */
    account_id: integer().nullable().references(accounts, 'cascade'),
    /** The domain whose rules may name it; `null`: it is of an account. */
    domain_id: integer()
      .nullable()
      .references(domains, 'cascade')
      .check('(domain_id IS NULL) <> (account_id IS NULL)'),
    name: text(),
    /** Never changed. */
    kind: text<ListKind>(),
    /** How many it has. */
    entries: integer(),
    /** Entries with a star elsewhere than at one end. */
    scanned: integer(),
    /** At least as many as its sealed form has. */
    octets: integer(),
    /** Rises with each change of its entries. */
    version: integer(),
    /** Of the sealed form of `sealed_version`; `null`: it was never sealed. */
    digest: text().nullable(),
    /** The version that `digest` is of; the list has to be sealed again if it is another than `version`. */
    sealed_version: integer().nullable(),
    /** Where its entries are fetched from, as JSON text; `null`: they are written through the API. */
    feed: json().nullable(),
    /** How the last fetch ended, as JSON text; `null`: it has no feed. */
    feed_state: json().nullable(),
    created_at: time(),
    updated_at: time(),
  },
  {
    indexes: {
      lists_of_domains: { on: ['domain_id', 'name'], unique: true, conflict: 'lists.domain_id, lists.name' },
      lists_of_accounts: {
        on: ['account_id', 'name'],
        unique: true,
        conflict: 'lists.account_id, lists.name',
      },
      lists_by_digest: { on: ['digest'], where: 'digest IS NOT NULL' },
    },
  },
);

/** A named list without its entries. */
export interface ListRow extends RowOf<typeof lists> {}

/** Entries of lists. */
export const listEntries = table(
  'list_entries',
  24,
  {
    list_id: integer().references(lists, 'cascade'),
    /** Rising in the order in which they were written, with gaps. */
    position: integer(),
    /** What identifies the entry in its list (`entryKey`), hashed. */
    entry_key: text(),
    value: text(),
    /** Of a redirect: where to. */
    target: text().nullable(),
    /** Of a redirect: the status; `null`: that of the rule. */
    status: integer().nullable(),
    comment: text().nullable(),
  },
  {
    key: ['list_id', 'position'],
    withoutRowid: true,
    indexes: { list_entries_by_key: { on: ['list_id', 'entry_key'], unique: true } },
  },
);

/** An entry of a list. */
export interface ListEntryRow extends Omit<RowOf<typeof listEntries>, 'list_id' | 'entry_key'> {}

/** Sealed lists by digest. */
export const listBlobs = table('list_blobs', 24, {
  /** SHA-256 of `bytes`, lower-case hex. */
  digest: text().key(),
  /** When a list had this content last. */
  created_at: time(),
  bytes: bytes(),
});

/** When the feeds of lists are fetched, and by which process. */
export const listFeeds = table(
  'list_feeds',
  24,
  {
    list_id: integer().key().references(lists, 'cascade'),
    /** What is sent as `Authorization`, encrypted; `null`: nothing. */
    sealed_header: bytes().nullable(),
    /** When it is fetched next. */
    due_at: time(),
    /** Identifies the claim: a process that claims the feed later has another one, as a change of the feed has. */
    claim: integer().preset(0),
    claimed_until: time().preset(0),
  },
  { indexes: { list_feeds_by_due: ['due_at'] } },
);

/** A feed that this process fetches. */
export interface ClaimedFeed extends Pick<RowOf<typeof listFeeds>, 'list_id' | 'sealed_header' | 'claim'> {
  /** Whose turn it is: the account that has the list, or the domain of the list. */
  readonly account_id: number;
}

/** The encrypted header of a feed. */
export interface SealedHeaderRow extends Pick<RowOf<typeof listFeeds>, 'list_id'> {
  readonly sealed_header: Uint8Array;
}

/** The sealed lists that stored plans refer to. */
export const planLists = table(
  'plan_lists',
  24,
  {
    plan_digest: text().references(planBlobs, 'cascade'),
    list_digest: text().references(listBlobs),
  },
  {
    key: ['plan_digest', 'list_digest'],
    withoutRowid: true,
    indexes: { plan_lists_by_list: ['list_digest'] },
  },
);

/** Which rules name which lists: the `@name` entries of rule bodies, searchable. */
export const listUses = table(
  'list_uses',
  24,
  {
    domain_id: integer().references(domains, 'cascade'),
    name: text(),
    rule_id: integer().references(rules, 'cascade'),
    /** What the list has to have where it is named. */
    kind: text<ListKind>(),
  },
  {
    key: ['domain_id', 'name', 'rule_id'],
    withoutRowid: true,
    indexes: { list_uses_by_rule: ['rule_id'] },
  },
);

/** The same of published rules that are stored beside a draft's. */
export const publishedListUses = table(
  'published_list_uses',
  24,
  {
    domain_id: integer().references(domains, 'cascade'),
    name: text(),
    rule_id: integer().references(publishedRules, 'cascade'),
    kind: text<ListKind>(),
  },
  {
    key: ['domain_id', 'name', 'rule_id'],
    withoutRowid: true,
    indexes: { published_list_uses_by_rule: ['rule_id'] },
  },
);

/** A list that a rule names, and the kind that it has to have there. */
export interface ListUse extends Pick<RowOf<typeof listUses>, 'name' | 'kind'> {}
