/**
 * Derives from a domain's secret one key for each use, so that a signature for one use is invalid for another. By
 * WebCrypto, which Node, Workers, Deno and Bun share.
 */
import { MAX_KEYRINGS } from './limits.ts';

/** The secret that signs now, and earlier ones that are still accepted. */
export interface Secrets {
  readonly current: Uint8Array;
  readonly previous: readonly PreviousClearanceSecret[];
}

/** A secret that was replaced. */
export interface PreviousClearanceSecret {
  readonly secret: Uint8Array;
  /** Accepted before this, milliseconds since the epoch. */
  readonly until: number;
}

/** A key of HMAC-SHA-256. */
export type ClearanceKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** The keys that are derived from one secret. */
export interface ClearanceKeys {
  readonly clearance: ClearanceKey;
  /** As text, which the proof's package takes. */
  readonly proof: string;
}

/** The keys of a domain that are accepted at a time, those of its current secret first. */
export type Keyring = (domain: string, now: number) => Promise<readonly ClearanceKeys[]>;

/** The keys derived from a domain's current secret and its previous ones, while those are accepted. */
interface Ring {
  readonly of: Secrets;
  readonly keys: readonly Promise<ClearanceKeys>[];
}

/** @param secrets called at every use; the keys are derived again when it returns another object for a domain */
export function createKeyring(secrets: (domain: string) => Secrets): Keyring {
  /** In the order in which they were derived. */
  const rings = new Map<string, Ring>();

  function ringOf(domain: string): Ring {
    const of = secrets(domain);
    const known = rings.get(domain);
    if (known?.of === of) return known;
    const all = [of.current, ...of.previous.map(({ secret }) => secret)];
    const ring = { of, keys: all.map(keysOf) };
    rings.delete(domain);
    for (const [oldest] of rings) {
      if (rings.size < MAX_KEYRINGS) break;
      rings.delete(oldest);
    }
    rings.set(domain, ring);
    return ring;
  }

  return (domain, now) => {
    const { of, keys } = ringOf(domain);
    return Promise.all(keys.filter((_, at) => at === 0 || now < of.previous[at - 1]!.until));
  };
}

async function keysOf(secret: Uint8Array): Promise<ClearanceKeys> {
  const root = await keyOf(secret);
  const proof = await sign(root, 'edgeplan proof/v1');
  return {
    clearance: await keyOf(await sign(root, 'edgeplan clearance/v1')),
    proof: Array.from(proof, (octet) => octet.toString(16).padStart(2, '0')).join(''),
  };
}

function keyOf(octets: Uint8Array): Promise<ClearanceKey> {
  const how = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', new Uint8Array(octets), how, false, ['sign', 'verify']);
}

/** HMAC-SHA-256. */
export async function sign(key: ClearanceKey, text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)));
}

/**
 * Whether one of the keys made the signature. Always checks every key, so the time taken does not reveal which one
 * matched.
 */
export async function isSigned(
  signature: Uint8Array<ArrayBuffer>,
  keys: readonly ClearanceKey[],
  text: string,
): Promise<boolean> {
  const signed = new TextEncoder().encode(text);
  let found = false;
  for (const key of keys) if (await crypto.subtle.verify('HMAC', key, signature, signed)) found = true;
  return found;
}
