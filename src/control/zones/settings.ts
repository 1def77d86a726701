/**
 * What the server's options say of zones: what goes into a zone, which secondaries there are, and the keys that they
 * sign with. All processes on one database need the same settings.
 */
import { createHash, createSecretKey } from 'node:crypto';
import { parseServerAddress, type ServerAddress } from '../dns/server-address.ts';
import { MAX_KEYS_CHARACTERS, MIN_SECRET_OCTETS } from './limits.ts';
import { TSIG_ALGORITHMS, type TsigAlgorithm, type TsigKey, type TsigKeys } from './wire/tsig.ts';

/** The settings of every zone. */
export interface ZoneSettings {
  /** The nameserver set: NS records of the apex, the first one MNAME of the SOA. */
  readonly nameservers: readonly string[];
  /** Addresses that proxied names answer with. */
  readonly edgeAddresses: readonly string[];
  /** Names of certificate authorities that are added to a customer's CAA records. */
  readonly caaIssuers: readonly string[];
  /** The name of the catalog zone. */
  readonly catalog: string;
}

/** Version of how records become a zone; a higher one makes every zone anew. */
const RULES = 1;

/** Identifies the settings that zones were made with. */
export function settingsId({ nameservers, edgeAddresses, caaIssuers }: ZoneSettings): string {
  const text = JSON.stringify([RULES, nameservers, edgeAddresses, caaIssuers]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

// Reads the secondaries of `--secondaries`: name servers that are notified, and transfer zones.

/** A name server that serves the zones. */
export interface Secondary {
  /** Where NOTIFY is sent. */
  readonly server: ServerAddress;
  /** The key that signs NOTIFY. */
  readonly key: TsigKey;
}

/** Reads one `address[:port]#key`; IPv6 with a port in brackets. */
export function readSecondary(
  text: string,
  keys: TsigKeys,
): { readonly secondary: Secondary } | { readonly problem: string } {
  const at = text.indexOf('#');
  if (at === -1) return { problem: `\`${text}\` names no key; write ${EXAMPLES}` };
  const server = parseServerAddress(text.slice(0, at));
  if (server === null) return { problem: `\`${text.slice(0, at)}\` is no address; write ${EXAMPLES}` };
  const name = text.slice(at + 1);
  const key = keys.get(canonicalKeyName(name) ?? '');
  if (key !== undefined) return { secondary: { server, key } };
  const known = [...keys.keys()];
  const remedy = known.length === 0 ? 'the keys file has none' : `the keys file has ${known.join(', ')}`;
  return { problem: `there is no key \`${name}\`; ${remedy}` };
}

/** A secondary as log lines and metrics name it. */
export function secondaryText({ server }: Secondary): string {
  return server.address.includes(':')
    ? `[${server.address}]:${server.port}`
    : `${server.address}:${server.port}`;
}

const EXAMPLES = '192.0.2.53#key, 192.0.2.53:5353#key or [2001:db8::53]:53#key';

// Reads the keys that secondaries sign with: one a line, `[hmac-sha256:]name:base64`, as `kdig -y` takes it.

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
function canonicalKeyName(text: string): string | null {
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
