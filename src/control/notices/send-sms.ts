/**
 * Sends short messages through an HTTP gateway of the operator's: `POST` of `{ id, to, text }` as JSON, with a bearer token.
 * Any 2xx is success; `id` is the same at each attempt, so that the gateway can drop a repeat.
 */
import { readFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { drain } from './drain.ts';
import type { SmsGatewayOptions } from './outlet-options.ts';
import { renderSms } from './render.ts';
import {
  DELIVERED,
  networkReason,
  refusedForGood,
  retryLater,
  type Sender,
  type SendOutcome,
} from './send.ts';

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
export async function sendShortMessage(
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
export function createSmsSender(options: SmsOutlet): Sender<string> {
  return (to, { letter, envelope }, signal) =>
    sendShortMessage(options, { id: envelope.id, to, text: renderSms(letter) }, signal);
}
