/** Which current plans are to be published again: those of an older version, and those from before a request. */
import { HEADER, MAGIC, PLAN_VERSION } from '../../engine/plan/layout.ts';
import type { PlanHead } from '../store/rows.ts';
import { type ReadTransaction, SERVICE, type Store } from '../store/store.ts';
import { REPUBLISH_HEADS } from './limits.ts';
import { REQUEST_REASON } from './republish-content.ts';

/** The name under which the request is stored: the outbox id that every current revision has to cover. */
const REQUEST_NAME = 'republish';

/** Counts of a store's current plans. */
export interface Survey {
  readonly plans: number;
  /** Plans of an older version. */
  readonly older: number;
  /** Plans to publish again, those of an older version among them. */
  readonly left: number;
}

/** The version of a sealed plan by its first eight octets; 0 if they are not a plan's. */
export function versionOf(head: Uint8Array | null): number {
  if (head === null || head.byteLength < 8) return 0;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return view.getUint32(HEADER.magic * 4, true) === MAGIC ? view.getUint32(HEADER.version * 4, true) : 0;
}

/**
 * Whether this build writes a newer version. A newer plan is of another process, in the middle of an upgrade: if each
 * replaced the other's plans, neither would end.
 */
export function isOlder({ head }: PlanHead): boolean {
  return versionOf(head) < PLAN_VERSION;
}

/** Whether a plan is to be published again: it is older, or from before the request. */
export function isLeft(plan: PlanHead, request: number): boolean {
  return isOlder(plan) || plan.through < request;
}

/** The current plans in the order of their domains, read in parts of `REPUBLISH_HEADS`. */
export async function* allHeads(tx: Pick<ReadTransaction, 'plans'>): AsyncGenerator<PlanHead> {
  for (let after = ''; ; ) {
    const heads = await tx.plans.heads(after, REPUBLISH_HEADS);
    yield* heads;
    const last = heads.at(-1);
    if (last === undefined || heads.length < REPUBLISH_HEADS) return;
    after = last.domain;
  }
}

/** Counts the current plans. `request` is what `requestAll` returned; 0: no request. */
export async function survey(tx: Pick<ReadTransaction, 'plans'>, request: number): Promise<Survey> {
  const counted = { plans: 0, older: 0, left: 0 };
  for await (const plan of allHeads(tx)) {
    counted.plans += 1;
    if (isOlder(plan)) counted.older += 1;
    if (isLeft(plan, request)) counted.left += 1;
  }
  return counted;
}

/**
 * Requests that every domain with a plan is published again, by the server that runs on the store or by the next one.
 * Returns the `request` of `survey`, or 0 if no domain has a plan.
 */
export function requestAll(store: Store, now: number): Promise<number> {
  return store.write(async (tx) => {
    for await (const { domain, domain_id } of allHeads(tx)) {
      if ((await tx.domains.get(domain_id)) === null) continue;
      // Its id is above those of all earlier changes, so a plan of any domain is from before the request if it covers less.
      const id = await tx.outbox.append({ ...SERVICE, domain_id, domain, at: now, reason: REQUEST_REASON });
      await tx.secrets.put(REQUEST_NAME, String(id), now);
      return id;
    }
    return 0;
  });
}

/** The stored request; 0: none. */
export async function readRequest(tx: Pick<ReadTransaction, 'secrets'>): Promise<number> {
  return Number((await tx.secrets.get(REQUEST_NAME)) ?? 0);
}
