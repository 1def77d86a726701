/** The mail relay and the SMS gateway as an operator writes them, and what can be wrong with them. */
import { readAddress } from './contact.ts';

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
