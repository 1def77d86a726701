/**
 * SecLang text → signature program. In go configuration files and a way to read the data files they name; out come the
 * program and what is to be said about it. Offline work: it takes seconds for the OWASP Core Rule Set.
 */
import type { Diagnostic } from '../../base/diagnostic.ts';
import { hasErrors } from '../../base/diagnostic.ts';
import type { SignatureProgram } from '../../plan/signature-program.ts';
import { emitProgram } from './emit.ts';
import { lowerDirectives } from './lower.ts';
import { parseSecLang } from './parse.ts';
import { createReport, type Source, type SourceReader } from './source.ts';
import { specialise } from './specialise.ts';

export interface SignatureOptions {
  /** A data file's text as Latin-1, `null` where there is none; `from` is the file that names it. */
  readonly readData: (file: string, from: string) => string | null;
  /** What `Include` reads through; without one it is a mistake. */
  readonly reader?: SourceReader;
  /** The program's name where the text gives none; absent: the first file's. */
  readonly name?: string;
}

export interface CompiledSignatures {
  /** `null` exactly when a diagnostic is an error. */
  readonly program: SignatureProgram | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Paranoia levels. */
const LEVELS = [1, 2, 3, 4] as const;

/** Compiles the files of one signature set, in their order. */
export function compileSignatures(sources: readonly Source[], options: SignatureOptions): CompiledSignatures {
  const report = createReport();
  const { reader } = options;
  const parsed = parseSecLang(sources, reader === undefined ? {} : { reader });
  report.add(parsed.diagnostics);
  const draft = lowerDirectives(parsed.directives, report, { readData: options.readData });
  const levels = LEVELS.map((level) => specialise(draft, { level, report }));
  const name = draft.name ?? options.name ?? sources[0]?.file ?? '';
  const program = emitProgram(levels, name, report);
  if (draft.responseRules > 0) {
    const rules = draft.responseRules === 1 ? '1 rule' : `${draft.responseRules} rules`;
    const message = `${rules} of phases 3 to 5 left out: signatures look at requests only`;
    report.inform('responses_left_out', null, { message });
  }
  return { program: hasErrors(report.diagnostics) ? null : program, diagnostics: report.diagnostics };
}
