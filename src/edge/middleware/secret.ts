/** The secret of clearance cookies, from an option or random. */
import type { Secrets } from '../answers/challenge/keys.ts';

/** Fewest octets of a secret: 128 bits cannot be guessed. */
const LEAST_OCTETS = 16;
const RANDOM_OCTETS = 32;

/**
 * Secrets for challenges: the given one, or a random one that is created at its first use.
 * @throws RangeError when the given one is shorter than 16 octets
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
