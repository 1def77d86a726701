/** The types of a kind of notification: its data, who receives it, and the letter that it becomes. */
import type { z } from 'zod';
import type { NotifyChannel } from '../store/tables/notifications.ts';
import type { WrittenBlock } from './wording.ts';

/** How urgent a notification is: `critical` needs action now, `warning` soon, `info` none. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;
/** One of SEVERITIES. */
export type Urgency = (typeof SEVERITIES)[number];

/**
 * Who receives a kind: the owner and the admins of a domain, or the account where it is about none; the domain's owner alone (API
 * document, "Notes"); the account that it is about; or the accounts of operators.
 */
export type Audience = 'domain' | 'owner' | 'account' | 'operators';

/** Whether a kind goes out on a channel unless an account has set it otherwise; `never`: it cannot be set. */
export type UsualChannels = Readonly<Record<NotifyChannel, 'on' | 'off' | 'never'>>;

/** What a letter is about, besides the data of its kind. */
export interface LetterSubject {
  /** The name of the domain; empty: it is about none. */
  readonly domain: string;
  /** When it happened, milliseconds since the epoch. */
  readonly at: number;
}

/** A notification as a person reads it, before it is rendered as text, HTML or SMS. Sentences end with a full stop. */
export interface Letter {
  /** One line, also the subject of the e-mail; no full stop. */
  readonly headline: string;
  /** What happened, a paragraph each. */
  readonly paragraphs: readonly string[];
  /** What a person wrote, whose lines stay; absent: nothing. */
  readonly written?: readonly WrittenBlock[];
  /** Names and values, such as since when. */
  readonly facts: readonly { readonly label: string; readonly value: string }[];
  /** What to do, in order; empty: nothing. */
  readonly steps: readonly string[];
}

/** One kind of notification. */
export interface NotificationKind<Data = unknown> {
  readonly severity: Urgency;
  readonly audience: Audience;
  readonly usual: UsualChannels;
  /** One clause for people who set preferences. */
  readonly meaning: string;
  /** The stored data, in field names of the API; times are ISO 8601. */
  readonly data: z.ZodType<Data>;
  readonly letter: (data: Data, subject: LetterSubject) => Letter;
}

/** A kind of notification, whose `letter` takes data of its own schema. */
export function kind<Data>(parts: NotificationKind<Data>): NotificationKind<Data> {
  return parts;
}

/** E-mail and webhooks by default, SMS on request. */
export const IMPORTANT: UsualChannels = { email: 'on', sms: 'off', webhook: 'on' };
/** E-mail, SMS and webhooks by default. */
export const URGENT: UsualChannels = { email: 'on', sms: 'on', webhook: 'on' };
/** E-mail and webhooks by default, no SMS. */
export const WRITTEN: UsualChannels = { email: 'on', sms: 'never', webhook: 'on' };
/** Webhooks by default, e-mail on request, no SMS. */
export const QUIET: UsualChannels = { email: 'off', sms: 'never', webhook: 'on' };
