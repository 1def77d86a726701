/** Formats a file of a domain - the edge file, a part, tests - and checks that the domain means the same afterwards. */
import { basename, dirname, join } from 'node:path';
import { assert } from '../base/diagnostics/assert.ts';
import { type Diagnostic, hasErrors } from '../base/diagnostics/diagnostic.ts';
import { compileEdge } from '../edge/middleware/compile-edge.ts';
import type { EdgeInput } from '../edge/middleware/node/edge-input.ts';
import { seal } from '../engine/plan/seal.ts';
import { formatFile } from '../rules/files/format.ts';
import { readTestBytes } from '../rules/files/test-file.ts';
import { isMapping, readYamlBytes } from '../rules/files/yaml.ts';

/** The formatted text, or the diagnostics of a file that is left as it is. */
export type FormattedInput =
  | { readonly ok: true; readonly text: string; readonly changed: boolean }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** A file, and the domain that it belongs to: its edge file with all parts. */
export interface FormattedSource {
  readonly name: string;
  readonly octets: Uint8Array;
  readonly domain: EdgeInput;
}

/** The edge file of a part: `shop/edge.yaml` of `shop/edge.d/office.yaml`; `null`: the file is in no such folder. */
export function edgeFileOf(part: string): string | null {
  const folder = dirname(part);
  const [, name] = /^(.+)\.d$/.exec(basename(folder)) ?? [];
  return name === undefined ? null : join(dirname(folder), `${name}.yaml`);
}

/** Formats a file; one with errors, or of a domain with errors, is refused. */
export function formatInput(source: FormattedSource): FormattedInput {
  const { name, octets } = source;
  const before = meaningOf(source);
  if (!before.ok) return before;
  // The decoder removes a byte order mark.
  const formatted = formatFile(new TextDecoder().decode(octets), name);
  if (!formatted.ok) return formatted;
  const written = Buffer.from(formatted.text);
  const after = meaningOf({ ...source, octets: written });
  assert(after.ok && after.plan.equals(before.plan), 'formatting does not change the plan');
  return { ok: true, text: formatted.text, changed: !written.equals(octets) };
}

/** What must not change: the plan of the domain; nothing for tests, whose values `formatFile` compares. */
type Meaning =
  | { readonly ok: true; readonly plan: Buffer }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

function meaningOf({ name, octets, domain }: FormattedSource): Meaning {
  const { ok, value } = readYamlBytes(octets, name);
  if (ok && isMapping(value) && Object.hasOwn(value, 'tests') && !Object.hasOwn(value, 'domain')) {
    const { diagnostics } = readTestBytes(octets, name);
    return hasErrors(diagnostics) ? { ok: false, diagnostics } : { ok: true, plan: Buffer.alloc(0) };
  }
  const parts = domain.parts.map((part) => (part.name === name ? { name, octets } : part));
  const main = domain.name === name ? octets : domain.octets;
  const compiled = compileEdge(main, domain.name, parts);
  if (!compiled.ok) return compiled;
  return { ok: true, plan: Buffer.from(seal(compiled.plan, { revision: 0 })) };
}
