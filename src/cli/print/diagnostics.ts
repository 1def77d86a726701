/** Prints diagnostics as compilers do: place, severity, code, message, the source line with a caret, the remedy. */
import { type Diagnostic, formatPath } from '../../base/diagnostics/diagnostic.ts';
import type { FindingDocument } from '../../page/panel/documents.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import {
  columns,
  quantity,
  type RenderedLine,
  span,
  type Tone,
  visible,
} from '../../workbench/simulation/render-text.ts';

/** Options of printing. */
export interface DiagnosticOptions {
  readonly colour: boolean;
  /** Text of the files that diagnostics point into, by name. */
  readonly texts: ReadonlyMap<string, string>;
  /** The largest number of diagnostics to print, errors first; the rest is counted. Default: all. */
  readonly most?: number;
}

/** The number of diagnostics printed for an input with errors; a file of another kind has hundreds. */
export const MISTAKES_PRINTED = 20;

/** The tone of each severity. */
const TONE: Readonly<Record<Diagnostic['severity'], Tone>> = {
  error: 'bad',
  warning: 'warn',
  info: 'accent',
};

/** Characters of a source line that are shown on each side of the caret. */
const AROUND = 60;

/** The source line with a caret below it; nothing when the line is blank or unknown. */
function sourceLines(
  place: NonNullable<Diagnostic['at']>,
  text: string | undefined,
): readonly RenderedLine[] {
  const source = text?.split(/\r\n|\n|\r/, place.line)[place.line - 1];
  if (source === undefined) return [];
  const from = Math.max(0, place.column - 1 - AROUND);
  const shown = source.slice(from, place.column - 1 + AROUND).trimEnd();
  if (shown.trim() === '') return [];
  const number = `${place.line} | `;
  const before = visible(source.slice(from, place.column - 1).replaceAll('\t', ' '));
  return [
    [span(`  ${number}`, 'dim'), span(shown.replaceAll('\t', ' '))],
    [span(`  ${' '.repeat(number.length)}${' '.repeat(columns(before))}`), span('^', 'bad')],
  ];
}

/** The lines of one diagnostic. */
function lines(diagnostic: Diagnostic, options: DiagnosticOptions): readonly RenderedLine[] {
  const { at, severity, code, message, found, remedy } = diagnostic;
  const path = formatPath(diagnostic.path);
  const sentence = `${path === '' ? '' : `${path}: `}${message}${found === undefined ? '' : `, found ${found}`}`;
  const place = at === undefined ? [] : [span(`${at.file}:${at.line}:${at.column}: `, 'strong')];
  return [
    [...place, span(severity, TONE[severity]), span(`[${code}]`, 'dim'), span(`: ${sentence}`)],
    ...(at === undefined ? [] : sourceLines(at, options.texts.get(at.file))),
    ...(remedy === undefined ? [] : [[span('  = ', 'dim'), span(remedy)]]),
  ];
}

/** Prints diagnostics, each line ended by a newline, and last how to read more about the first mistake. */
export function diagnosticsText(diagnostics: readonly Diagnostic[], options: DiagnosticOptions): string {
  const { colour, most = diagnostics.length } = options;
  const shown = diagnostics.length <= most ? diagnostics : errorsFirst(diagnostics).slice(0, most);
  const text = shown.map((diagnostic) => paint(lines(diagnostic, options), colour)).join('');
  const left = diagnostics.length - shown.length;
  // An information says all there is.
  const first = shown.find(({ severity }) => severity !== 'info');
  const hint =
    first === undefined ? '' : paint([[span(`edgeplan codes ${first.code} says more`, 'dim')]], colour);
  return `${text}${left === 0 ? '' : `and ${left} more\n`}${hint}`;
}

/** The diagnostics with errors first, otherwise in their order. */
function errorsFirst(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const [errors, others] = [true, false].map((isError) =>
    diagnostics.filter(({ severity }) => (severity === 'error') === isError),
  );
  return [...errors!, ...others!];
}

/** `2 errors, 1 warning`; empty without errors and warnings. */
export function tally(diagnostics: readonly Diagnostic[]): string {
  const kinds = ['error', 'warning'] as const;
  return kinds
    .map((severity) => {
      const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
      return count === 0 ? '' : quantity(count, severity);
    })
    .filter((text) => text !== '')
    .join(', ');
}

/** The document of a diagnostic. @param rule the id of the rule that it is about; `null`: none */
export function findingDocument(diagnostic: Diagnostic, rule: number | null): FindingDocument {
  const { severity, code, path, message, found = null, remedy = null, at } = diagnostic;
  const place = at === undefined ? null : { file: at.file, line: at.line, column: at.column };
  return { severity, code, path: formatPath(path), message, found, remedy, at: place, rule };
}
