/** Formats the octets of an edge file or a test file, and checks that the result means the same. */
import { assert } from '../base/assert.ts';
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts';
import { compileEdge } from '../embed/compile-edge.ts';
import { formatFile } from '../files/format.ts';
import { readTestBytes } from '../files/test-file.ts';
import { isMapping, readYamlBytes } from '../files/yaml.ts';
import { seal } from '../plan/seal.ts';

/** The formatted text, or the diagnostics of a file that is left as it is. */
export type FormattedInput =
  | { readonly ok: true; readonly text: string; readonly changed: boolean }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Formats a file; one with errors is refused. `name` is the file's name in diagnostics. */
export function formatInput(octets: Uint8Array, name: string): FormattedInput {
  const before = meaningOf(octets, name);
  if (!before.ok) return before;
  // The decoder removes a byte order mark.
  const text = new TextDecoder().decode(octets);
  const formatted = formatFile(text, name);
  if (!formatted.ok) return formatted;
  const written = Buffer.from(formatted.text);
  const after = meaningOf(written, name);
  assert(after.ok && after.digestible.equals(before.digestible), 'formatting does not change the plan');
  return { ok: true, text: formatted.text, changed: !written.equals(octets) };
}

/** What must not change: the plan of an edge file; nothing for tests, whose values `formatFile` compares. */
type Meaning =
  | { readonly ok: true; readonly digestible: Buffer }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

function meaningOf(octets: Uint8Array, name: string): Meaning {
  const { ok, value } = readYamlBytes(octets, name);
  if (ok && isMapping(value) && Object.hasOwn(value, 'tests') && !Object.hasOwn(value, 'domain')) {
    const { diagnostics } = readTestBytes(octets, name);
    return hasErrors(diagnostics) ? { ok: false, diagnostics } : { ok: true, digestible: Buffer.alloc(0) };
  }
  const compiled = compileEdge(octets, name);
  if (!compiled.ok) return compiled;
  return { ok: true, digestible: Buffer.from(seal(compiled.plan, { revision: 0 })) };
}
