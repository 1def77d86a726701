/** A diagnostic as the page receives it. */
import { type Diagnostic, formatPath } from '../../base/diagnostics/diagnostic.ts';
import type { FindingDocument } from '../../page/panel/documents.ts';

/** The document of a diagnostic. @param rule the id of the rule that it is about; `null`: none */
export function findingDocument(diagnostic: Diagnostic, rule: number | null): FindingDocument {
  const { severity, code, path, message, found = null, remedy = null, at } = diagnostic;
  const place = at === undefined ? null : { file: at.file, line: at.line, column: at.column };
  return { severity, code, path: formatPath(path), message, found, remedy, at: place, rule };
}
