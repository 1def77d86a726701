/**
 * Phases 10b and 12: every headers rule that matches the request changes the fields that the origin gets, if it is forwarded,
 * and those that the visitor gets, from an origin or from the edge. Rules act in their order, each on what those before it have left.
 */
import { formatIp } from '../../../base/addresses/ip.ts';
import { MAX_APPLIED_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { HEADER_OPS, type HeaderSide } from '../../../base/vocabulary/vocabulary.ts';
import {
  HEADER_CHANGE,
  HEADERS_FIELDS,
  PIECE_KINDS,
  SLOT,
  typeIndex,
  VALUE_PIECE,
} from '../../plan/layout.ts';
import { botText, countryCode, listText, type RuleExplanation } from '../checks.ts';
import type { HeaderChange } from '../decision.ts';
import { ipOf } from '../facts.ts';
import { textOf } from '../loaded.ts';
import { acts, type Context, nextMatch, type Run, record, slotWord } from '../run.ts';

const HEADERS = typeIndex('headers');

/** Runs the phase, whatever ended the request. Writes `run.requestHeaders` if it is forwarded, and `run.responseHeaders`. */
export function headers(context: Context, run: Run): false {
  const request: Section = { changes: [], characters: 0 };
  const response: Section = { changes: [], characters: 0 };
  for (let slot = nextMatch(context, HEADERS); slot >= 0; slot = nextMatch(context, HEADERS)) {
    record(context, run, slot, 'headers');
    if (!acts(context, run, slot)) continue;
    if (run.action === 'forward') addChanges(context, { slot, side: 'request' }, request);
    addChanges(context, { slot, side: 'response' }, response);
  }
  if (request.changes.length > 0) run.requestHeaders = request.changes;
  if (response.changes.length > 0) run.responseHeaders = response.changes;
  return false;
}

/** The changes of one message so far. */
interface Section {
  readonly changes: HeaderChange[];
  /** Of names and values that are sent. */
  characters: number;
}

/** One side of a rule. */
interface RuleSide {
  readonly slot: number;
  readonly side: HeaderSide;
}

function addChanges(context: Context, { slot, side }: RuleSide, section: Section): void {
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const requests = words[fields + HEADERS_FIELDS.requests]!;
  const [first, count] =
    side === 'request' ? [0, requests] : [requests, words[fields + HEADERS_FIELDS.responses]!];
  for (let index = first; index < first + count; index++) {
    const change = changeAt(context, fields + HEADERS_FIELDS.changes + index * HEADER_CHANGE.size);
    if (change === null) continue;
    const size = change.value === null ? 0 : change.name.length + change.value.length;
    if (section.characters + size > MAX_APPLIED_CHARACTERS) continue;
    section.characters += size;
    section.changes.push(change);
  }
}

/** The change of a row; `null`: an addition whose value is unset. */
function changeAt(context: Context, row: number): HeaderChange | null {
  const { words } = context.loaded.plan;
  const op = HEADER_OPS[words[row + HEADER_CHANGE.op]!]!;
  const name = textOf(context.loaded, words[row + HEADER_CHANGE.name]!);
  if (op === 'remove') return { op, name, value: null };
  const value = valueAt(context, words[row + HEADER_CHANGE.value]!);
  if (value !== null) return { op, name, value };
  return op === 'add' ? null : { op: 'remove', name, value };
}

/** The value of pieces; `null`: a fact of it is unknown, or is no text of a field. */
function valueAt(context: Context, at: number): string | null {
  const { words } = context.loaded.plan;
  let value = '';
  for (let index = 0; index < words[at]!; index++) {
    const row = at + 1 + index * VALUE_PIECE.size;
    const piece = pieceText(context, row);
    if (piece === null) return null;
    value += piece;
  }
  return value;
}

function pieceText(context: Context, row: number): string | null {
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

/** What a trace says of headers rules: names alone, since values may be secrets. */
export const headersExplanation: RuleExplanation = {
  reason: ({ context }, slot) => ({ code: 'headers_changed', text: changesText(context, slot) }),
};

function changesText(context: Context, slot: number): string {
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const requests = words[fields + HEADERS_FIELDS.requests]!;
  const named = (from: number, count: number): string =>
    listText(
      Array.from({ length: count }, (_, index) => {
        const row = fields + HEADERS_FIELDS.changes + (from + index) * HEADER_CHANGE.size;
        const op = HEADER_OPS[words[row + HEADER_CHANGE.op]!]!;
        return `${op} ${textOf(context.loaded, words[row + HEADER_CHANGE.name]!)}`;
      }),
    );
  const responses = words[fields + HEADERS_FIELDS.responses]!;
  const parts = [
    ...(requests === 0 ? [] : [`request ${named(0, requests)}`]),
    ...(responses === 0 ? [] : [`response ${named(requests, responses)}`]),
  ];
  return parts.join(', ');
}
