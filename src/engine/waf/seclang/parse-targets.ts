/** Parses target lists: `ARGS|!ARGS:/^id/|&TX:score|XML:/*`. */
import type { WrittenTarget } from './directives.ts';
import type { SecLangFinding } from './source.ts';

/** The targets of a list, and its errors. */
export interface ParsedTargets {
  /** In order. */
  readonly targets: readonly WrittenTarget[];
  readonly findings: readonly SecLangFinding[];
}

/** Parses a list; a malformed target is reported and left out. */
export function parseTargets(text: string): ParsedTargets {
  const targets: WrittenTarget[] = [];
  const findings: SecLangFinding[] = [];
  let at = 0;
  while (at <= text.length) {
    const read = readTarget(text, at);
    if ('finding' in read) findings.push(read.finding);
    else targets.push(read.target);
    at = read.end + 1;
  }
  return { targets, findings };
}

/** One target or error; `end` is the place of the separator after it, or the end of the text. */
type Read = { readonly end: number } & (
  | { readonly target: WrittenTarget }
  | { readonly finding: SecLangFinding }
);

/** Reads the target at `from`. */
function readTarget(text: string, from: number): Read {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at++;
  const mark = text[at] === '!' || text[at] === '&' ? text[at] : null;
  if (mark !== null) at++;
  const nameEnd = endOf(text, at, ':|,');
  const variable = text.slice(at, nameEnd).trim();
  const shared = { excluded: mark === '!', counted: mark === '&', variable };
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(variable)) {
    const end = endOf(text, nameEnd, '|');
    const finding = {
      message: 'a target is a variable, such as `ARGS` or `REQUEST_HEADERS:Host`',
      found: text.slice(from, end),
    };
    return { finding, end };
  }
  if (text[nameEnd] !== ':') return { target: { ...shared, selector: null }, end: nameEnd };
  return readSelector(text, nameEnd + 1, shared);
}

/**
 * Reads the selector at `from`, after the colon: a name, or a pattern between slashes, either in single quotes or
 * not.
 */
function readSelector(text: string, from: number, shared: Omit<WrittenTarget, 'selector'>): Read {
  const quoted = text[from] === "'";
  const start = quoted ? from + 1 : from;
  const isPattern = text[start] === '/' && shared.variable.toUpperCase() !== 'XML';
  const stop = isPattern ? '/' : quoted ? "'" : '|,';
  const first = isPattern ? start + 1 : start;
  const close = endOf(text, first, stop);
  const last = close + (isPattern ? 1 : 0) + (quoted ? 1 : 0);
  const end = last < text.length ? endOf(text, last, '|,') : text.length;
  const closed = (!isPattern || text[close] === '/') && (!quoted || text[last - 1] === "'");
  if (!closed || text.slice(last, end).trim() !== '') {
    const what = isPattern
      ? 'a pattern in a selector is written between slashes'
      : 'the quoted selector has no end';
    return { finding: { message: what, found: text.slice(from, end) }, end };
  }
  const raw = text.slice(first, close);
  const selector = isPattern
    ? { kind: 'pattern' as const, text: raw.replaceAll('\\/', '/') }
    : { kind: 'name' as const, text: raw.trim() };
  if (selector.text === '') {
    return {
      finding: { message: 'the selector after the colon is empty', found: `${shared.variable}:` },
      end,
    };
  }
  return { target: { ...shared, selector }, end };
}

/** The first place from `from` on with a character of `stops` that no backslash precedes, or the end of the text. */
function endOf(text: string, from: number, stops: string): number {
  let at = from;
  while (at < text.length && !stops.includes(text[at]!)) at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}
