/**
 * Changes of header fields in a plan (layout: HEADERS_FIELDS in `engine/plan/layout.ts`): those of headers rules, and those of
 * the requests that a gateway forwards. In: the entries of a rule. Out: their offset in `words`, and the words printed.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import { HEADER_OPS } from '../../base/vocabulary/vocabulary.ts';
import { parseHeaderValue, type ValuePiece } from '../../rules/model/header-values.ts';
import type { HeaderEntry } from '../../rules/model/rules/headers.ts';
import {
  decodeString,
  HEADER_CHANGE,
  HEADERS_FIELDS,
  NONE,
  PIECE_KINDS,
  type Plan,
  VALUE_PIECE,
} from '../plan/layout.ts';
import { type PlanDraft, placeString, placeWords, slotOfTag } from './draft.ts';

/** Places changes, those of requests first; the plan is one that earlier readers refuse. */
export function placeChanges(draft: PlanDraft, entries: readonly HeaderEntry[]): number {
  draft.recent = true;
  const rows = entries.flatMap(({ op, name, value }) => [
    HEADER_OPS.indexOf(op),
    placeString(draft.strings, name),
    value === null ? NONE : placeValue(draft, value),
  ]);
  const requests = entries.filter(({ side }) => side === 'request').length;
  return placeWords(draft.words, [requests, entries.length - requests, ...rows]);
}

/** The pieces of a value: their count, then their rows. */
function placeValue(draft: PlanDraft, value: string): number {
  const parsed = parseHeaderValue(value);
  assert(parsed.ok, 'the model accepts values of known variables alone');
  const rows = parsed.pieces.flatMap((piece) => pieceRow(draft, piece));
  return placeWords(draft.words, [parsed.pieces.length, ...rows]);
}

function pieceRow(draft: PlanDraft, piece: ValuePiece): readonly number[] {
  const kind = PIECE_KINDS.indexOf(piece.kind === 'variable' ? piece.name : piece.kind);
  switch (piece.kind) {
    case 'text':
      return [kind, placeString(draft.strings, piece.text), NONE];
    case 'tag':
      return [kind, placeString(draft.strings, piece.tag), slotOfTag(draft, piece.tag)];
    case 'claim':
      draft.newest = true;
      return [kind, placeString(draft.strings, piece.name), NONE];
    case 'variable':
      if (piece.name === 'consumer') draft.newest = true;
      return [kind, NONE, NONE];
    default:
      return piece satisfies never;
  }
}

/** The changes at an offset of `words` as text, those of requests and those of responses. */
export function printChanges(
  plan: Plan,
  at: number,
): { readonly request: readonly string[]; readonly response: readonly string[] } {
  const { words } = plan;
  const requests = words[at + HEADERS_FIELDS.requests]!;
  const count = requests + words[at + HEADERS_FIELDS.responses]!;
  const changes = Array.from({ length: count }, (_, index) => {
    const row = at + HEADERS_FIELDS.changes + index * HEADER_CHANGE.size;
    const name = decodeString(plan, words[row + HEADER_CHANGE.name]!);
    const value = words[row + HEADER_CHANGE.value]!;
    const op = HEADER_OPS[words[row + HEADER_CHANGE.op]!];
    return value === NONE ? `${op} ${name}` : `${op} ${name}: ${printValue(plan, value)}`;
  });
  return { request: changes.slice(0, requests), response: changes.slice(requests) };
}

/** The slots of the rules whose tags are in values of changes; NONE: a rule that does not exist. `at`: their offset in `words`. */
export function slotsInValues({ words }: Plan, at: number): readonly number[] {
  const count = words[at + HEADERS_FIELDS.requests]! + words[at + HEADERS_FIELDS.responses]!;
  return Array.from({ length: count }, (_, index) => {
    const value = words[at + HEADERS_FIELDS.changes + index * HEADER_CHANGE.size + HEADER_CHANGE.value]!;
    const pieces = value === NONE ? 0 : words[value]!;
    return Array.from({ length: pieces }, (_piece, place) => value + 1 + place * VALUE_PIECE.size);
  })
    .flat()
    .flatMap((row) =>
      PIECE_KINDS[words[row + VALUE_PIECE.kind]!] === 'tag' ? [words[row + VALUE_PIECE.slot]!] : [],
    );
}

/** A value as it is written. */
function printValue(plan: Plan, at: number): string {
  const { words } = plan;
  return Array.from({ length: words[at]! }, (_, index) => {
    const row = at + 1 + index * VALUE_PIECE.size;
    const kind = PIECE_KINDS[words[row + VALUE_PIECE.kind]!]!;
    const text = words[row + VALUE_PIECE.text]!;
    if (kind === 'text') return decodeString(plan, text).replaceAll('$', '$$$$');
    return kind === 'tag' || kind === 'claim' ? `\${${kind}(${decodeString(plan, text)})}` : `\${${kind}}`;
  }).join('');
}
