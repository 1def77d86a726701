/** The types of a sender: what it gets, what it answers. One file for each channel: `send-email.ts`, `outlets.ts`, `outlets.ts`. */
import type { Letter } from './kind.ts';
import { MAX_ERROR_CHARACTERS } from './limits.ts';
import type { Envelope } from './render.ts';

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
