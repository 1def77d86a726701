/**
 * The e-mail address and the phone number of an account. An address that an account sets itself gets a code first, and
 * nothing else until the account has sent the code back; the address before stays in use meanwhile. An operator's command
 * sets one without a code. The transitions are pure; the row in, the row or a refusal out.
 */
import { randomInt, timingSafeEqual } from 'node:crypto';
import { normalizeName } from '../../base/addresses/host.ts';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import type { ContactRow } from '../store/tables/notifications.ts';
import type { Letter } from './kind.ts';
import { CODE_MS, CODE_PAUSE_MS, CODES_DAY_MS, MAX_CODE_TRIES, MAX_CODES_PER_DAY } from './limits.ts';
import { durationWords } from './wording.ts';

/** The channel of an address. */
export type ContactChannel = ContactRow['channel'];

/** Characters of an e-mail address, and before its `@` (RFC 5321 §4.5.3.1). */
const MAX_EMAIL_CHARACTERS = 254;
const MAX_LOCAL_CHARACTERS = 64;
/** `Dot-string` of RFC 5321 §4.1.2; quoted local parts are not accepted. */
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+$/;
/** A number in E.164, with `+`: up to 15 digits. */
const PHONE = /^\+[1-9]\d{6,14}$/;

/** An address in its stored form, or what is wrong with it. */
export function readAddress(
  channel: ContactChannel,
  text: string,
): { readonly address: string } | { readonly problem: string } {
  if (channel === 'sms') {
    const address = text.replaceAll(/[ ().-]/g, '');
    return PHONE.test(address)
      ? { address }
      : { problem: 'must be a number like +4930123456, with its country code' };
  }
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(0, at));
  const host = normalizeName(text.slice(at + 1));
  const isLocal =
    LOCAL_PART.test(local) &&
    local.length <= MAX_LOCAL_CHARACTERS &&
    !local.startsWith('.') &&
    !local.endsWith('.') &&
    !local.includes('..');
  if (!isLocal || host === null || !host.includes('.') || text.length > MAX_EMAIL_CHARACTERS)
    return { problem: 'must be an e-mail address like name@example.com' };
  return { address: `${local}@${host}` };
}

/** A contact without an address. */
export function emptyContact(account_id: number, channel: ContactChannel): ContactRow {
  const code = { code_hash: '', code_expires_at: 0, code_tries: 0 };
  return { account_id, channel, address: '', pending: '', ...code, sends: 0, sends_since: 0, sent_at: 0 };
}

/** The contact once its address is confirmed, by a code or by an operator. */
export function confirmedContact(row: ContactRow, address: string): ContactRow {
  return { ...row, address, pending: '', code_hash: '', code_expires_at: 0, code_tries: 0 };
}

/** A contact that waits for a code, with the code to send; or after how many milliseconds another one may be sent. */
export type CodeRequest =
  | { readonly ok: true; readonly row: ContactRow; readonly code: string }
  | { readonly ok: false; readonly waitMs: number };

/** Makes a code for a new address. `now` in milliseconds since the epoch. */
export function requestCode(row: ContactRow, pending: string, now: number): CodeRequest {
  const sameDay = now < row.sends_since + CODES_DAY_MS;
  const pause = row.sent_at + CODE_PAUSE_MS - now;
  if (row.sends > 0 && pause > 0) return { ok: false, waitMs: pause };
  if (sameDay && row.sends >= MAX_CODES_PER_DAY)
    return { ok: false, waitMs: row.sends_since + CODES_DAY_MS - now };
  const code = String(randomInt(0, 100_000_000)).padStart(8, '0');
  return {
    ok: true,
    code,
    row: {
      ...row,
      pending,
      code_hash: sha256Hex(code),
      code_expires_at: now + CODE_MS,
      code_tries: 0,
      sends: sameDay ? row.sends + 1 : 1,
      sends_since: sameDay ? row.sends_since : now,
      sent_at: now,
    },
  };
}

/** The contact after a code was sent back; both outcomes are stored, since a wrong code counts. */
export interface CodeCheck {
  readonly row: ContactRow;
  /** Why the address is not confirmed, as a sentence; `null`: it is. */
  readonly problem: string | null;
}

/** Checks a code. `now` in milliseconds since the epoch. */
export function checkCode(row: ContactRow, code: string, now: number): CodeCheck {
  if (row.pending === '' || row.code_hash === '') return { row, problem: 'no address waits for a code' };
  if (now >= row.code_expires_at) return { row, problem: 'the code has expired; set the address again' };
  if (row.code_tries >= MAX_CODE_TRIES) {
    const problem = `the code was void after ${MAX_CODE_TRIES} wrong ones; set the address again`;
    return { row, problem };
  }
  const matches = timingSafeEqual(Buffer.from(sha256Hex(code)), Buffer.from(row.code_hash));
  if (matches) return { row: confirmedContact(row, row.pending), problem: null };
  return { row: { ...row, code_tries: row.code_tries + 1 }, problem: 'the code is wrong' };
}

/** The letter around a code to an e-mail address. */
export function codeLetter(account: string, code: string): Letter {
  return {
    headline: `${code} is your confirmation code`,
    paragraphs: [
      `The account ${account} wants its notifications sent to this address.`,
      'If you do not know the account, do nothing: nothing else is sent to you.',
    ],
    facts: [
      { label: 'Code', value: code },
      { label: 'Valid for', value: durationWords(CODE_MS) },
    ],
    steps: [
      `Send the code back with \`edgeplan notifications contact --confirm-email ${code}\`, or with \`POST /notifications/contact/confirm\` of the API.`,
    ],
  };
}

/** The text around a code to a phone number. */
export function codeSms(account: string, code: string): string {
  return `${code} is your confirmation code for notifications of the account ${account}`;
}
