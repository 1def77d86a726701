/** A bounded list of diagnostics, in which warnings hide no error. */
import { MAX_DIAGNOSTICS } from '../vocabulary/limits.ts';
import type { Diagnostic } from './diagnostic.ts';

/**
 * Adds a diagnostic to a list of at most `MAX_DIAGNOSTICS`. To a full list an error is added in place of the last diagnostic of another
 * severity, since errors decide whether an input is accepted; anything else is dropped.
 */
export function addBounded(diagnostics: Diagnostic[], one: Diagnostic): void {
  if (diagnostics.length >= MAX_DIAGNOSTICS) {
    const last =
      one.severity === 'error' ? diagnostics.findLastIndex(({ severity }) => severity !== 'error') : -1;
    if (last < 0) return;
    diagnostics.splice(last, 1);
  }
  diagnostics.push(one);
}
