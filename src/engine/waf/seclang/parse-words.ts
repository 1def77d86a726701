/**
 * Parses the words of directives: action lists (`id:1,phase:2,msg:'a, b',setvar:'tx.score=+5'`), operators (`!@rx …`)
 * and target lists (`ARGS|!ARGS:/^id/|&TX:score|XML:/*`).
 */
import type { WrittenAction, WrittenOperator, WrittenTarget } from './draft.ts';
import type { SecLangFinding } from './source.ts';

/** The actions of a list, and its errors. */
export interface ParsedActions {
  readonly actions: readonly WrittenAction[];
  readonly findings: readonly SecLangFinding[];
}

/** Parses a list; a malformed action is reported and left out. */
export function parseActions(text: string): ParsedActions {
  const actions: WrittenAction[] = [];
  const findings: SecLangFinding[] = [];
  for (let at = skip(text, 0); at < text.length; at = skip(text, at)) {
    const nameEnd = until(text, at, ':,');
    const name = text.slice(at, nameEnd).trim();
    let value: string | null = null;
    let end = nameEnd;
    if (text[nameEnd] === ':') {
      const start = skipSpace(text, nameEnd + 1);
      const read = text[start] === "'" ? quotedValue(text, start) : bareValue(text, start);
      end = read.end;
      if (read.finding !== null) findings.push(read.finding);
      value = read.value;
    }
    if (/^[A-Za-z][A-Za-z0-9]*$/.test(name)) actions.push({ name, value });
    else findings.push({ message: 'this is not an action', found: name === '' ? text.slice(at, end) : name });
    at = end;
  }
  return { actions, findings };
}

/** The value of an action; `end` is the place of the comma after it, or the end of the text. */
interface Value {
  readonly value: string;
  readonly end: number;
  /** The error of the value; `null`: none. */
  readonly finding: SecLangFinding | null;
}

/** Reads a value without quotes, up to the next comma. */
function bareValue(text: string, from: number): Value {
  const end = until(text, from, ',');
  return { value: text.slice(from, end).trim(), end, finding: null };
}

/** Reads a value in single quotes. */
function quotedValue(text: string, from: number): Value {
  let value = '';
  let at = from + 1;
  for (; at < text.length && text[at] !== "'"; at++) {
    if (text[at] === '\\' && text[at + 1] === "'") at++;
    value += text[at];
  }
  if (at >= text.length) {
    const finding = {
      message: 'the single quote that opens here is never closed',
      found: text.slice(from, from + 40),
      remedy: "close it with ', and write \\' for one inside",
    };
    return { value, end: text.length, finding };
  }
  const end = until(text, at + 1, ',');
  if (text.slice(at + 1, end).trim() === '') return { value, end, finding: null };
  const finding = {
    message: 'text follows a closing single quote before the comma',
    found: text.slice(from, end),
    remedy: "write \\' for a single quote inside quotes",
  };
  return { value, end, finding };
}

/** Parses an operator; without `@name` it is `rx`. */
export function parseOperator(text: string): WrittenOperator {
  const trimmed = text.trimStart();
  const negated = trimmed.startsWith('!');
  const rest = negated ? trimmed.slice(1).trimStart() : trimmed;
  const named = /^@([A-Za-z0-9]+)(?:[ \t]+|$)/.exec(rest);
  if (named === null) return { negated, name: 'rx', argument: rest };
  return { negated, name: named[1]!, argument: rest.slice(named[0].length) };
}

/** The first place from `from` on with a character of `stops`, or the end of the text. */
function until(text: string, from: number, stops: string): number {
  let at = from;
  while (at < text.length && !stops.includes(text[at]!)) at++;
  return at;
}

/** The first place from `from` on that is neither white space nor a comma. */
function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s,]/.test(text[at]!)) at++;
  return at;
}

/** The first place from `from` on that is not white space. */
function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at]!)) at++;
  return at;
}

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
