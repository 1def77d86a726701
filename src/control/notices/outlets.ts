/** The outlets of a server: its mail relay, its SMS gateway, and webhooks; and what sends codes to new addresses. */
import { createHmac, randomBytes } from 'node:crypto';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { readFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import type { SpecialJudge } from '../../base/addresses/special-addresses.ts';
import { withDeadline } from '../../base/platform/tasks.ts';
import type { WebhookRow } from '../store/tables/notifications.ts';
import { type ContactChannel, codeLetter, codeSms } from './contact.ts';
import type { Senders } from './deliver.ts';
import { ATTEMPT_MS, DRAIN_MS, MAX_RESPONSE_OCTETS, MAX_URL_CHARACTERS } from './limits.ts';
import {
  DELIVERED,
  type Message,
  networkReason,
  refusedForGood,
  retryLater,
  type Sender,
  type SendOutcome,
  type SmsGatewayOptions,
  type SmtpOptions,
} from './outlet-options.ts';
import { renderSms } from './render.ts';
import type { MailOutlet } from './send-email.ts';

/** What an operator has configured; `null`: the server has none. */
export interface OutletOptions {
  readonly smtp: SmtpOptions | null;
  readonly sms: SmsGatewayOptions | null;
  readonly special: SpecialJudge;
  /** Resolves names that an account, or the operator, has chosen. */
  readonly lookupFor: (owner: number | 'operator') => LookupFunction;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** One code to a new address. */
export interface CodeMessage {
  readonly to: string;
  /** The name of the account. */
  readonly account: string;
  readonly code: string;
  /** Identifies the message. */
  readonly id: string;
}

/** The outlets of a server. */
export interface Outlets {
  readonly senders: Senders;
  /** The senders of codes; `null`: the server has no such outlet. */
  readonly codes: Readonly<Record<ContactChannel, ((message: CodeMessage) => Promise<SendOutcome>) | null>>;
}

/** Creates the outlets. */
export function createOutlets({ special, lookupFor, clock, ...options }: OutletOptions): Outlets {
  const lookup = lookupFor('operator');
  const mail = options.smtp === null ? null : createMail({ ...options.smtp, lookup });
  const sms = options.sms === null ? null : { ...options.sms, lookup };
  return {
    senders: {
      email: mail?.sender ?? null,
      sms: sms === null ? null : createSmsSender(sms),
      webhook: createWebhookSender({ special, lookupFor, clock }),
    },
    codes: {
      email: mail?.sendCode ?? null,
      sms:
        sms === null
          ? null
          : ({ to, account, code, id }) => {
              const text = codeSms(account, code);
              return withDeadline(ATTEMPT_MS, undefined, (signal) =>
                sendShortMessage(sms, { id, to, text }, signal),
              );
            },
    },
  };
}

/** E-mail by a relay: to an account, and a code to a new address. */
interface Mail {
  readonly sender: Senders['email'];
  readonly sendCode: Outlets['codes']['email'];
}

/** Creates both senders of e-mail. What sends is loaded with the first message: its package is optional. */
function createMail(smtp: MailOutlet): Mail {
  return {
    async sender(to, message, signal) {
      const { createEmailSender } = await import('./send-email.ts');
      return createEmailSender(smtp)(to, message, signal);
    },
    async sendCode({ to, account, code, id }) {
      const { letterMail, sendMail } = await import('./send-email.ts');
      const envelope = { severity: 'info', account, link: null, kind: null, id } as const;
      const mail = letterMail(codeLetter(account, code), envelope);
      return withDeadline(ATTEMPT_MS, undefined, (signal) => sendMail(smtp, to, { ...mail, signal }));
    },
  };
}

// Sends short messages through an HTTP gateway of the operator's: `POST` of `{ id, to, text }` as JSON, with a bearer token.
// Any 2xx is success; `id` is the same at each attempt, so that the gateway can drop a repeat.

/** One short message. */
export interface ShortMessage {
  readonly id: string;
  /** The number in E.164, with `+`. */
  readonly to: string;
  readonly text: string;
}

/** The gateway, and what resolves its name. */
export interface SmsOutlet extends SmsGatewayOptions {
  readonly lookup: LookupFunction;
}

/** Sends one message; never rejects. */
async function sendShortMessage(
  { url, tokenFile, lookup }: SmsOutlet,
  message: ShortMessage,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const dispatcher = new Agent({ connections: 1, pipelining: 0, connect: { lookup } });
  try {
    const token = tokenFile === undefined ? null : (await readFile(tokenFile, 'utf8')).trim();
    const { statusCode, body } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(message),
      signal,
    });
    await drain(body);
    if (statusCode >= 200 && statusCode < 300) return DELIVERED;
    // The gateway has judged the number or the text; its other 4xx are the operator's to mend.
    if (statusCode === 400 || statusCode === 422)
      return refusedForGood(`the SMS gateway refused the message with ${statusCode}`);
    return retryLater(`the SMS gateway answered ${statusCode}`);
  } catch (error) {
    return retryLater(`the SMS gateway: ${networkReason(error)}`);
  } finally {
    await dispatcher.destroy();
  }
}

