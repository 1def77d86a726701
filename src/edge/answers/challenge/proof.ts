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

/** Hex digits that a key must begin with. */
const KEY_PREFIX = '00';
/** Seconds from the challenge to the proof: slow phones in the background included. */
const PROOF_SEC = 300;
/** Maximum number of used proofs that are stored: if more come within `PROOF_SEC`, the oldest is removed. */
const MAX_USED_PROOFS = 100_000;

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
  /** The proofs that were handed in. */
  used(): readonly UsedProof[];
  /** Counts proofs as handed in: another process of the node got them. */
  addUsed(proofs: readonly UsedProof[]): void;
}

/** A proof that was handed in: its signature, and when it expires in seconds since the epoch. */
export type UsedProof = readonly [signature: string, expires: number];

/** Where and when a proof is handed in. */
export interface ProofPlace {
  readonly domain: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface ProofOptions {
  readonly keys: Keyring;
  readonly maxUsed?: number;
  /** Called with each proof that is handed in here. */
  readonly onUsed?: ((proof: UsedProof) => void) | undefined;
}

export function createProofs({ keys, maxUsed = MAX_USED_PROOFS, onUsed }: ProofOptions): Proofs {
  /** Signatures of proofs handed in, in that order, which is the order they expire in, more or less. */
  const used = new Map<string, number>();

  function take(signature: string, now: number): boolean {
    for (const [oldest, expires] of used) {
      if (expires > now / 1_000 && used.size < maxUsed) break;
      used.delete(oldest);
    }
    if (used.has(signature)) return false;
    const expires = now / 1_000 + PROOF_SEC;
    used.set(signature, expires);
    onUsed?.([signature, expires]);
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
    used: () => [...used],
    addUsed(proofs) {
      for (const [signature, expires] of proofs) if (used.size < maxUsed) used.set(signature, expires);
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

// The script of the challenge page. It solves by the browser's own PBKDF2; pages on plain HTTP have none (WebCrypto is for
// secure contexts), so there is one of its own below: SHA-256 (FIPS 180-4), HMAC (RFC 2104), PBKDF2 (RFC 8018 §5.2) with one
// block, which is all that 32 octets take.
//
// A text, since browsers run it and the node does not: plain ECMAScript 2017, no outside, no markup in it.

export const SOLVER = `(async () => {
'use strict';
const byId = (id) => document.getElementById(id);
const status = byId('status'), bar = byId('bar'), again = byId('again'), form = byId('form');
const { parameters, signature } = JSON.parse(byId('challenge').textContent);
// Another asker may ask right behind this one, which is no failure.
const mark = 'edgeplan-solved ' + parameters.data.asker;
const octets = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
const hex = (bytes) => Array.from(bytes, (octet) => octet.toString(16).padStart(2, '0')).join('');

const K = new Int32Array(64), H = new Int32Array(8);
const root = (value, power) => ((Math.pow(value, power) % 1) * 4294967296) | 0;
for (let candidate = 2, found = 0; found < 64; candidate++) {
  let prime = true;
  for (let by = 2; by * by <= candidate; by++) if (candidate % by === 0) prime = false;
  if (!prime) continue;
  if (found < 8) H[found] = root(candidate, 1 / 2);
  K[found++] = root(candidate, 1 / 3);
}
const W = new Int32Array(64);
const turn = (word, by) => (word >>> by) | (word << (32 - by));
function compress(out, from, block) {
  for (let i = 0; i < 16; i++) W[i] = block[i];
  for (let i = 16; i < 64; i++) {
    const x = W[i - 15], y = W[i - 2];
    W[i] = (W[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + W[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))) | 0;
  }
  let a = from[0], b = from[1], c = from[2], d = from[3], e = from[4], f = from[5], g = from[6], h = from[7];
  for (let i = 0; i < 64; i++) {
    const t = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + W[i]) | 0;
    const u = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + t) | 0; d = c; c = b; b = a; a = (t + u) | 0;
  }
  out[0] = from[0] + a; out[1] = from[1] + b; out[2] = from[2] + c; out[3] = from[3] + d;
  out[4] = from[4] + e; out[5] = from[5] + f; out[6] = from[6] + g; out[7] = from[7] + h;
}
const words = (bytes) => {
  const out = new Int32Array(16);
  bytes.forEach((octet, at) => { out[at >> 2] |= octet << (24 - 8 * (at & 3)); });
  return out;
};
const inner = new Int32Array(8), outer = new Int32Array(8), sum = new Int32Array(8);
// The second block of each hash: a message of 32 octets after the key's, with its end mark and length.
const message = new Int32Array(16);
message[8] = 0x80000000 | 0;
message[15] = (64 + 32) * 8;
function pbkdf2(password, salt, rounds) {
  const key = words(password);
  compress(inner, H, key.map((word) => word ^ 0x36363636));
  compress(outer, H, key.map((word) => word ^ 0x5c5c5c5c));
  const first = words([...salt, 0, 0, 0, 1, 0x80]);
  first[15] = (64 + salt.length + 4) * 8;
  compress(message, inner, first);
  compress(message, outer, message);
  sum.set(message.subarray(0, 8));
  for (let round = 1; round < rounds; round++) {
    compress(message, inner, message);
    compress(message, outer, message);
    for (let i = 0; i < 8; i++) sum[i] ^= message[i];
  }
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  sum.forEach((word, at) => view.setInt32(at * 4, word));
  return bytes;
}
async function native(password, salt, rounds) {
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds };
  return new Uint8Array(await crypto.subtle.deriveBits(how, key, 256));
}

const derive = globalThis.crypto && crypto.subtle ? native : pbkdf2;
async function solve() {
  again.hidden = true;
  bar.hidden = false;
  status.textContent = 'Checking. This takes a few seconds.';
  const salt = octets(parameters.salt), nonce = octets(parameters.nonce);
  const password = new Uint8Array(nonce.length + 4);
  password.set(nonce);
  const began = performance.now();
  let rested = began;
  for (let counter = 0; ; counter++) {
    new DataView(password.buffer).setUint32(nonce.length, counter);
    const derivedKey = hex(await derive(password, salt, parameters.cost));
    if (derivedKey.startsWith(parameters.keyPrefix)) {
      const solution = { counter, derivedKey, time: performance.now() - began };
      return btoa(JSON.stringify({ challenge: { parameters, signature }, solution }));
    }
    if (performance.now() - rested > 50) {
      // Half of the attempts need fewer than 177 and 95 of 100 need fewer than 766: never quite at the end.
      bar.value = 100 * (1 - Math.exp(-counter / 256));
      await new Promise((resolve) => setTimeout(resolve));
      rested = performance.now();
    }
  }
}
async function run() {
  form.elements.proof.value = await solve();
  status.textContent = 'Done. Going on to the site.';
  bar.value = 100;
  try { sessionStorage.setItem(mark, String(Date.now())); } catch {}
  form.submit();
}
function wait(text) {
  status.textContent = text;
  again.hidden = false;
  again.focus();
}
again.addEventListener('click', run);
let solved = 0;
try { solved = Number(sessionStorage.getItem(mark)); } catch {}
if (!navigator.cookieEnabled) wait('The check needs cookies. Allow them for this site, then start it.');
else if (Date.now() - solved < 10000) wait('The last check did not count. Allow cookies for this site, then start another.');
else run();
})();`;
