/** From the octets of a file to a plan: an edge file is read and compiled; a sealed plan is told from one. */
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts';
import { compile } from '../compiler/compile.ts';
import { type EdgeSources, readEdgeBytes } from '../files/edge-file.ts';
import type { RuleSet } from '../model/types.ts';
import type { Plan } from '../plan/layout.ts';

const MAGIC = 'EPLN';

/** Whether a file is meant to be a plan: by its first octets or its name. */
export function isPlan(octets: Uint8Array, name: string): boolean {
  return name.endsWith('.edgeplan') || new TextDecoder().decode(octets.subarray(0, MAGIC.length)) === MAGIC;
}

export type CompiledEdge =
  | {
      readonly ok: true;
      readonly ruleSet: RuleSet;
      readonly sources: EdgeSources;
      readonly plan: Plan;
      /** Warnings and notes. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Reads and compiles an edge file's octets; `name` is how places call it. Never throws for what it says. */
export function compileEdge(octets: Uint8Array, name: string): CompiledEdge {
  const read = readEdgeBytes(octets, name);
  if (!read.ok) return { ok: false, diagnostics: read.diagnostics };
  const { ruleSet, sources } = read;
  const { plan, diagnostics: found } = compile(ruleSet);
  const diagnostics = [...read.diagnostics, ...placed(found, sources)];
  if (hasErrors(diagnostics)) return { ok: false, diagnostics };
  return { ok: true, ruleSet, sources, plan, diagnostics };
}

/** The compiler knows fields, not lines: each diagnostic gets the place of its field. */
function placed(found: readonly Diagnostic[], sources: EdgeSources): readonly Diagnostic[] {
  return found.map((diagnostic) => ({ ...diagnostic, at: diagnostic.at ?? sources.at(diagnostic.path) }));
}
