/** All kinds of notifications by name, from the files of their groups in `kinds/`. */
import type { NotificationRow } from '../store/tables/notifications.ts';
import type { Letter, NotificationKind } from './kind.ts';
import { ACCOUNT_KINDS, TICKET_KINDS } from './kinds/account.ts';
import { DOMAIN_KINDS, OUTAGE_KINDS } from './kinds/domain.ts';
import { LIST_NOTICES } from './kinds/lists.ts';
import { CERTIFICATE_KINDS, OPERATION_KINDS } from './kinds/operation.ts';
import { REGISTRY_NOTICES } from './kinds/registry.ts';
import { cleanLine, oneLine } from './wording.ts';

/** The kinds by name, in the order of lists. */
export const KINDS = {
  ...DOMAIN_KINDS,
  ...OUTAGE_KINDS,
  ...CERTIFICATE_KINDS,
  ...OPERATION_KINDS,
  ...LIST_NOTICES,
  ...REGISTRY_NOTICES,
  ...ACCOUNT_KINDS,
  ...TICKET_KINDS,
} as const;

/** The name of a kind. */
export type KindName = keyof typeof KINDS;

/** The names of the kinds. */
export const KIND_NAMES = Object.keys(KINDS) as [KindName, ...KindName[]];

/** The data of a kind. */
export type KindData<Name extends KindName> =
  (typeof KINDS)[Name] extends NotificationKind<infer Data> ? Data : never;

/** A kind by its stored name; `null`: a later version has written it. */
export function kindOf(name: string): NotificationKind | null {
  return Object.hasOwn(KINDS, name) ? (KINDS[name as KindName] as NotificationKind) : null;
}

/** The stored data of a notification, and its letter. A row of another version has a letter with its kind alone. */
export function readNotification(row: NotificationRow): {
  readonly kind: NotificationKind | null;
  readonly data: unknown;
  readonly letter: Letter;
} {
  const kind = kindOf(row.kind);
  const stored: unknown = JSON.parse(row.data_json);
  const read = kind?.data.safeParse(stored);
  if (kind === null || read?.success !== true) {
    const headline = row.domain === '' ? row.kind : `${row.domain}: ${row.kind}`;
    return { kind, data: stored, letter: cleanLetter({ headline, paragraphs: [], facts: [], steps: [] }) };
  }
  const subject = { domain: row.domain, at: row.created_at };
  return { kind, data: stored, letter: cleanLetter(kind.letter(read.data, subject)) };
}

/** A letter whose texts are one line each, whatever the data have; what a person wrote has clean lines. */
function cleanLetter({ headline, paragraphs, written, facts, steps }: Letter): Letter {
  return {
    headline: oneLine(headline),
    paragraphs: paragraphs.map(oneLine),
    ...(written && { written: written.map(({ kind, lines }) => ({ kind, lines: lines.map(cleanLine) })) }),
    facts: facts.map(({ label, value }) => ({ label, value: oneLine(value) })),
    steps: steps.map(oneLine),
  };
}

/** An id that identifies a notification to its receivers, also in a restored store: `ntf_<id>_<time in base 36>`. */
export function publicId({ id, created_at }: Pick<NotificationRow, 'id' | 'created_at'>): string {
  return `ntf_${id}_${created_at.toString(36)}`;
}
