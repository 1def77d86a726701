/**
 * One secret of the control plane, cut into a key for each use, so that what is signed for one is worth nothing for
 * another. By WebCrypto, which Node, Workers, Deno and Bun share.
 */

/** What is signed with now, and what was until lately and is still believed. */
export interface Secrets {
  readonly current: Uint8Array;
  readonly previous: Uint8Array | null;
}

/** A key of HMAC-SHA-256. */
export type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export interface Keys {
  readonly clearance: SigningKey;
  /** As text, which the proof's package takes. */
  readonly proof: string;
}

/** Keys of the secrets, the current ones first; made anew when these change. */
export function createKeyring(secrets: () => Secrets): () => Promise<readonly Keys[]> {
  let made: { readonly of: Secrets; readonly keys: Promise<readonly Keys[]> } | null = null;
  return () => {
    const now = secrets();
    if (made?.of.current === now.current && made.of.previous === now.previous) return made.keys;
    const all = now.previous === null ? [now.current] : [now.current, now.previous];
    made = { of: now, keys: Promise.all(all.map(keysOf)) };
    return made.keys;
  };
}

async function keysOf(secret: Uint8Array): Promise<Keys> {
  const root = await keyOf(secret);
  const proof = await sign(root, 'edgeplan proof/v1');
  return {
    clearance: await keyOf(await sign(root, 'edgeplan clearance/v1')),
    proof: Array.from(proof, (octet) => octet.toString(16).padStart(2, '0')).join(''),
  };
}

function keyOf(octets: Uint8Array): Promise<SigningKey> {
  const how = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', new Uint8Array(octets), how, false, ['sign', 'verify']);
}

/** HMAC-SHA-256. */
export async function sign(key: SigningKey, text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)));
}

/** Whether the signature is that of one of the keys; takes as long whether or not. */
export async function isSigned(
  signature: Uint8Array<ArrayBuffer>,
  keys: readonly SigningKey[],
  text: string,
): Promise<boolean> {
  const signed = new TextEncoder().encode(text);
  let found = false;
  for (const key of keys) if (await crypto.subtle.verify('HMAC', key, signature, signed)) found = true;
  return found;
}
