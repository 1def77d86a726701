/** Phase 11, on the response: the first error_page rule that matches the request and lists the status. */
import { ERROR_PAGE_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG_ACTION_SHIFT, PAGE_FIELDS, SLOT, typeIndex } from '../../plan/layout.ts';
import { listText, type RuleExplanation, type Settled } from '../checks.ts';
import type { ErrorPage } from '../decision.ts';
import { textOf } from '../loaded.ts';
import { acts, type Context, endPhase, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';
import type { RuleTrace } from '../trace.ts';

const ERROR_PAGE = typeIndex('error_page');

/** The response whose page is chosen. */
export interface ErrorResponse {
  readonly status: number;
  /** Whether the edge or the origin made the status. */
  readonly madeBy: 'edge' | 'origin';
}

/** The page for a response, or `null` if no rule covers it. */
export function errorPage(context: Context, run: Run, response: ErrorResponse): ErrorPage | null {
  for (let slot = nextMatch(context, ERROR_PAGE); slot >= 0; slot = nextMatch(context, ERROR_PAGE)) {
    if (!listedStatuses(context, slot).includes(response.status)) continue;
    record(context, run, slot, 'error_page');
    if (!acts(context, run, slot)) continue;
    endPhase(context, ERROR_PAGE);
    return pageOf(context, slot, response);
  }
  return null;
}

/** The statuses a rule covers. */
function listedStatuses(context: Context, slot: number): Uint32Array {
  const { words } = context.loaded.plan;
  const codes = slotWord(context, slot, SLOT.fields) + PAGE_FIELDS.codes;
  return words.subarray(codes, codes + words[codes - 1]!);
}

function pageOf(context: Context, slot: number, response: ErrorResponse): ErrorPage {
  const rule = refOf(context, slot);
  const mode = ERROR_PAGE_MODES[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT];
  if (mode === 'origin') return { kind: response.madeBy === 'origin' ? 'origin' : 'svc', html: null, rule };
  const html = mode === 'custom' ? contentOf(context, slot, response.status) : null;
  return { kind: html === null ? 'svc' : 'custom', html, rule };
}

/** The status's own HTML, else the fallback's. */
function contentOf(context: Context, slot: number, status: number): string | null {
  const { words } = context.loaded.plan;
  const codes = slotWord(context, slot, SLOT.fields);
  const pages = codes + PAGE_FIELDS.codes + words[codes + PAGE_FIELDS.count]!;
  let fallback: string | null = null;
  for (let page = 0; page < words[pages]!; page++) {
    const code = words[pages + 1 + page * 2]!;
    const html = (): string => textOf(context.loaded, words[pages + 2 + page * 2]!);
    if (code === status) return html();
    if (code === 0) fallback = html();
  }
  return fallback;
}

/** What a trace says of error_page rules. */
export const errorPageExplanation: RuleExplanation = { ofResponse: outcomeOf };

/** The outcome of an error_page rule whose filters hold; it depends on the response. */
function outcomeOf({ context, decision }: Settled, slot: number): Pick<RuleTrace, 'outcome' | 'reason'> {
  const { action, status } = decision;
  const codes = [...listedStatuses(context, slot)];
  if (action === 'forward') {
    const text = `applies if the answer is ${alternatives(codes)}`;
    return { outcome: 'conditional', reason: { code: 'needs_response', text } };
  }
  if (action !== 'block' || status === null) {
    const text = `error pages do not apply to a ${action} answer`;
    return { outcome: 'not_reached', reason: { code: 'request_ended', text } };
  }
  if (codes.includes(status)) {
    const text = `applies to the edge's own ${status}`;
    return { outcome: 'conditional', reason: { code: 'needs_response', text } };
  }
  const text = `the edge's ${status} is not in codes ${listText(codes.map(String))}`;
  return { outcome: 'skipped', reason: { code: 'status_not_listed', text } };
}

/** `404, 500 or 502`; a long list as `listText` prints it. */
function alternatives(codes: readonly number[]): string {
  if (codes.length > 6) return listText(codes.map(String));
  const last = codes.at(-1);
  return codes.length < 2 ? String(last ?? 'never') : `${codes.slice(0, -1).join(', ')} or ${last}`;
}
