/** Evaluates the edge file that an importer wrote. */
import { compile } from '../../../src/engine/compiler/compile.ts';
import type { Decision } from '../../../src/engine/evaluator/decision.ts';
import { type Evaluator, loadPlan } from '../../../src/engine/evaluator/evaluate.ts';
import type { EdgeRequest } from '../../../src/engine/evaluator/request.ts';
import { seal } from '../../../src/engine/plan/seal.ts';
import { readEdgeFile } from '../../../src/rules/files/edge-file.ts';
import type { ImportedEdge, ImportRefusal } from '../../../src/workbench/importers/report.ts';

/** An import with the evaluator of its file. */
export interface EvaluatedImport {
  readonly edge: ImportedEdge;
  readonly evaluator: Evaluator;
  /** Decides one request; what is not given is an https GET of `/` on the domain. */
  decide(request: Partial<EdgeRequest>): Decision;
}

/** Reads and compiles the file of an import; throws when the import was refused or the file does not compile. */
export function evaluateImport(imported: ImportedEdge | ImportRefusal): EvaluatedImport {
  if (!imported.ok) throw new Error(JSON.stringify(imported.mistakes));
  const read = readEdgeFile(imported.text, 'edge.yaml');
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const { plan, diagnostics } = compile(read.ruleSet);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const evaluator = loadPlan(seal(plan));
  const decide = (request: Partial<EdgeRequest>): Decision =>
    evaluator.evaluate({
      scheme: 'https',
      method: 'GET',
      host: imported.domain,
      target: '/',
      headers: {},
      ip: '198.51.100.250',
      ...request,
    });
  return { edge: imported, evaluator, decide };
}
