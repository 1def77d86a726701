/** The secret that clearances are signed with, as embedders give it. */
import type { Secrets } from '../answers/challenge/keys.ts';

/** Octets below which a secret can be guessed. */
const LEAST_OCTETS = 16;
const RANDOM_OCTETS = 32;

/**
 * Secrets for challenges: the one given, or one of this process's own, made when it is first needed.
 * @throws RangeError when the one given is too short
 */
export function createSecrets(given: Uint8Array | string | undefined): () => Secrets {
  let secrets: Secrets | null = null;
  if (given !== undefined) {
    const current = typeof given === 'string' ? new TextEncoder().encode(given) : given.slice();
    if (current.length < LEAST_OCTETS) {
      throw new RangeError(
        `\`secret\` has ${current.length} octets; give at least ${LEAST_OCTETS} random ones`,
      );
    }
    secrets = { current, previous: [] };
  }
  return () => {
    secrets ??= { current: crypto.getRandomValues(new Uint8Array(RANDOM_OCTETS)), previous: [] };
    return secrets;
  };
}
