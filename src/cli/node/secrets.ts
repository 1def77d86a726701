/** What clearance is signed with where the domain has no secret of its own. */
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../answers/challenge/keys.ts';
import type { Clearance } from '../../plan/manifest.ts';
import type { PlanTable } from '../../sync/plan-table.ts';
import { secretsOf } from '../../sync/secrets.ts';

export interface SecretBox {
  /** The secrets of a domain. */
  readonly of: (plans: Pick<PlanTable, 'clearanceOf'>, domain: string) => Secrets;
  readonly set: (clearance: Clearance) => void;
}

/** A node's own, until a control plane says. */
export function ownClearance(): Clearance {
  return { current: randomBytes(32).toString('base64'), previous: [] };
}

export function createSecrets(first: Clearance): SecretBox {
  let common = first;
  return {
    of: (plans, domain) => secretsOf(plans.clearanceOf(domain) ?? common),
    set(clearance) {
      common = clearance;
    },
  };
}
