/** The secrets that sign clearances: a domain's own, else the node's common one. */
import { randomBytes } from 'node:crypto';
import type { Clearance } from '../../engine/plan/manifest.ts';
import type { Secrets } from '../answers/challenge/keys.ts';
import type { PlanTable } from '../following/plan-table.ts';
import { secretsOf } from '../following/secrets.ts';

/** The common secret of a node, and the choice for a domain. */
export interface ClearanceSecrets {
  /** The secrets of a domain. */
  readonly of: (plans: Pick<PlanTable, 'clearanceOf'>, domain: string) => Secrets;
  /** Replaces the common secret. */
  readonly set: (clearance: Clearance) => void;
}

/** A random secret, for a node that has received none from a control plane. */
export function randomClearance(): Clearance {
  return { current: randomBytes(32).toString('base64'), previous: [] };
}

export function createClearanceSecrets(first: Clearance): ClearanceSecrets {
  let common = first;
  return {
    of: (plans, domain) => secretsOf(plans.clearanceOf(domain) ?? common),
    set(clearance) {
      common = clearance;
    },
  };
}
