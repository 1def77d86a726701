/**
 * Which values of a request may be secrets, by their names: parameters whose names suggest it, and of the headers all that are not
 * known to be harmless, since every application has its own names for its keys.
 */
import { decodeEscapes } from '../octets/octets.ts';

/** Parts of the names of secrets, in lower case and without `-`, `_`, `.`. */
const SECRET_PARTS = [
  'token',
  'secret',
  'passw',
  'passphrase',
  'passcode',
  'pwd',
  'apikey',
  'accesskey',
  'privatekey',
  'authkey',
  'authcode',
  'authoriz',
  'authentic',
  'session',
  'signature',
  'credential',
  'jwt',
  'cookie',
  'ticket',
  'nonce',
  'assertion',
] as const;
/** Whole names of secrets, too short to be searched for within others. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'key',
  'auth',
  'oauth',
  'otp',
  'totp',
  'sig',
  'sid',
  'sess',
  'code',
  'state',
  'pass',
  'pin',
  'hmac',
  'saml',
]);
/** Characters of a name; a longer one counts as the name of a secret. */
const MAX_NAME = 128;

/** Whether a parameter's name, as written in a query, suggests a secret. */
export function isSecretName(name: string): boolean {
  if (name.length > MAX_NAME) return true;
  const plain = lettersOf(name.includes('%') ? decodeEscapes(name) : name);
  return SECRET_NAMES.has(plain) || SECRET_PARTS.some((part) => plain.includes(part));
}

/** Letters and digits in lower case, without what separates words and nests names (`user[pass-word]`). */
function lettersOf(name: string): string {
  let letters = '';
  for (const character of name.toLowerCase()) {
    if ((character >= 'a' && character <= 'z') || (character >= '0' && character <= '9'))
      letters += character;
  }
  return letters;
}

/** Headers whose values are logged and written into tests. */
export const LOGGED_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'dnt',
  'expect',
  'if-modified-since',
  'origin',
  'pragma',
  'priority',
  'range',
  'referer',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'te',
  'transfer-encoding',
  'upgrade',
  'upgrade-insecure-requests',
  'user-agent',
  'via',
  'x-requested-with',
]);
