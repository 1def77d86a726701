/** A data folder as an installation has it: owners with keys, domains with records and rules, nodes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, createKey } from '../../src/control/accounts/keys.ts';
import { createNode } from '../../src/control/publishing/nodes.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store, WriteTransaction } from '../../src/control/store/store.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { RuleRow } from '../../src/control/store/tables/rules.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { activeDomain } from '../../test/support/sample-rows.ts';
import { ruleParts } from '../../test/unit/control/publishing/rows.ts';

export interface Installation {
  readonly folder: string;
  /** The owner's API key, the first of `keys`. */
  readonly key: string;
  readonly keys: readonly string[];
  readonly domains: readonly Placed[];
  /** Another account, which owns the last domain; `null` where none was asked for. */
  readonly neighbour: Owner | null;
  /** A token each. */
  readonly nodes: readonly string[];
  remove(): void;
}

export interface Owner {
  readonly accountId: number;
  readonly keys: readonly string[];
}

/** A domain as the store has it, with its rules in the order of the rule set. */
export interface Placed {
  readonly domain: DomainRow;
  readonly rules: readonly RuleRow[];
}

export interface Wanted {
  readonly ruleSets: Iterable<RuleSet>;
  /** How many keys each owner has; one unless given. */
  readonly keys?: number;
  /** Whether another account owns the last domain. */
  readonly neighbour?: boolean;
  /** How many. */
  readonly nodes?: number;
  /** The address of an empty PostgreSQL database; the folder is empty then. Default: the embedded store in the folder. */
  readonly database?: string;
}

/** Domains written in one transaction: as many as take about a fifth of a second. */
const AT_ONCE = 100;

/** Makes one in a folder of its own; the store is closed again. */
export async function makeInstallation(wanted: Wanted): Promise<Installation> {
  const { ruleSets, keys: count = 1, neighbour: withNeighbour = false, nodes = 0 } = wanted;
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-bench-'));
  const store = await openStore({ database: wanted.database ?? folder });
  const owner = await makeOwner(store, { name: 'owner', count });
  const neighbour = withNeighbour ? await makeOwner(store, { name: 'neighbour', count }) : null;
  const domains: Placed[] = [];
  const waiting = [...ruleSets];
  const last = waiting.at(-1);
  while (waiting.length > 0) {
    const batch = waiting.splice(0, AT_ONCE);
    const placed = await store.write(async (tx) => {
      const made: Placed[] = [];
      for (const ruleSet of batch) {
        const { accountId } = ruleSet === last && neighbour !== null ? neighbour : owner;
        made.push(await place(tx, accountId, ruleSet));
      }
      return made;
    });
    domains.push(...placed);
  }
  const tokens = await store.write(async (tx) => {
    const made: string[] = [];
    for (let at = 0; at < nodes; at++) made.push((await createNode(tx, `node-${at}`, Date.now())).token);
    return made;
  });
  await store.close();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  return { folder, key: owner.keys[0]!, keys: owner.keys, domains, neighbour, nodes: tokens, remove };
}

async function makeOwner(
  store: Store,
  { name, count }: { readonly name: string; readonly count: number },
): Promise<Owner> {
  const now = Date.now();
  const account = await createAccount(store, { name, now });
  if (!account.ok) throw new Error(`the account \`${name}\` cannot be made`);
  const keys: string[] = [];
  for (let at = 0; at < count; at++) {
    const made = await createKey(store, {
      account: name,
      name: `bench ${at}`,
      expiry: null,
      readOnly: false,
      now,
    });
    if (!made.ok) throw new Error(`a key of \`${name}\` cannot be made`);
    keys.push(made.value.key);
  }
  return { accountId: account.value.id, keys };
}

async function place(tx: WriteTransaction, accountId: number, ruleSet: RuleSet): Promise<Placed> {
  const { name } = ruleSet.domain;
  const times = { created_at: Date.now(), updated_at: Date.now() };
  const domain = await tx.domains.insert(activeDomain(name, accountId, times));
  const records = ruleSet.records.map((record) => ({ ...record, ...times, domain_id: domain.id }));
  const rows = await tx.records.insert(records);
  const ids = new Map(ruleSet.records.map((record, index) => [record.id, rows[index]!.id]));
  const rules: RuleRow[] = [];
  for (const rule of ruleSet.rules) {
    const record_ids = rule.record_ids.map((id) => ids.get(id)!);
    const parts = ruleParts({ ...rule, record_ids });
    rules.push(await tx.rules.insert({ ...parts, ...times, record_ids, domain_id: domain.id }));
  }
  const reason = 'made for the bench';
  await tx.outbox.append({ ...SERVICE, domain_id: domain.id, domain: name, at: Date.now(), reason });
  return { domain, rules };
}
