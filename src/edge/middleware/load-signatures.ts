/** Loads a sealed signature program for the evaluator alone; `createEdge` takes the sealed octets. */
import { octetsOf } from '../../base/diagnostics/options.ts';
import type { WafProgram } from '../../engine/evaluator/index.ts';
import { openSignatures } from '../../engine/plan/open-signatures.ts';
import { loadSignatures as loadProgram } from '../../engine/waf/load/load.ts';

/**
 * Opens a sealed signature program (`edgeplan/starter.bin`, `edgeplan waf compile -o`) for the option `waf` of `loadPlan`.
 * Each paranoia level is compiled at its first inspection. The octets must not change afterwards.
 * @throws PlanFault when the bytes are no signature program that this build reads; TypeError when they are no bytes
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { loadPlan } from 'edgeplan/evaluator';
 * import { loadSignatures } from 'edgeplan/fetch';
 *
 * const starter = new URL(import.meta.resolve('edgeplan/starter.bin'));
 * const waf = loadSignatures(await readFile(starter));
 * const evaluator = loadPlan(await readFile('edge.edgeplan'), { waf });
 * console.log(evaluator.domain);
 * ```
 */
export function loadSignatures(bytes: Uint8Array | ArrayBuffer): WafProgram {
  const wanted = 'loadSignatures takes a sealed signature program, a Uint8Array or an ArrayBuffer';
  const remedy = 'read `edgeplan/starter.bin`, or a file of `edgeplan waf compile -o`';
  return loadProgram(openSignatures(octetsOf(bytes, wanted, remedy)));
}
