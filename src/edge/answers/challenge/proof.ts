/**
 * Proof of work, as ALTCHA does it (altcha-lib, version 2 of its format): find a counter for which PBKDF2 of nonce and
 * counter begins with a prefix. What is asked is signed, so nothing needs to be remembered until it is handed in; from
 * then on it is, so that one proof counts once.
 */
import { createChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';
import type { Challenge, Solution } from 'altcha-lib/types';
import { isObject } from '../../../base/text/json-object.ts';
import type { Keyring } from './keys.ts';
import { KEY_PREFIX, MAX_USED_PROOFS, PROOF_SEC } from './limits.ts';

const ALGORITHM = 'PBKDF2/SHA-256';

/** What a proof is good for; signed with it. */
export interface ProofSubject {
  readonly domain: string;
  /** `<type>/<id>`. */
  readonly asker: string;
  /** Seconds for which it clears. */
  readonly seconds: number;
  /** Network and User-Agent, hashed. */
  readonly visitor: string;
}

export interface Proofs {
  /** `cost`: rounds for one attempt. */
  ask(subject: ProofSubject, how: { readonly now: number; readonly cost: number }): Promise<Challenge>;
  /**
   * What a proof handed in at a domain proves; `null`: nothing. `claimed` is what a client sent. A proof counts once,
   * right or wrong, so that no client causes more work than it was challenged to.
   */
  check(claimed: unknown, at: ProofPlace): Promise<ProofSubject | null>;
}

/** Where and when a proof is handed in. */
export interface ProofPlace {
  readonly domain: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface ProofOptions {
  readonly keys: Keyring;
  readonly maxUsed?: number;
}

export function createProofs({ keys, maxUsed = MAX_USED_PROOFS }: ProofOptions): Proofs {
  /** Signatures of proofs handed in, in that order, which is the order they expire in, more or less. */
  const used = new Map<string, number>();

  function take(signature: string, now: number): boolean {
    for (const [oldest, expires] of used) {
      if (expires > now / 1_000 && used.size < maxUsed) break;
      used.delete(oldest);
    }
    if (used.has(signature)) return false;
    used.set(signature, now / 1_000 + PROOF_SEC);
    return true;
  }

  return {
    ask: async (subject, { now, cost }) =>
      createChallenge({
        algorithm: ALGORITHM,
        cost,
        keyPrefix: KEY_PREFIX,
        deriveKey,
        data: { ...subject },
        expiresAt: Math.floor(now / 1_000) + PROOF_SEC,
        hmacSignatureSecret: (await keys(subject.domain, now))[0]!.proof,
      }),
    async check(claimed, { domain, now }) {
      const read = readClaim(claimed);
      if (read === null) return null;
      const { challenge, solution } = read;
      const { algorithm, expiresAt, data } = challenge.parameters;
      if (algorithm !== ALGORITHM || !(Number(expiresAt) > now / 1_000)) return null;
      const subject = readSubject(data);
      if (subject === null || subject.domain !== domain) return null;
      for (const { proof } of await keys(domain, now)) {
        // Verifies the signature first, with a dummy solution: the expensive work below is done only for challenges that this
        // service signed.
        const asked = await verifySolution({ ...TRIAL, challenge, hmacSignatureSecret: proof });
        if (asked.invalidSignature !== false) continue;
        if (!take(challenge.signature ?? '', now)) return null;
        const { verified } = await verifySolution({
          challenge,
          solution,
          deriveKey,
          hmacSignatureSecret: proof,
        });
        return verified ? subject : null;
      }
      return null;
    },
  };
}

/** Malformed, so refused before any key is derived. */
const TRIAL = { solution: { counter: -1, derivedKey: '' }, deriveKey } as const;

function readClaim(claimed: unknown): { readonly challenge: Challenge; readonly solution: Solution } | null {
  if (!isObject(claimed)) return null;
  const { challenge, solution } = claimed;
  if (!isObject(challenge) || !isObject(solution) || !isObject(challenge['parameters'])) return null;
  if (typeof challenge['signature'] !== 'string' || !/^[0-9a-f]{64}$/.test(challenge['signature']))
    return null;
  const { counter, derivedKey } = solution;
  if (typeof counter !== 'number' || typeof derivedKey !== 'string') return null;
  return { challenge: challenge as unknown as Challenge, solution: { counter, derivedKey } as Solution };
}

function readSubject(data: unknown): ProofSubject | null {
  if (!isObject(data)) return null;
  const { domain, asker, seconds, visitor } = data;
  const texts = [domain, asker, visitor].every((text) => typeof text === 'string');
  return texts && Number.isSafeInteger(seconds) ? (data as unknown as ProofSubject) : null;
}
