/** Reports for people: text for a terminal. */
import { mutationLines } from '../../workbench/mutation/report.ts';
import { coverageLines, resultLines, summaryLine, tallyOf } from '../../workbench/rule-tests/report.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { diagnosticsText } from '../print/diagnostics.ts';
import type { LintReport, Reporter, TestReport } from './report.ts';

export const HUMAN: Reporter = {
  lint({ inputs, colour, texts }: LintReport): string {
    return diagnosticsText(
      inputs.flatMap(({ findings }) => findings),
      { colour, texts },
    );
  },
  test({ results, coverage, mutation, colour, mistakes }: TestReport): string {
    if (results.length === 0 && mistakes.length > 0) return '';
    const lines = [
      ...resultLines(results),
      [],
      summaryLine(tallyOf(results)),
      ...(coverage === null ? [] : coverageLines(coverage)),
      ...(mutation === null ? [] : mutationLines(mutation)),
    ];
    return paint(lines, colour);
  },
};
