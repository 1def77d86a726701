/**
 * Sends messages over SMTP (RFC 5321) by a relay of the operator's: plain text and HTML as alternatives, marked as
 * generated (RFC 3834). The `Message-ID` is the same at each attempt, so that a repeat can be recognised.
 */
import { readFile } from 'node:fs/promises';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import { specialKind } from '../../base/addresses/special-addresses.ts';
import type { Letter } from './kind.ts';
import { ATTEMPT_MS } from './limits.ts';
import {
  DELIVERED,
  networkReason,
  refusedForGood,
  retryLater,
  type Sender,
  type SendOutcome,
  type SmtpOptions,
} from './outlet-options.ts';
import { type Envelope, renderHtml, renderText } from './render.ts';

/** The host of an address in the form `name@host` or `Name <name@host>`. */
function hostOf(from: string): string {
  return from.slice(from.lastIndexOf('@') + 1).replace('>', '');
}

/** Whether a host is this machine, where a password needs no TLS. */
function isThisMachine(host: string): boolean {
  return host === 'localhost' || specialKind(host) === 'loopback';
}

/** The settings of a connection. TLS is required where a password is sent to another machine. */
async function connection({ url, passwordFile }: SmtpOptions) {
  const { protocol, hostname, port, username } = new URL(url);
  const secure = protocol === 'smtps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const user = decodeURIComponent(username);
  const pass = passwordFile === undefined ? '' : (await readFile(passwordFile, 'utf8')).trimEnd();
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

/** One message to one address. */
export interface MailMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The `Message-ID` without its host. */
  readonly id: string;
}

/** A letter as an e-mail. */
export function letterMail(letter: Letter, envelope: Envelope): MailMessage {
  return {
    subject: letter.headline,
    text: renderText(letter, envelope),
    html: renderHtml(letter, envelope),
    id: envelope.id,
  };
}

/** What a message is sent with. */
export interface MailAttempt extends MailMessage {
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** The relay, and what resolves its name. */
export interface MailOutlet extends SmtpOptions {
  readonly lookup: LookupFunction;
}

/**
 * Opens a connection to the relay, which ends with the signal. nodemailer would resolve the name by `getaddrinfo`.
 * @throws the error of the socket
 */
function openSocket(
  { host, port }: { readonly host: string; readonly port: number },
  { lookup, signal }: { readonly lookup: LookupFunction; readonly signal: AbortSignal },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup, signal });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/** Sends one message; never rejects. */
export async function sendMail(options: MailOutlet, to: string, mail: MailAttempt): Promise<SendOutcome> {
  const { subject, text, html, id, signal } = mail;
  let socket: Socket | null = null;
  try {
    const settings = await connection(options);
    // The connection is ended with the attempt, however slowly the relay answers.
    socket = await openSocket(settings, { lookup: options.lookup, signal });
    const transport = createTransport({ ...settings, connection: socket });
    await transport.sendMail({
      from: options.from,
      // An object is taken as it is; a text would be read as a list of addresses.
      to: { name: '', address: to },
      subject,
      text,
      html,
      messageId: `<${id}@${hostOf(options.from)}>`,
      headers: {
        'Auto-Submitted': 'auto-generated',
        'X-Auto-Response-Suppress': 'All',
        'X-Edgeplan-Notification': id,
      },
    });
    return DELIVERED;
  } catch (error) {
    return signal.aborted ? retryLater('the mail server: no answer in time') : outcomeOf(error);
  } finally {
    socket?.destroy();
  }
}

/** Creates the sender of e-mail. */
export function createEmailSender(options: MailOutlet): Sender<string> {
  return (to, { letter, envelope }, signal) =>
    sendMail(options, to, { ...letterMail(letter, envelope), signal });
}
