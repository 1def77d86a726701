/** Creates, lists and revokes accounts and API keys for the command line; no key may do it over the API (API document). */
import { isStoreFault } from '../../base/storage/fault.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import {
  type AccountRow,
  type KeyRow,
  type KeyUseRow,
  type KeyWithUse,
  SERVICE,
} from '../store/tables/accounts.ts';
import { hashKey, makeKey } from './authenticate.ts';
import { DAYS_STORED, dayOf } from './key-uses.ts';

/** Maximum number of active keys per account. Fixed by the API document, "Limits". */
export const MAX_ACTIVE_KEYS = 10;
/** Days until a key expires; `null` is never. Fixed by the API document, "API key". */
export const EXPIRY_DAYS = [null, 30, 90, 365] as const;
export type ExpiryDays = (typeof EXPIRY_DAYS)[number];
/** Characters of the name of a key or an account: it must fit a line of output. */
export const MAX_LABEL_CHARACTERS = 64;

const DAY_MS = 86_400_000;

/** The result of an operator's request, or a sentence that says why it was refused. */
export type KeyOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

/** What is wrong with the name of an account or a key; `null`: nothing. */
export function judgeLabel(label: string): string | null {
  if (label.trim() === '') return 'must not be empty';
  if ([...label].length > MAX_LABEL_CHARACTERS) return `must be at most ${MAX_LABEL_CHARACTERS} characters`;
  return isOneLine(label) ? null : 'must be printable text';
}

/** Whether a text is one line of a list: no control characters, line ends, lone surrogates and bidirectional overrides. */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u.test(text);
}

/** Creates an active account; refused if the name is taken. @throws StoreFault */
export async function createAccount(
  store: Store,
  { name, now }: { readonly name: string; readonly now: number },
): Promise<KeyOutcome<AccountRow>> {
  const wrong = judgeLabel(name);
  if (wrong !== null) return refuse(`the account's name ${wrong}`);
  try {
    const row = { name, active: true, created_at: now, updated_at: now };
    return { ok: true, value: await store.write((tx) => tx.accounts.insert(row)) };
  } catch (error) {
    if (isStoreFault(error, 'conflict', 'accounts.name'))
      return refuse(`there is an account \`${name}\` already`);
    throw error;
  }
}

/**
 * Makes an account active or inactive; keys of an inactive account are answered with 401. Accounts have no audit log: the
 * entry is written to the log of each domain that the account owns.
 */
export async function setAccountActive(
  store: Store,
  { name, active, now }: { readonly name: string; readonly active: boolean; readonly now: number },
): Promise<KeyOutcome<AccountRow>> {
  return store.write(async (tx) => {
    const account = await tx.accounts.byName(name);
    if (account === null) return refuse(`there is no account \`${name}\``);
    if (account.active === active)
      return refuse(`the account \`${name}\` is ${active ? 'active' : 'inactive'} already`);
    // INVARIANT: locks the account before its domains, as a write with the account's key does, to avoid a deadlock.
    await tx.accounts.setActive(account.id, { active, at: now });
    const seen = await tx.domains.listSeenBy(account.id);
    const owned = seen.flatMap(({ domain, role }) => (role === 'owner' ? [domain] : []));
    const entries = owned
      .sort((left, right) => left.id - right.id)
      .map((domain) => ({
        ...SERVICE,
        domain_id: domain.id,
        domain: domain.name,
        at: now,
        action: active ? 'account.enable' : 'account.disable',
        subject: `account/${account.id}`,
        before_json: JSON.stringify({ active: account.active }),
        after_json: JSON.stringify({ active }),
      }));
    await tx.audit.append(...entries);
    return { ok: true as const, value: { ...account, active, updated_at: now } };
  });
}

export interface NewKey {
  readonly account: string;
  readonly name: string;
  readonly expiry: ExpiryDays;
  readonly readOnly: boolean;
  readonly now: number;
  /** More to write in the transaction of the new key, such as its notification; absent: nothing. */
  readonly also?: AlsoWrite;
}

/** Writes what belongs to a change of a key, in its transaction. */
export type AlsoWrite = (tx: WriteTransaction, row: KeyRow) => Promise<void>;

/** Creates a key of an account. `key` is the only copy of its text. */
export async function createKey(
  store: Store,
  { account, name, expiry, readOnly, now, also }: NewKey,
): Promise<KeyOutcome<{ readonly key: string; readonly row: KeyRow }>> {
  const wrong = judgeLabel(name);
  if (wrong !== null) return refuse(`the key's name ${wrong}`);
  const key = makeKey();
  return store.write(async (tx) => {
    const owner = await tx.accounts.byName(account);
    if (owner === null) return refuse(`there is no account \`${account}\``);
    const active = await tx.keys.countActive(owner.id, now);
    if (active >= MAX_ACTIVE_KEYS)
      return refuse(
        `\`${account}\` has ${active} active keys, and ${MAX_ACTIVE_KEYS} is the most: revoke one first`,
      );
    const row = await tx.keys.insert({
      account_id: owner.id,
      hash: hashKey(key),
      name,
      read_only: readOnly,
      created_at: now,
      expires_at: expiry === null ? null : now + expiry * DAY_MS,
    });
    await also?.(tx, row);
    return { ok: true as const, value: { key, row } };
  });
}

/** Revokes a key; once this has resolved, no write with the key commits. `false`: revoked before, or unknown. */
export function revokeKey(
  store: Store,
  { id, now, also }: { readonly id: number; readonly now: number; readonly also?: AlsoWrite },
): Promise<boolean> {
  return store.write(async (tx) => {
    if (!(await tx.keys.revoke(id, now))) return false;
    const { last_used_at: _, ...row } = (await tx.keys.get(id))!;
    await also?.(tx, row);
    return true;
  });
}

/** A key with its account and its uses of the last 30 days. */
export interface KeyReport {
  readonly account: AccountRow;
  readonly key: KeyWithUse;
  readonly uses: readonly KeyUseRow[];
}

/** The keys of one account, or of all (`account: null`), revoked ones included. `null`: there is no such account. */
export function reportKeys(
  store: Store,
  { account, now }: { readonly account: string | null; readonly now: number },
): Promise<readonly KeyReport[] | null> {
  return store.read(async (tx) => {
    const accounts = account === null ? await tx.accounts.list() : [await tx.accounts.byName(account)];
    const reports: KeyReport[] = [];
    for (const owner of accounts) {
      if (owner === null) return null;
      for (const key of await tx.keys.list(owner.id)) {
        reports.push({ account: owner, key, uses: await tx.keys.uses(key.id, dayOf(now) - DAYS_STORED + 1) });
      }
    }
    return reports;
  });
}
