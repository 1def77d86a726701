/**
 * Compiles SecLang text to a signature program. In: configuration files, and a function that reads the data files
 * they name. Out: the program and diagnostics. Takes seconds for the OWASP Core Rule Set, so it runs ahead of time.
 * Stages: `parse.ts`, `lower.ts`, `specialise.ts` (for each paranoia level), `emit.ts`.
 */
import type { Diagnostic } from '../../../base/diagnostics/diagnostic.ts';
import { hasErrors } from '../../../base/diagnostics/diagnostic.ts';
import type { SignatureProgram } from '../../plan/signature-program.ts';
import type { DraftRule } from './draft.ts';
import { emitProgram, type LevelDraft } from './emit.ts';
import { lowerDirectives } from './lower.ts';
import { parseSecLang } from './parse.ts';
import { createReport, type SecLangReport, type Source, type SourceReader } from './source.ts';
import { specialise } from './specialise.ts';
import { reportStateful } from './state.ts';

/** How to compile. */
export interface SignatureOptions {
  /** Returns the text of a data file as Latin-1, or `null` if it does not exist; `from` is the file that names it. */
  readonly readData: (file: string, from: string) => string | null;
  /** Reads the files of `Include`; without it, `Include` is an error. */
  readonly reader?: SourceReader;
  /** The program's name if the text has no `SecComponentSignature`; absent: the first file's name. */
  readonly name?: string;
}

/** The result. */
export interface CompiledSignatures {
  /** `null` if and only if a diagnostic is an error. */
  readonly program: SignatureProgram | null;
  /** Of all stages, in the order of the stages; at most `MAX_DIAGNOSTICS`. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The paranoia levels. */
const LEVELS = [1, 2, 3, 4] as const;

/** Compiles the files of one signature set, in their order. */
export function compileSignatures(sources: readonly Source[], options: SignatureOptions): CompiledSignatures {
  const report = createReport();
  const { reader } = options;
  const parsed = parseSecLang(sources, reader === undefined ? {} : { reader });
  report.add(parsed.diagnostics);
  const draft = lowerDirectives(parsed.directives, report, { readData: options.readData });
  const stateful = new Set<DraftRule>();
  const levels = LEVELS.map((level) => specialise(draft, { level, report, stateful }));
  reportStateful([...stateful], report);
  const name = draft.name ?? options.name ?? sources[0]?.file ?? '';
  const program = emitProgram(levels, name, report);
  if (draft.responseRules > 0) {
    const rules = draft.responseRules === 1 ? '1 rule' : `${draft.responseRules} rules`;
    const message = `${rules} of phases 3 to 5 left out: signatures inspect requests only`;
    report.inform('responses_left_out', null, { message });
  }
  // With an error, a rule is missing for a reason of its own.
  if (!hasErrors(report.diagnostics)) reportUnmatched(draft.rules, levels, report);
  return { program: hasErrors(report.diagnostics) ? null : program, diagnostics: report.diagnostics };
}

/** Ids that one diagnostic lists at most: a line or two. */
const MOST_IDS = 20;

/** Reports the rules that are in no level, since no request matches them with the settings of the set. */
function reportUnmatched(
  rules: readonly DraftRule[],
  levels: readonly LevelDraft[],
  report: SecLangReport,
): void {
  const left = new Set(levels.flatMap((level) => level.rules.map(({ rule }) => rule.id)));
  const ids = rules.filter(({ id, reported }) => reported && !left.has(id)).map(({ id }) => id);
  if (ids.length === 0) return;
  const which = ids.length === 1 ? '1 rule that matches' : `${ids.length} rules that match`;
  const more = ids.length > MOST_IDS ? ` and ${ids.length - MOST_IDS} more` : '';
  const listed = `${ids.slice(0, MOST_IDS).join(', ')}${more}`;
  const message = `${which} no request with the settings of the set left out: ${listed}`;
  report.inform('unmatched_left_out', null, { message });
}
