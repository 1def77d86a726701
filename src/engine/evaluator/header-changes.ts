/**
 * Changes of header fields as rules have them in a plan (layout: HEADERS_FIELDS): those of headers rules, and those of the
 * requests that a gateway forwards. In: rows of changes, the request. Out: changes with the facts that their values insert.
 */
import { formatIp } from '../../base/addresses/ip.ts';
import { MAX_APPLIED_CHARACTERS } from '../../base/vocabulary/limits.ts';
import { HEADER_OPS } from '../../base/vocabulary/vocabulary.ts';
import { HEADER_CHANGE, HEADERS_FIELDS, PIECE_KINDS, VALUE_PIECE } from '../plan/layout.ts';
import { botText, countryCode } from './checks.ts';
import type { HeaderChange } from './decision.ts';
import { ipOf } from './facts.ts';
import { claimText } from './gateways.ts';
import { textOf } from './loaded.ts';
import type { Context, Run } from './run.ts';

/** The changes of one message so far. */
export interface HeaderSection {
  readonly changes: HeaderChange[];
  /** Of names and values that are sent. */
  characters: number;
}

/** The changes of a message, after those that it has, whose characters do not count. */
export function createSection(before: readonly HeaderChange[] | null = null): HeaderSection {
  return { changes: before === null ? [] : [...before], characters: 0 };
}

/** Rows of changes: the offset of their rule's in `words`, the first of them, and how many. */
export interface ChangeRows {
  readonly at: number;
  readonly first: number;
  readonly count: number;
}

/** Adds changes to those of a message. One that would make the message too long is left out. */
export function addRows(
  context: Context,
  run: Run,
  { at, first, count }: ChangeRows,
  section: HeaderSection,
): void {
  for (let index = first; index < first + count; index++) {
    const change = changeAt(context, run, at + HEADERS_FIELDS.changes + index * HEADER_CHANGE.size);
    if (change === null) continue;
    const size = change.value === null ? 0 : change.name.length + change.value.length;
    if (section.characters + size > MAX_APPLIED_CHARACTERS) continue;
    section.characters += size;
    section.changes.push(change);
  }
}

/** The change of a row; `null`: an addition whose value is unset. */
function changeAt(context: Context, run: Run, row: number): HeaderChange | null {
  const { words } = context.loaded.plan;
  const op = HEADER_OPS[words[row + HEADER_CHANGE.op]!]!;
  const name = textOf(context.loaded, words[row + HEADER_CHANGE.name]!);
  if (op === 'remove') return { op, name, value: null };
  const value = valueAt(context, run, words[row + HEADER_CHANGE.value]!);
  if (value !== null) return { op, name, value };
  return op === 'add' ? null : { op: 'remove', name, value };
}

/** The value of pieces; `null`: a fact of it is unknown, or is no text of a field. */
function valueAt(context: Context, run: Run, at: number): string | null {
  const { words } = context.loaded.plan;
  let value = '';
  for (let index = 0; index < words[at]!; index++) {
    const row = at + 1 + index * VALUE_PIECE.size;
    const piece = pieceText(context, run, row);
    if (piece === null) return null;
    value += piece;
  }
  return value;
}

function pieceText(context: Context, run: Run, row: number): string | null {
  const { facts, loaded } = context;
  const { words } = loaded.plan;
  const kind = PIECE_KINDS[words[row + VALUE_PIECE.kind]!]!;
  switch (kind) {
    case 'text':
      return textOf(loaded, words[row + VALUE_PIECE.text]!);
    case 'tag':
      return facts.tagged.includes(words[row + VALUE_PIECE.slot]!) ? '1' : null;
    case 'client_ip': {
      const family = ipOf(facts);
      return family === 0 ? null : formatIp(family as 4 | 6, facts.ipWords);
    }
    case 'client_country':
      return facts.country < 0 ? null : countryCode(facts.country);
    case 'host':
      return facts.host;
    case 'scheme':
      return facts.https ? 'https' : 'http';
    case 'method':
      return fieldText(facts.request.method);
    case 'request_id':
      return fieldText(facts.request.id);
    case 'ja4':
      return fieldText(facts.ja4);
    case 'bot_kind':
      return fieldText(botText(context));
    case 'consumer':
      return fieldText(run.gateway?.consumer);
    case 'claim':
      // Claims are those of a token that a gateway has taken.
      return run.gateway === null || run.gateway.consumer === null
        ? null
        : fieldText(claimText(facts, textOf(loaded, words[row + VALUE_PIECE.text]!)));
    default:
      return kind satisfies never;
  }
}

/** Most characters of a fact that a caller gives; a longer fact counts as unknown. */
const MAX_FACT = 256;

/** A fact that callers give as any value: `null` unless it is visible ASCII, so that none adds a line to a message. */
function fieldText(given: unknown): string | null {
  return typeof given === 'string' && given.length <= MAX_FACT && /^[!-~]+$/.test(given) ? given : null;
}
