/** Formats the mistakes of an input as the one sentence of a 400 answer. */
import { type Diagnostic, describeDiagnostic } from '../../base/diagnostics/diagnostic.ts';

/** Mistakes in one sentence, at most; the number of the others follows. */
const MAX_LISTED = 20;

/** The errors among the diagnostics: `<field path>: <what is wrong>`, several joined by `; ` (semantics §6). */
export function describeMistakes(diagnostics: readonly Diagnostic[]): string {
  const mistakes = diagnostics.filter(({ severity }) => severity === 'error').map(describeMistake);
  const rest = mistakes.length - MAX_LISTED;
  const text = [...new Set(mistakes.slice(0, MAX_LISTED))].join('; ');
  return rest > 0 ? `${text}; and ${rest} more` : text || 'the body is not what it should be';
}

/** Messages that the API document prescribes stay word for word, without a path before them. */
function describeMistake(diagnostic: Diagnostic): string {
  return diagnostic.code === 'foreign_record' ? diagnostic.message : describeDiagnostic(diagnostic);
}
