/**
 * A page of a trace document, never longer than `MAX_RESULT_PAGE_OCTETS`. Matched
 * and conditional rules come first, in evaluation order, then the skipped ones; everything else is on every page. Long
 * texts end in `…` and their length; long lists are shortened and listed in `shortened` with their length.
 */
import type { RuleNote, TraceDocument } from '../../workbench/simulation/document.ts';
import type { AnswerPage } from './job.ts';
import { cut, type Shortened, short, takePage } from './take-page.ts';

/** Characters of an error page: a seventh of a page, so that rules fit beside it. */
const HTML_CHARACTERS = 131_072;

export interface TracePageOptions extends AnswerPage {
  readonly revision: number;
}

/** The page as JSON text. */
export function tracePage(document: TraceDocument, { limit, from, revision }: TracePageOptions): string {
  const shortened: Shortened[] = [];
  const { phases, error_page, ...rest } = document;
  const base = { ...(cut(rest, [], shortened) as typeof rest), error_page: cutPage(error_page) };
  const bare = phases.map((phase) => ({ ...(cut({ ...phase, rules: [] }, [], shortened) as object) }));
  const around = { ...base, phases: bare, shortened };
  const { shown, page } = takePage(inOrder(document), { limit, from, around }, ({ phase, rule }) => ({
    phase,
    rule: cut(rule, ['rules'], []) as object,
  }));
  const full = bare.map((phase, index) => ({
    ...phase,
    rules: shown.filter((one) => one.phase === index).map((one) => one.rule),
  }));
  const note = {
    limit,
    rules: page.shown,
    of: page.of,
    next: page.next === null ? null : `${revision}-${page.next}`,
  };
  return JSON.stringify({ ...base, phases: full, page: note, shortened });
}

interface Ordered {
  /** The phase's place in the document. */
  readonly phase: number;
  readonly rule: RuleNote;
}

/** Every rule of the trace, the matched and conditional ones before the others. */
function inOrder({ phases }: TraceDocument): readonly Ordered[] {
  const all = phases.flatMap(({ rules }, phase) => rules.map((rule): Ordered => ({ phase, rule })));
  const isDecisive = ({ rule }: Ordered): boolean =>
    rule.outcome === 'matched' || rule.outcome === 'conditional';
  return [...all.filter(isDecisive), ...all.filter((one) => !isDecisive(one))];
}

function cutPage(page: TraceDocument['error_page']): TraceDocument['error_page'] {
  return page === null || page.html === null ? page : { ...page, html: short(page.html, HTML_CHARACTERS) };
}