/** Creates the sender of SMS. */
function createSmsSender(options: SmsOutlet): Sender<string> {
  return (to, { letter, envelope }, signal) =>
    sendShortMessage(options, { id: envelope.id, to, text: renderSms(letter) }, signal);
}

// Sends messages as webhooks by the Standard Webhooks scheme: `POST` of `{ type, timestamp, data }` with `webhook-id`,
// `webhook-timestamp` and `webhook-signature`. Special addresses are refused after each resolution, as origins are
// (semantics §7); a redirect is a failure. `webhook-id` is the same at each attempt.

/** What the receiver of a webhook gets. */
export interface WebhookBody {
  /** The name of the kind. */
  readonly type: string;
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    readonly id: string;
    readonly account: string;
    readonly domain: string | null;
    readonly severity: string;
    readonly message: string;
    /** The data of the kind. */
    readonly details: unknown;
  };
}

/** The body of a message. */
export function webhookBody({ kind, at, domain, data, letter, envelope }: Message): WebhookBody {
  return {
    type: kind,
    timestamp: new Date(at).toISOString(),
    data: {
      id: envelope.id,
      account: envelope.account,
      domain,
      severity: envelope.severity,
      message: letter.headline,
      details: data,
    },
  };
}

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Resolves a name to its addresses that may be called. */
export function judgedLookup(lookup: LookupFunction, special: SpecialJudge) {
  return (name: string, options: LookupOptions, found: Found): void => {
    lookup(name, { ...options, all: true }, (error, resolved) => {
      if (error !== null) return found(error, []);
      const addresses = resolved as LookupAddress[];
      const allowed = addresses.filter(({ address }) => special(address) === null);
      if (allowed.length > 0) return found(null, allowed);
      const kind = special(addresses[0]?.address ?? '') ?? 'unknown';
      found(Object.assign(new Error(), { code: `the name leads to a ${kind} address` }), []);
    });
  };
}

/** What a sender of webhooks needs. */
export interface WebhookSenderOptions {
  readonly special: SpecialJudge;
  /** Resolves names that an account has chosen. */
  readonly lookupFor: (account: number) => LookupFunction;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** The outcome of a status. */
function outcomeOf(status: number): SendOutcome {
  if (status >= 200 && status < 300) return DELIVERED;
  // 410: the receiver wants no more of them (Standard Webhooks, "Disabling").
  if (status === 410) return refusedForGood('the endpoint answered 410: it is gone');
  if (status >= 300 && status < 400)
    return retryLater(`the endpoint answered ${status}; redirects are not followed`);
  return retryLater(`the endpoint answered ${status}`);
}

/** Creates the sender of webhooks. */
function createWebhookSender({ special, lookupFor, clock }: WebhookSenderOptions): Sender<WebhookRow> {
  return async ({ account_id, url, secret }, message, signal) => {
    const target = new URL(url);
    const literal = literalAddress(target);
    const kind = literal === null ? null : special(literal);
    // It was accepted once: the server's options have changed since, and may change again.
    if (kind !== null) return retryLater(`the endpoint has a ${kind} address`);
    const body = JSON.stringify(webhookBody(message));
    const { id } = message.envelope;
    const timestamp = Math.floor(clock() / 1_000);
    // The types of undici's lookup have a callback for one address; it asks for all of them.
    const connect = { lookup: judgedLookup(lookupFor(account_id), special) as never, timeout: ATTEMPT_MS };
    const dispatcher = new Agent({ connections: 1, pipelining: 0, connect });
    try {
      const answer = await request(target, {
        dispatcher,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'edgeplan-webhooks',
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signWebhook(secret, { id, timestamp, body }),
        },
        body,
        signal,
      });
      const outcome = outcomeOf(answer.statusCode);
      await drain(answer.body);
      return outcome;
    } catch (error) {
      return retryLater(`the endpoint: ${networkReason(error)}`);
    } finally {
      await dispatcher.destroy();
    }
  };
}

// Webhooks of accounts: their secrets and signatures by the Standard Webhooks scheme, and which URLs they may have.

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
function signWebhook(secret: string, { id, timestamp, body }: SignedContent): string {
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

/** What is wrong with the URL of a webhook, or of another server that an account names; `null`: nothing. Names are judged where they are resolved. */
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

/**
 * Reads a body for `DRAIN_MS` and up to `MAX_RESPONSE_OCTETS`, so that a receiver that answers at once can finish; never
 * rejects. A body that is longer, slower or breaks off changes nothing.
 */
async function drain(body: Dispatcher.ResponseData['body']): Promise<void> {
  body.on('error', () => undefined);
  await withDeadline(DRAIN_MS, undefined, (signal) =>
    body.dump({ limit: MAX_RESPONSE_OCTETS, signal }).catch(() => undefined),
  );
}
