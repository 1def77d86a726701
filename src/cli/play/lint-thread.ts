/** The code of the thread that lints for `edgeplan play`; `follow-file.ts` starts one for each text. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../base/platform/tasks.ts';
import type { EdgeInput } from '../../edge/middleware/node/edge-input.ts';
import type { FindingDocument } from '../../page/panel/documents.ts';
import { readEdgeBytes } from '../../rules/files/edge-file.ts';
import { lintEdge } from '../input/lint-edge.ts';
import type { ChoiceFlags } from '../open-signatures.ts';
import { findingDocument } from '../print/diagnostics.ts';

/** The `workerData` of the thread. */
export interface LintThreadData {
  readonly input: EdgeInput;
  readonly flags: ChoiceFlags;
}

/** Findings with the ids of their rules. */
async function lint({ input, flags }: LintThreadData): Promise<readonly FindingDocument[]> {
  const read = readEdgeBytes(input.octets, input.name, input.parts);
  if (!read.ok) return [];
  const ids = new Map([...read.sources.rules].map(([id, { index }]) => [index, id]));
  const findings = await lintEdge(read, flags);
  return findings.map((finding) => {
    const [list, index] = finding.path;
    return findingDocument(finding, list === 'rules' ? (ids.get(Number(index)) ?? null) : null);
  });
}

if (parentPort !== null) {
  lowerPriority();
  parentPort.postMessage(await lint(workerData as LintThreadData));
}
