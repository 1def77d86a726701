/** Work of a route that needs the secrets key. */
import { type KeyRing, SecretsKeyFault } from '../../certificates/key-ring.ts';
import { Refusal } from './refusal.ts';
import type { Services } from './route.ts';

/** Runs work that encrypts `what`. @throws Refusal 503 where the server has no secrets key, or cannot read it */
export async function withKey<T>(
  { secretsKey }: Pick<Services, 'secretsKey'>,
  what: string,
  work: (ring: KeyRing) => Promise<T>,
): Promise<T> {
  const remedy = 'the operator names one with `--secrets-key`';
  if (secretsKey == null)
    throw new Refusal(503, `this server has no secrets key to encrypt ${what} with; ${remedy}`);
  try {
    return await work(secretsKey);
  } catch (error) {
    if (!(error instanceof SecretsKeyFault)) throw error;
    throw new Refusal(503, `the secrets key of this server cannot be used; ${remedy}`);
  }
}
