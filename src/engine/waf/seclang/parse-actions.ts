/** Parses action lists (`id:1,phase:2,msg:'a, b',setvar:'tx.score=+5'`) and operators (`!@rx …`). */
import type { WrittenAction, WrittenOperator } from './directives.ts';
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
