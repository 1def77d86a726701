/**
 * Removes the plans of old revisions, a few in each transaction. The history keeps every row, which then says that its
 * plan is pruned. What is published and what nodes report to run is never removed.
 */
import type { StoredPlan } from '../store/rows.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import {
  AGELESS_PLANS,
  MAX_STORED_OCTETS,
  MAX_STORED_PLANS,
  PRUNED_AT_ONCE,
  PRUNED_NAMES,
  SIZELESS_PLANS,
  STORED_MS,
} from './limits.ts';

/** Plans read of one name in one step: those that may stay, and as many more as go at once. */
const READ_PLANS = 2 * MAX_STORED_PLANS + PRUNED_AT_ONCE;

/** Prunes every name with more than SIZELESS_PLANS plans. Returns how many plans were removed. */
export async function pruneAll(store: Store, now: number): Promise<number> {
  let pruned = 0;
  let after = '';
  for (;;) {
    const names = await store.latest.plans.storedNames(after, PRUNED_NAMES);
    for (const { domain, plans } of names) {
      if (plans > SIZELESS_PLANS) pruned += await pruneName(store, domain, now);
    }
    const last = names.at(-1);
    if (names.length < PRUNED_NAMES || last === undefined) return pruned;
    after = last.domain;
  }
}

/** Prunes one name, step by step. */
export async function pruneName(store: Store, domain: string, now: number): Promise<number> {
  let pruned = 0;
  // Most names have nothing to prune, which needs no transaction.
  while ((await prunable(store.latest, domain, now)).length > 0) {
    pruned += await store.write(async (tx) => {
      const revisions = (await prunable(tx, domain, now)).slice(-PRUNED_AT_ONCE);
      await tx.plans.prune(domain, revisions);
      return revisions.length;
    });
  }
  return pruned;
}

async function prunable(
  tx: Pick<ReadTransaction, 'plans' | 'nodes'>,
  domain: string,
  now: number,
): Promise<readonly number[]> {
  const stored = await tx.plans.stored(domain, READ_PLANS);
  const old = outdated(stored, now);
  if (old.length === 0) return [];
  const current = await tx.plans.current(domain);
  const needed = new Set([current?.revision, ...(await tx.nodes.acknowledged(domain))]);
  return old.filter((revision) => !needed.has(revision));
}

/** Those of one name's plans, newest first, that are beyond the limits. */
export function outdated(stored: readonly StoredPlan[], now: number): readonly number[] {
  let octets = 0;
  return stored
    .filter((plan, place) => {
      octets += plan.octets;
      if (place < SIZELESS_PLANS) return false;
      if (octets > MAX_STORED_OCTETS || place >= MAX_STORED_PLANS) return true;
      return place >= AGELESS_PLANS && plan.at < now - STORED_MS;
    })
    .map(({ revision }) => revision);
}

/** The message for a revision whose plan was pruned, with what can be done instead. */
export function prunedSentence(revision: number): string {
  return `the plan of revision ${revision} has been pruned; the list of plans names the newer ones that are stored`;
}
