/** The starter signatures, compiled once a process and ready to inspect. */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { SignatureProgram } from '../../src/engine/plan/signature-program.ts';
import { loadSignatures } from '../../src/engine/waf/load/load.ts';
import type { WafFinding, WafProgram } from '../../src/engine/waf/request/inspection.ts';
import { starterProgram } from '../../src/engine/waf/signatures/starter.ts';

let known: { readonly program: SignatureProgram; readonly waf: WafProgram } | null = null;

/** The program as compiled from its text, and loaded. */
export function starter(): { readonly program: SignatureProgram; readonly waf: WafProgram } {
  if (known === null) {
    const program = starterProgram();
    known = { program, waf: loadSignatures(program) };
  }
  return known;
}

/** What the starter signatures find in a request at a paranoia level, threshold 5. */
export function inspectRequest(request: EdgeRequest, paranoia: number): WafFinding {
  const { body = null } = request;
  return starter().waf.inspect(
    { request, body: typeof body === 'string' ? new TextEncoder().encode(body) : body, truncated: false },
    { paranoia, threshold: 5, excludes: [], exclusions: [] },
  );
}
