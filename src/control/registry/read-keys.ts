/** Reads a fetched key set (RFC 7517 §5). In: octets. Out: the public keys that can be used, and why the others cannot. */
import { isObject } from '../../base/text/json-object.ts';
import { MAX_ISSUER_KEYS } from '../../base/vocabulary/limits.ts';
import type { TokenAlgorithm } from '../../base/vocabulary/vocabulary.ts';
import { algorithmsOf, publicJwk } from '../../rules/model/registry/jwk.ts';
import type { FetchedKeys } from '../publishing/plan-registry.ts';
import { MAX_KID_CHARACTERS, MAX_READ_KEYS } from './limits.ts';

/** A key that can be used. */
type PublicKey = FetchedKeys['keys'][number];

/** What a key set has; a `reason`: nothing that can be used. */
export type ReadKeys = Pick<FetchedKeys, 'keys' | 'left_out'> | { readonly reason: string };

const KEY = publicJwk();

/** Reads a key set. @param algorithms those of the issuer: a key that none of them uses is left out */
export function readKeys(octets: Uint8Array, algorithms: readonly TokenAlgorithm[]): ReadKeys {
  const set = parse(octets);
  const members = isObject(set) ? set['keys'] : null;
  if (!Array.isArray(members))
    return { reason: 'the body is no key set: a JSON object with the list `keys`' };
  const keys: PublicKey[] = [];
  const left_out: { kid: string | null; reason: string }[] = [];
  for (const given of members.slice(0, MAX_READ_KEYS) as readonly unknown[]) {
    const read = readKey(given, algorithms);
    if (typeof read === 'string') left_out.push({ kid: kidOf(given), reason: read });
    else if (keys.length === MAX_ISSUER_KEYS)
      left_out.push({ kid: kidOf(given), reason: `at most ${MAX_ISSUER_KEYS} keys are used` });
    else keys.push(read);
  }
  if (keys.length > 0) return { keys, left_out };
  const why = left_out[0] === undefined ? '' : `: ${left_out[0].reason}`;
  return { reason: `the key set has no key that can be used${why}` };
}

function parse(octets: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(octets));
  } catch {
    // The caller says what a key set is.
    return null;
  }
}

/** The key, or why it cannot be used. */
function readKey(given: unknown, algorithms: readonly TokenAlgorithm[]): PublicKey | string {
  const read = KEY.safeParse(given);
  if (!read.success) {
    const { path, message } = read.error.issues[0]!;
    return path.length === 0 ? message : `\`${path.join('.')}\` ${message}`;
  }
  const fitting = algorithmsOf(read.data);
  if (fitting.some((algorithm) => algorithms.includes(algorithm))) return read.data;
  return `it is for ${fitting.map((name) => `\`${name}\``).join(', ')}, which \`algorithms\` does not have`;
}

function kidOf(given: unknown): string | null {
  const kid = isObject(given) ? given['kid'] : null;
  return typeof kid === 'string'
    ? kid.slice(0, MAX_KID_CHARACTERS).toWellFormed().replaceAll('\0', '')
    : null;
}
