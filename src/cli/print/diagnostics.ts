/** Diagnostics the way compilers print them: place, severity, sentence, the line itself with a caret, the remedy. */
import { type Diagnostic, formatPath } from '../../base/diagnostic.ts';
import { paint } from '../../simulator/paint.ts';
import {
  columns,
  quantity,
  type RenderedLine,
  span,
  type Tone,
  visible,
} from '../../simulator/render-text.ts';

export interface DiagnosticOptions {
  readonly colour: boolean;
  /** Text of the files that diagnostics point into, by name. */
  readonly texts: ReadonlyMap<string, string>;
  /** Diagnostics that are told, errors before all others; of more the number. Default: all. */
  readonly most?: number;
}

/** Mistakes told of an input that is refused for them: a file of another kind has hundreds. */
export const MISTAKES_PRINTED = 20;

const TONE: Readonly<Record<Diagnostic['severity'], Tone>> = {
  error: 'bad',
  warning: 'warn',
  info: 'accent',
};

/** Characters of a source line before and after the caret that are shown. */
const AROUND = 60;

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

function lines(diagnostic: Diagnostic, options: DiagnosticOptions): readonly RenderedLine[] {
  const { at, severity, message, found, remedy } = diagnostic;
  const path = formatPath(diagnostic.path);
  const sentence = `${path === '' ? '' : `${path}: `}${message}${found === undefined ? '' : `, found ${found}`}`;
  const place = at === undefined ? [] : [span(`${at.file}:${at.line}:${at.column} `, 'strong')];
  return [
    [...place, span(severity, TONE[severity]), span(` ${sentence}`)],
    ...(at === undefined ? [] : sourceLines(at, options.texts.get(at.file))),
    ...(remedy === undefined ? [] : [[span('  = ', 'dim'), span(remedy)]]),
  ];
}

/** All diagnostics as text, each ended by a newline. */
export function diagnosticsText(diagnostics: readonly Diagnostic[], options: DiagnosticOptions): string {
  const { colour, most = diagnostics.length } = options;
  const shown = diagnostics.length <= most ? diagnostics : errorsFirst(diagnostics).slice(0, most);
  const text = shown.map((diagnostic) => paint(lines(diagnostic, options), colour)).join('');
  const left = diagnostics.length - shown.length;
  return left === 0 ? text : `${text}and ${left} more\n`;
}

function errorsFirst(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const [errors, others] = [true, false].map((wanted) =>
    diagnostics.filter(({ severity }) => (severity === 'error') === wanted),
  );
  return [...errors!, ...others!];
}

/** `2 errors, 1 warning`; empty when there is nothing to count. */
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
