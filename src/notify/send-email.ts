/**
 * Sends messages over SMTP (RFC 5321) by a relay of the operator's: plain text and HTML as alternatives, marked as
 * generated (RFC 3834). The `Message-ID` is the same at each attempt, so that a repeat can be recognised.
 */
import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import { specialKind } from '../base/special-addresses.ts';
import { ATTEMPT_MS } from './limits.ts';
import type { SmtpOptions } from './outlet-options.ts';
import { renderHtml, renderText } from './render.ts';
import {
  DELIVERED,
  networkReason,
  refusedForGood,
  retryLater,
  type Sender,
  type SendOutcome,
} from './send.ts';

/** The host of an address in the form `name@host` or `Name <name@host>`. */
function hostOf(from: string): string {
  return from.slice(from.lastIndexOf('@') + 1).replace('>', '');
}

/** Whether a host is this machine, where a password needs no TLS. */
function isThisMachine(host: string): boolean {
  return host === 'localhost' || specialKind(host) === 'loopback';
}

/** The settings of a connection. TLS is required where a password is sent to another machine. */
function connection({ url, passwordFile }: SmtpOptions) {
  const { protocol, hostname, port, username } = new URL(url);
  const secure = protocol === 'smtps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const user = decodeURIComponent(username);
  const pass = passwordFile === undefined ? '' : readFileSync(passwordFile, 'utf8').trimEnd();
  return {
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && user !== '' && !isThisMachine(host),
    ...(user === '' ? {} : { auth: { user, pass } }),
    connectionTimeout: ATTEMPT_MS,
    greetingTimeout: ATTEMPT_MS,
    socketTimeout: ATTEMPT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** A refusal of the recipient is final (RFC 5321 §4.2.1, 5yz); one of the login or the sender is the operator's to mend. */
function outcomeOf(error: unknown): SendOutcome {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  const status = typeof responseCode === 'number' ? responseCode : 0;
  if (code === 'EENVELOPE' && [550, 551, 553, 556].includes(status))
    return refusedForGood(`the mail server refused the address with ${status}`);
  if (status > 0) return retryLater(`the mail server answered ${status}`);
  return retryLater(`the mail server: ${networkReason(error)}`);
}

/** A plain message, such as a confirmation code. */
export interface PlainMail {
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** The `Message-ID` without its host. */
  readonly id: string;
}

/** Sends one message; never rejects. */
export async function sendMail(options: SmtpOptions, to: string, mail: PlainMail): Promise<SendOutcome> {
  let close = (): void => undefined;
  try {
    const transport = createTransport(connection(options));
    close = () => transport.close();
    await transport.sendMail({
      from: options.from,
      to,
      subject: mail.subject,
      text: mail.text,
      ...(mail.html === undefined ? {} : { html: mail.html }),
      messageId: `<${mail.id}@${hostOf(options.from)}>`,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Edgeplan-Notification': mail.id },
    });
    return DELIVERED;
  } catch (error) {
    return outcomeOf(error);
  } finally {
    close();
  }
}

/** Creates the sender of e-mail. */
export function createEmailSender(options: SmtpOptions): Sender<string> {
  return (to, { letter, envelope }) =>
    sendMail(options, to, {
      subject: letter.headline,
      text: renderText(letter, envelope),
      html: renderHtml(letter, envelope),
      id: envelope.id,
    });
}
