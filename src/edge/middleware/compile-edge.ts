/** Compiles the octets of an edge file to a plan, and distinguishes edge files from sealed plans. */
import { type Diagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { compile } from '../../engine/compiler/compile.ts';
import type { Plan } from '../../engine/plan/layout.ts';
import { type EdgeSources, readEdgeBytes } from '../../rules/files/edge-file.ts';
import type { EdgePart } from '../../rules/files/edge-parts.ts';
import type { RuleSet } from '../../rules/model/types.ts';

const MAGIC = 'EPLN';

/** Whether a file is a sealed plan, by its first octets or its name. */
export function isPlan(octets: Uint8Array, name: string): boolean {
  return name.endsWith('.edgeplan') || new TextDecoder().decode(octets.subarray(0, MAGIC.length)) === MAGIC;
}

/** The plan of an edge file, or the diagnostics of its errors. */
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

/** Reads and compiles an edge file with its parts; `name` is the file's name in diagnostics. Never throws for its content. */
export function compileEdge(octets: Uint8Array, name: string, parts: readonly EdgePart[] = []): CompiledEdge {
  const read = readEdgeBytes(octets, name, parts);
  if (!read.ok) return { ok: false, diagnostics: read.diagnostics };
  const { ruleSet, sources } = read;
  const { plan, diagnostics: found } = compile(ruleSet);
  const diagnostics = [...read.diagnostics, ...placed(found, sources)];
  if (hasErrors(diagnostics)) return { ok: false, diagnostics };
  return { ok: true, ruleSet, sources, plan, diagnostics };
}

/** Adds the line of its field to each diagnostic; the compiler has field paths only. */
function placed(found: readonly Diagnostic[], sources: EdgeSources): readonly Diagnostic[] {
  return found.map((diagnostic) => ({ ...diagnostic, at: diagnostic.at ?? sources.at(diagnostic.path) }));
}
