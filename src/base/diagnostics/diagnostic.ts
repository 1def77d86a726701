/** A mistake in a customer's input, described so that it can be corrected. Collected and returned, never thrown. */
import type { DiagnosticCode } from './codes/codes.ts';
import type { Severity } from './severity.ts';

/** The place of a mistake in the input, from the root: field names and list positions. */
export type FieldPath = readonly (string | number)[];

/** A place in a text file. `line` and `column` count from 1; `column` counts UTF-16 units. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Diagnostic {
  /** Stable across releases; `codes/codes.ts` lists all. */
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** For example `['rules', 3, 'path_includes', 0]`; empty for the input as a whole. */
  readonly path: FieldPath;
  /** Lower case, no full stop, without the field's name (it is in the path) and without what was found. */
  readonly message: string;
  /** The offending value, quoted and cut to a readable length. */
  readonly found?: string;
  /** What to write instead. */
  readonly remedy?: string;
  readonly at?: SourcePlace;
}

/** The longest piece of a customer's text that an error sentence repeats, in UTF-16 units. */
const QUOTED_LENGTH = 80;

/** Controls, lone surrogates, and the characters that break a line or turn its direction. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\p{Cs}]/gu;

/** A field path as people write it: `rules[3].path_includes[0]`. Empty for the root. */
export function formatPath(path: FieldPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(step)) text += text === '' ? cut(step) : `.${cut(step)}`;
    else text += `[${JSON.stringify(cut(step))}]`;
  }
  return text;
}

/** `<field path>: <what is wrong>`, the form of a 400's text (semantics §6); the message alone at the root. */
export function describeDiagnostic(diagnostic: Diagnostic): string {
  const path = formatPath(diagnostic.path);
  let text = path === '' ? diagnostic.message : `${path}: ${diagnostic.message}`;
  if (diagnostic.found !== undefined) text += `, found ${diagnostic.found}`;
  if (diagnostic.remedy !== undefined) text += `; ${diagnostic.remedy}`;
  return text;
}

/** One line for a terminal: `edge.yaml:12:7: error: rules[3].limit: …`; without a place, from the severity on. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { at } = diagnostic;
  const place = at === undefined ? '' : `${at.file}:${at.line}:${at.column}: `;
  return `${place}${diagnostic.severity}: ${describeDiagnostic(diagnostic)}`;
}

/** A diagnostic as JSON documents have it, without its place in a file: the path as text, absent parts `null`. */
export function diagnosticFields({ severity, code, path, message, found, remedy }: Diagnostic): object {
  return { severity, code, path: formatPath(path), message, found: found ?? null, remedy: remedy ?? null };
}

/** Whether any of them is an error, which is what refuses an input. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/**
 * A value as an error sentence shows it: text in backticks, other values as JSON, lists and objects by their size.
 * Never throws and never long. Control characters are escaped, so that a value cannot rewrite a terminal.
 */
export function quoteValue(value: unknown): string {
  if (typeof value === 'string') return `\`${cut(value)}\``;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value))
    return value.length === 1 ? 'a list of 1 entry' : `a list of ${value.length} entries`;
  if (typeof value === 'object') return 'an object';
  return value === undefined ? 'nothing' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The end of the line that a private key in PEM begins with (RFC 7468, §10). */
const KEY_HEADER = 'PRIVATE KEY-----';

/** The first characters, and of a private key that came in the place of another text none. */
function cut(text: string): string {
  const header = text.indexOf(KEY_HEADER);
  const most = header < 0 ? QUOTED_LENGTH : Math.min(QUOTED_LENGTH, header + KEY_HEADER.length);
  const short = text.length > most ? `${text.slice(0, most)}…` : text;
  return short.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** What kind of thing a value is, without telling it. */
export function describeKind(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === undefined) return value === null ? 'null' : 'nothing';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
