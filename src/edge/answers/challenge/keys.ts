/**
 * Clearance cookies, `<prefix><type>_<id>=<expiry>.<signature>`, one for each challenge solved, and the keys derived
 * from a domain's secret, one for each use. By WebCrypto, which Node, Workers, Deno and Bun share.
 */
import { MAX_CAPTCHA_TTL_SEC } from '../../../base/vocabulary/limits.ts';

/**
 * Maximum number of signatures of clearance cookies checked per request, an even number: a visitor plausibly meets 16
 * challenges on one domain, and room is left for junk that other hosts of the site set. 64 took 2 to 4 ms in Node 20 on
 * a busy core, twice that while a secret is replaced; most of it is WebCrypto's way to its threads and back.
 */
const MAX_CLEARANCES = 64;
/**
 * Maximum number of domains whose derived keys are cached, a kilobyte or two each; deriving them again takes a
 * millisecond.
 */
const MAX_KEYRINGS = 1_000;

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
async function isSigned(
  signature: Uint8Array<ArrayBuffer>,
  keys: readonly ClearanceKey[],
  text: string,
): Promise<boolean> {
  const signed = new TextEncoder().encode(text);
  let found = false;
  for (const key of keys) if (await crypto.subtle.verify('HMAC', key, signature, signed)) found = true;
  return found;
}

// Clearance cookies: `<prefix><type>_<id>=<expiry>.<signature>`, one for each challenge solved. The signature covers the
// domain, the challenge, the client's network and its User-Agent, so a cookie is invalid anywhere else.

/** Part of the name of each of the edge's own cookies, after its prefix. */
const OWN = 'edgeplan_clear_';
/** The prefix by which browsers let no other host set the cookie (RFC 6265bis §4.1.3.2); only for https. */
const HOST_ONLY = '__Host-';

/** Of HMAC with SHA-256. */
const SIGNATURE_OCTETS = 32;

/** The visitor and domain that a clearance is bound to. */
export interface Holder {
  readonly domain: string;
  /** See `networkOf`. */
  readonly network: string;
  readonly userAgent: string;
}

/** A clearance to issue. */
export interface Grant extends Holder {
  /** `<type>/<id>`, or `<type>/<key>`. */
  readonly asker: string;
  readonly secure: boolean;
  /** Seconds for which it lasts. */
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The value of a Set-Cookie header. */
export async function grant(
  keys: ClearanceKeys,
  { asker, secure, seconds, now, ...holder }: Grant,
): Promise<string> {
  const expires = Math.floor(now / 1_000) + seconds;
  const signature = toBase64url(await sign(keys.clearance, signedText(holder, asker, expires)));
  const name = `${secure ? HOST_ONLY : ''}${OWN}${asker.replace('/', '_')}`;
  const scope = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return `${name}=${expires}.${signature}; ${scope}`;
}

function signedText({ domain, network, userAgent }: Holder, asker: string, expires: number): string {
  return JSON.stringify([domain, asker, network, userAgent, expires]);
}

/** Whether a Cookie header may contain one of the edge's own. */
export function mayHoldOwn(cookies: string): boolean {
  return cookies.includes(OWN);
}

/** The challenges for which the cookies have a valid clearance. */
export async function clearedBy(
  keys: readonly ClearanceKeys[],
  cookies: string,
  { now, ...holder }: Holder & { now: number },
): Promise<string[]> {
  const signers = keys.map(({ clearance }) => clearance);
  const cleared: string[] = [];
  for (const { asker, expires, signature } of candidates(cookies, now)) {
    if (await isSigned(signature, signers, signedText(holder, asker, expires))) cleared.push(asker);
  }
  return cleared;
}

/**
 * Those worth checking a signature of. Other hosts of a site can set cookies for this one, before and behind the genuine
 * ones: what cannot be genuine by its form does not count, and of too many the first and the last are taken.
 */
function candidates(cookies: string, now: number): readonly OwnCookie[] {
  const found: OwnCookie[] = [];
  for (const pair of cookies.split(';')) {
    const cookie = readOwn(pair);
    if (cookie === null || cookie.signature.length !== SIGNATURE_OCTETS) continue;
    const left = cookie.expires - now / 1_000;
    // One that lasts longer than any can was signed before the clock was set back.
    if (left > 0 && left <= MAX_CAPTCHA_TTL_SEC + 1) found.push(cookie);
  }
  if (found.length <= MAX_CLEARANCES) return found;
  // No other host can set one with this prefix.
  const ordered = [...found.filter(({ hostOnly }) => hostOnly), ...found.filter(({ hostOnly }) => !hostOnly)];
  return [...ordered.slice(0, MAX_CLEARANCES / 2), ...ordered.slice(-MAX_CLEARANCES / 2)];
}

interface OwnCookie {
  readonly hostOnly: boolean;
  readonly asker: string;
  readonly expires: number;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** `<type>/<id>` of the part of a name after the prefix; `null`: the name is not a challenge's. */
function askerOf(text: string): string | null {
  const cut = text.lastIndexOf('_');
  return cut > 0 && cut < text.length - 1 ? `${text.slice(0, cut)}/${text.slice(cut + 1)}` : null;
}

function readOwn(pair: string): OwnCookie | null {
  const equals = pair.indexOf('=');
  const name = ownPart(pair.slice(0, Math.max(equals, 0)));
  const asker = name === null ? null : askerOf(name);
  if (asker === null) return null;
  const value = pair.slice(equals + 1).trim();
  const dot = value.indexOf('.');
  const expires = dot < 0 ? Number.NaN : Number(value.slice(0, dot));
  if (!Number.isSafeInteger(expires)) return null;
  const hostOnly = pair.trimStart().startsWith(HOST_ONLY);
  return { hostOnly, asker, expires, signature: fromBase64(value.slice(dot + 1)) ?? new Uint8Array(0) };
}

/** The part of a name after the prefix of the edge's own cookies; `null`: the cookie of another. */
function ownPart(name: string): string | null {
  const trimmed = name.trim();
  const bare = trimmed.startsWith(HOST_ONLY) ? trimmed.slice(HOST_ONLY.length) : trimmed;
  return bare.startsWith(OWN) ? bare.slice(OWN.length) : null;
}

/** A Cookie header without the edge's own. */
export function withoutOwn(cookies: string): string {
  if (!mayHoldOwn(cookies)) return cookies;
  return cookies
    .split(';')
    .filter((pair) => {
      const equals = pair.indexOf('=');
      return ownPart(equals < 0 ? pair : pair.slice(0, equals)) === null;
    })
    .join(';')
    .trim();
}

// Base64 without Node's Buffer: `btoa` and `atob` are everywhere, and take octets as Latin-1 text.

/** base64url (RFC 4648 §5), without padding. */
export function toBase64url(octets: Uint8Array): string {
  return toBase64(octets).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Base64 (RFC 4648 §4), with padding. */
export function toBase64(octets: Uint8Array): string {
  return btoa(Array.from(octets, (octet) => String.fromCharCode(octet)).join(''));
}

/** Octets of base64 or base64url; `null`: it is neither. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  } catch {
    return null;
  }
}
