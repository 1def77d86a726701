/** Webhooks of accounts: their secrets and signatures by the Standard Webhooks scheme, and which URLs they may have. */
import { createHmac, randomBytes } from 'node:crypto';
import type { SpecialJudge } from '../../base/addresses/special-addresses.ts';
import { MAX_URL_CHARACTERS } from './limits.ts';

/** What a secret begins with (Standard Webhooks, "Signature scheme"). */
const SECRET_PREFIX = 'whsec_';
/** Octets of a secret: of 24 to 64 that the scheme allows, those of an HMAC-SHA256 key. */
const SECRET_OCTETS = 32;

/** A new secret: `whsec_` and Base64. */
export function newWebhookSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_OCTETS).toString('base64')}`;
}

/** What is signed. */
export interface SignedContent {
  /** `webhook-id`. */
  readonly id: string;
  /** `webhook-timestamp`: whole seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/** The value of `webhook-signature`: `v1,` and the HMAC-SHA256 in Base64. */
export function signWebhook(secret: string, { id, timestamp, body }: SignedContent): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return `v1,${mac}`;
}

/** The address that a URL names literally; `null`: it names a host. */
export function literalAddress({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return bare !== hostname || /^[\d.]+$/.test(bare) ? bare : null;
}

/** The first port that no system service has (RFC 6335 §6): below it a request could be taken for mail or another protocol. */
const FIRST_OPEN_PORT = 1_024;

/** Whether a port may be one of a web server; the empty text is the scheme's own. */
function isWebPort(port: string): boolean {
  return port === '' || port === '80' || port === '443' || Number(port) >= FIRST_OPEN_PORT;
}

/** What is wrong with the URL of a webhook; `null`: nothing. Names are judged where they are resolved. */
export function judgeWebhookUrl(text: string, special: SpecialJudge): string | null {
  if (text.length > MAX_URL_CHARACTERS) return `must be at most ${MAX_URL_CHARACTERS} characters`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be a URL with http or https';
  if (url.username !== '' || url.password !== '') return 'must not have a user or a password';
  if (!isWebPort(url.port)) return `must have the port 80 or 443, or one from ${FIRST_OPEN_PORT} on`;
  if (url.hash !== '') return 'must not have a fragment';
  const literal = literalAddress(url);
  const kind = literal === null ? null : special(literal);
  return kind === null ? null : `is a ${kind} address, which this server does not call`;
}
