/** The shop of `fixtures/` as the simulator gets it, and requests as they are typed. */
import { readFileSync } from 'node:fs';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { type RequestFlags, readRequest } from '../../../../src/workbench/simulation/request-line.ts';
import type { SimulatedRequest, SimulationSubject } from '../../../../src/workbench/simulation/simulate.ts';

const FILE = new URL('../../../../fixtures/shop/edge.yaml', import.meta.url);
const NOW = Date.UTC(2026, 0, 2);

/** An edge file compiled and sealed, as revision 41. */
export function subjectOf(text: string): SimulationSubject {
  const read = readEdgeFile(text, 'edge.yaml');
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const bytes = seal(compile(read.ruleSet).plan, { revision: 41 });
  const sources = new Map(
    [...read.sources.rules].map(([id, { key, line }]) => [id, { key, at: `edge.yaml:${line}` }]),
  );
  return { bytes, digest: `sha256:${'0'.repeat(64)}`, name: 'edge.yaml', sources, ruleSet: read.ruleSet };
}

export const SHOP = subjectOf(readFileSync(FILE, 'utf8'));

export function asked(
  url: string,
  flags: RequestFlags = {},
  more: Partial<SimulatedRequest> = {},
): SimulatedRequest {
  const read = readRequest(url, { ...flags, now: NOW });
  if (!read.ok) throw new Error(read.error);
  const world = { down: [], nodeId: null, now: NOW, nowGiven: false };
  return { request: read.value, url, world, ...more };
}
