/** What clearance is signed with. */
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../answers/challenge/keys.ts';
import type { Clearance } from '../../edge/follow/identity.ts';
import { secretsOf } from '../../edge/follow/secrets.ts';

export interface SecretBox {
  readonly read: () => Secrets;
  readonly set: (clearance: Clearance) => void;
}

/** A node's own, until a control plane says. */
export function ownClearance(): Clearance {
  return { current: randomBytes(32).toString('base64'), previous: null };
}

export function createSecrets(first: Clearance): SecretBox {
  let secrets = secretsOf(first);
  return {
    read: () => secrets,
    set(clearance) {
      secrets = secretsOf(clearance);
    },
  };
}
