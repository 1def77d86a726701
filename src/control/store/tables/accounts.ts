/** Accounts with their keys, and what a store has one of each. */
import { flag, id, integer, type RowOf, table, text, time } from './describe.ts';

/** Accounts. */
export const accounts = table('accounts', 1, {
  id: id(),
  name: text().unique(),
  /** An inactive account's keys answer 401. */
  active: flag(),
  created_at: time(),
  updated_at: time(),
});

/** An account: it has keys and owns domains. */
export interface AccountRow extends RowOf<typeof accounts> {}

/** API keys; the key itself is never stored. */
export const apiKeys = table(
  'api_keys',
  1,
  {
    id: id(),
    account_id: integer().references(accounts),
    /** SHA-256 of the whole key, 64 lower-case hex digits. */
    hash: text().unique(),
    name: text(),
    read_only: flag(),
    created_at: time(),
    /** The key is rejected from then on; `null`: it does not expire. */
    expires_at: time().nullable(),
    revoked_at: time().nullable(),
  },
  { indexes: { api_keys_by_account: ['account_id'] } },
);

/** An API key. */
export interface KeyRow extends RowOf<typeof apiKeys> {}

/** A key, and whether its account is active: a key of an inactive account is rejected. */
export interface KeyWithOwner extends KeyRow {
  readonly account_active: boolean;
}

/** A key as the API shows it to its owner. */
export interface KeyWithUse extends KeyRow {
  /** Time of the last request; `null`: never used. */
  readonly last_used_at: number | null;
}

/** Requests of keys by day. */
export const keyUses = table(
  'key_uses',
  1,
  {
    key_id: integer().references(apiKeys),
    /** Whole days since the epoch, UTC. */
    day: integer(),
    requests: integer(),
    /** The last request of that day. */
    last_used_at: time(),
  },
  { key: ['key_id', 'day'], withoutRowid: true },
);

/** Requests of one key on one day. */
export interface KeyUseRow extends RowOf<typeof keyUses> {}

/** The columns of the account and key that made a change. */
export const author = {
  /** `null`: the service itself or its operator. */
  account_id: integer().nullable(),
  /** The key that was used, if one was. */
  key_id: integer().nullable(),
} as const;

/** The account and key that made a change. */
export interface Author {
  /** `null`: the service itself or its operator. */
  readonly account_id: number | null;
  /** The key that was used, if one was. */
  readonly key_id: number | null;
}

/** The author of changes that the service makes on its own. */
export const SERVICE: Author = { account_id: null, key_id: null };

/** The audit log. Its entries outlive their domain. */
export const auditEntries = table(
  'audit_entries',
  1,
  {
    id: id(),
    domain_id: integer(),
    /** The domain's name then. */
    domain: text(),
    ...author,
    at: time(),
    /** What happened, `<noun>.<verb>`, such as `rule.update`. */
    action: text(),
    /** To what: `<type>/<id>`, or empty for the domain itself. */
    subject: text(),
    before_json: text().nullable(),
    after_json: text().nullable(),
  },
  { indexes: { audit_entries_by_domain: ['domain_id', 'id'] } },
);

/** One change of a domain, with its state before and after. */
export interface AuditRow extends RowOf<typeof auditEntries> {}

/**
 * What a store has one of, each under its name: secrets (`signing_keys` and `clearance_masters` as
 * `control/publishing/signer.ts` and `control/publishing/clearance.ts` write them, `signing_key` and `clearance` as releases before them
 * made them), `epoch`, the number of its history (milliseconds at which it was restored;
 * absent: never), and `republish`, the outbox id that every current revision has to cover.
 */
export const SECRET_NAMES = [
  'signing_key',
  'signing_keys',
  'clearance',
  'clearance_masters',
  'epoch',
  'republish',
] as const;
/** One of SECRET_NAMES. */
export type SecretName = (typeof SECRET_NAMES)[number];

/** What a store has one of. */
export const secrets = table(
  'secrets',
  1,
  { name: text().key(), value: text(), created_at: time() },
  { withoutRowid: true },
);
