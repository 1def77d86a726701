/**
 * The outlets of messages: the mail relay and the SMS gateway as an operator writes them, with what can be wrong with
 * them, and the types of a sender.
 */
import { readAddress } from './contact.ts';
import type { Letter } from './kind.ts';
import { MAX_ERROR_CHARACTERS } from './limits.ts';
import type { Envelope } from './render.ts';

/** The operator's relay. */
export interface SmtpOptions {
  /** `smtp://[user@]host[:port]` (587) or `smtps://…` (465, TLS from the start). */
  readonly url: string;
  /** A file with the password of the user, read for each message; absent: none. */
  readonly passwordFile?: string;
  /** The sender: `name@host`, or `Name <name@host>`. */
  readonly from: string;
}

/** What is wrong with the URL of a relay; `null`: nothing. */
export function judgeSmtpUrl(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    return 'write smtp://user@host:587, or smtps://user@host:465';
  if (url.password !== '') return 'a password does not belong into the address; --smtp-password-file has it';
  return null;
}

/** The operator's gateway. */
export interface SmsGatewayOptions {
  /** Its URL, http or https. */
  readonly url: string;
  /** A file with the bearer token, read for each message; absent: none. */
  readonly tokenFile?: string;
}

/** What is wrong with a sender; `null`: nothing. */
export function judgeSender(text: string): string | null {
  const [, named] = /^[^<>"\r\n]*<([^<>]+)>$/.exec(text) ?? [];
  const read = readAddress('email', named ?? text);
  return 'problem' in read ? 'write alerts@example.net, or "Alerts <alerts@example.net>"' : null;
}

/** What is wrong with the URL of a gateway; `null`: nothing. */
export function judgeGatewayUrl(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return 'write https://sms.example.net/send';
  return url.password === ''
    ? null
    : 'a password does not belong into the address; --sms-token-file has a token';
}

/** A message to one target. */
export interface Message {
  readonly letter: Letter;
  readonly envelope: Envelope;
  /** The name of the kind. */
  readonly kind: string;
  /** The domain that it is about; `null`: none. */
  readonly domain: string | null;
  /** The stored data of the kind. */
  readonly data: unknown;
  /** When it happened, milliseconds since the epoch. */
  readonly at: number;
}

/** `retry`: it may succeed later; `refused`: it never will. `reason` is for the account, and names no secret. */
export type SendOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry' | 'refused'; readonly reason: string };

/** Sends a message to an address; never rejects. The signal ends the attempt. */
export type Sender<To> = (to: To, message: Message, signal: AbortSignal) => Promise<SendOutcome>;

/** The target has the message. */
export const DELIVERED: SendOutcome = { kind: 'delivered' };

/** It may succeed later. */
export function retryLater(reason: string): SendOutcome {
  return { kind: 'retry', reason: reason.slice(0, MAX_ERROR_CHARACTERS) };
}

/** It never will. */
export function refusedForGood(reason: string): SendOutcome {
  return { kind: 'refused', reason: reason.slice(0, MAX_ERROR_CHARACTERS) };
}

/** The reason of an error of the network, without addresses: its code, else its message. */
export function networkReason(error: unknown): string {
  const { code, message, name } = error as { code?: unknown; message?: unknown; name?: unknown };
  if (name === 'AbortError' || name === 'TimeoutError') return 'no answer in time';
  return typeof code === 'string' ? code : String(message);
}
