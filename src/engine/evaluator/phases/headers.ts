/**
 * Phases 10b and 12: every headers rule that matches the request changes the fields that the origin gets, if it is forwarded,
 * and those that the visitor gets, from an origin or from the edge. Rules act in their order, each on what those before it have left.
 */
import { HEADER_OPS, type HeaderSide } from '../../../base/vocabulary/vocabulary.ts';
import { HEADER_CHANGE, HEADERS_FIELDS, SLOT, typeIndex } from '../../plan/layout.ts';
import { listText, type RuleExplanation } from '../checks.ts';
import { addRows, createSection, type HeaderSection } from '../header-changes.ts';
import { textOf } from '../loaded.ts';
import { acts, type Context, nextMatch, type Run, record, slotWord } from '../run.ts';

const HEADERS = typeIndex('headers');

/** Runs the phase, whatever ended the request. Writes `run.requestHeaders` if it is forwarded, and `run.responseHeaders`. */
export function headers(context: Context, run: Run): false {
  const request = createSection(run.requestHeaders);
  const response = createSection(run.responseHeaders);
  for (let slot = nextMatch(context, HEADERS); slot >= 0; slot = nextMatch(context, HEADERS)) {
    record(context, run, slot, 'headers');
    if (!acts(context, run, slot)) continue;
    if (run.action === 'forward') addChanges(context, run, { slot, side: 'request', section: request });
    addChanges(context, run, { slot, side: 'response', section: response });
  }
  if (request.changes.length > 0) run.requestHeaders = request.changes;
  if (response.changes.length > 0) run.responseHeaders = response.changes;
  return false;
}

/** One side of a rule, and where its changes go. */
interface RuleSide {
  readonly slot: number;
  readonly side: HeaderSide;
  readonly section: HeaderSection;
}

function addChanges(context: Context, run: Run, { slot, side, section }: RuleSide): void {
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const requests = words[fields + HEADERS_FIELDS.requests]!;
  const [first, count] =
    side === 'request' ? [0, requests] : [requests, words[fields + HEADERS_FIELDS.responses]!];
  addRows(context, run, { at: fields, first, count }, section);
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
