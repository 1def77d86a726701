/** Reads the keys that secondaries sign with: one a line, `[hmac-sha256:]name:base64`, as `kdig -y` takes it. */
import { createSecretKey } from 'node:crypto';
import { MAX_KEYS_CHARACTERS, MIN_SECRET_OCTETS } from './limits.ts';
import { TSIG_ALGORITHMS, type TsigAlgorithm, type TsigKey, type TsigKeys } from './wire/tsig.ts';

/** The keys of a file and what is wrong with its other lines; a problem names no secret. */
export interface ReadTsigKeys {
  readonly keys: TsigKeys;
  readonly problems: readonly string[];
}

/** Reads the text of a keys file. Empty lines and lines that start with `#` are skipped. */
export function readTsigKeys(text: string): ReadTsigKeys {
  const keys = new Map<string, TsigKey>();
  const problems: string[] = [];
  if (text.length > MAX_KEYS_CHARACTERS) {
    return {
      keys,
      problems: [`the keys file is longer than ${MAX_KEYS_CHARACTERS} characters; remove keys`],
    };
  }
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const read = readKey(trimmed);
    if ('problem' in read) problems.push(`line ${index + 1}: ${read.problem}`);
    else if (keys.has(read.key.name)) {
      problems.push(`line ${index + 1}: the key \`${read.key.name}\` is there twice; remove one`);
    } else keys.set(read.key.name, read.key);
  }
  return { keys, problems };
}

/** A name as keys and zones have it: lower case, without a trailing dot; `null` for what is no name. */
export function canonicalKeyName(text: string): string | null {
  const name = text.toLowerCase().replace(/\.$/, '');
  return name.length <= 253 && name.split('.').every((label) => LABEL.test(label)) ? name : null;
}

const LABEL = /^[a-z0-9_-]{1,63}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const FORM = 'write hmac-sha256:name:secret with the secret in base64, as `keymgr -t name` prints it';

function readKey(line: string): { readonly key: TsigKey } | { readonly problem: string } {
  const parts = line.split(':');
  const [algorithm = '', nameText = '', base64 = ''] = parts.length === 2 ? ['hmac-sha256', ...parts] : parts;
  if (parts.length < 2 || parts.length > 3) return { problem: FORM };
  // A secret in the wrong place must not be printed, so neither algorithm nor name is.
  if (!isAlgorithm(algorithm.toLowerCase())) {
    return { problem: `the algorithm is not known; use ${Object.keys(TSIG_ALGORITHMS).join(', ')}` };
  }
  const name = canonicalKeyName(nameText);
  if (name === null) return { problem: `the name of the key is no domain name; ${FORM}` };
  const secret = Buffer.from(base64, 'base64');
  if (!BASE64.test(base64) || secret.toString('base64') !== base64) {
    return { problem: `the secret of \`${name}\` is not base64; ${FORM}` };
  }
  if (secret.length < MIN_SECRET_OCTETS) {
    const remedy = `it has ${secret.length} octets, at least ${MIN_SECRET_OCTETS} are needed`;
    return {
      problem: `the secret of \`${name}\` is too short: ${remedy}; \`openssl rand -base64 32\` makes one`,
    };
  }
  const known = algorithm.toLowerCase() as TsigAlgorithm;
  return { key: { name, algorithm: known, secret: createSecretKey(secret) } };
}

function isAlgorithm(text: string): text is TsigAlgorithm {
  return Object.hasOwn(TSIG_ALGORITHMS, text);
}
