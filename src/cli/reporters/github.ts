/**
 * Reports as workflow commands of GitHub Actions, which become annotations of the changed lines
 * (docs.github.com, "Workflow commands for GitHub Actions"). GitHub shows the first ten errors, ten warnings and ten notices
 * of a step as annotations; all others are in its log.
 */
import { type Diagnostic, describeDiagnostic, type SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { type MutantReport, mutantText, survivorText } from '../../workbench/mutation/report.ts';
import { failureText, summaryLine, tallyOf } from '../../workbench/rule-tests/report.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { fileName, isStdin, type LintReport, type Reporter, type TestReport } from './report.ts';

/** The commands of the severities. */
const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const satisfies Readonly<
  Record<Diagnostic['severity'], string>
>;

export const GITHUB: Reporter = {
  lint({ inputs }: LintReport): string {
    const findings = inputs.flatMap((input) => input.findings);
    return `${findings.map(annotation).join('')}${quantity(findings.length, 'finding')}\n`;
  },
  test({ results, mistakes, uncovered, mutation, unkilled }: TestReport): string {
    const failures = results.flatMap((result) =>
      result.failures.map((failure) =>
        command('error', { at: failure.at, title: result.name, message: failureText(failure) }),
      ),
    );
    const short = uncovered === null ? '' : command('error', { title: 'coverage', message: uncovered });
    const low = unkilled === null ? '' : command('error', { title: 'mutation', message: unkilled });
    const survivors = (mutation?.mutants ?? []).filter(({ judged }) => judged.outcome === 'survived');
    const summary = results.length === 0 ? '' : paint([summaryLine(tallyOf(results))], false).trimStart();
    const parts = [
      ...mistakes.map(annotation),
      ...failures,
      short,
      low,
      ...survivors.map(survivorCommand),
      summary,
    ];
    return parts.join('');
  },
};

/** The command for a diagnostic. */
function annotation(diagnostic: Diagnostic): string {
  const { at, code, severity } = diagnostic;
  const message = describeDiagnostic(diagnostic);
  return command(COMMANDS[severity], { ...(at === undefined ? {} : { at }), title: code, message });
}

/** A mutant that no test notices. */
function survivorCommand(mutant: MutantReport): string {
  const at = mutant.at === undefined ? {} : { at: mutant.at };
  return command('notice', { ...at, title: mutantText(mutant), message: survivorText(mutant) });
}

/** What an annotation shows. */
interface Annotation {
  readonly at?: SourcePlace;
  readonly title: string;
  readonly message: string;
}

/** One workflow command, ended by a newline. */
function command(name: string, { at, title, message }: Annotation): string {
  const place = at === undefined || isStdin(at.file) ? [] : placeOf(at);
  const properties = [...place, `title=${escapeProperty(title)}`];
  return `::${name} ${properties.join(',')}::${escapeText(message.trimEnd())}\n`;
}

function placeOf({ file, line, column }: SourcePlace): readonly string[] {
  return [`file=${escapeProperty(fileName(file))}`, `line=${line}`, `col=${column}`];
}

/** Escapes what would end a command: its line. */
function escapeText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Escapes also what separates the properties of a command. */
function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
