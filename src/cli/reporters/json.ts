/** Reports for programs: one JSON document. */
import { type Diagnostic, diagnosticFields } from '../../base/diagnostics/diagnostic.ts';
import { terminalJson } from '../../base/text/json-object.ts';
import { mutationDocument } from '../../workbench/mutation/report.ts';
import { reportDocument } from '../../workbench/rule-tests/report.ts';
import { jsonDocument } from '../print/json-document.ts';
import type { LintReport, Reporter, TestReport } from './report.ts';

export const JSON_REPORTER: Reporter = {
  lint({ file, inputs }: LintReport): string {
    return jsonDocument('findings', {
      file,
      findings: inputs.flatMap(({ findings }) => findings.map(findingOf)),
    });
  },
  test({ results, coverage, mutation, mistakes }: TestReport): string {
    if (results.length === 0 && mistakes.length > 0) return '';
    const mutants = mutation === null ? null : mutationDocument(mutation);
    return `${terminalJson({ ...reportDocument(results, coverage), mutation: mutants }, 2)}\n`;
  },
};

/** A diagnostic as `GET /domains/{domain}/analysis` returns it, with its place in the file. */
function findingOf(diagnostic: Diagnostic): object {
  const { at } = diagnostic;
  const place = at === undefined ? null : { file: at.file, line: at.line, column: at.column };
  return { ...diagnosticFields(diagnostic), at: place };
}
