/** The decision log of a node: of one process, or gathered from its workers. */
import { createDecisionLog, type DecisionLog, gapText } from '../../proxy/log/decision-log.ts';
import { createLineWriter, type LineWriter } from '../../proxy/log/line-writer.ts';
import type { NodeStart } from './options.ts';

/** `null`: none is written. */
export function openDecisions({ decisions, log }: NodeStart): DecisionLog | null {
  if (decisions === null) return null;
  return createDecisionLog({ ...where(decisions, log), rate: decisions.rate });
}

/** The same for lines that workers make. */
export function openLines({ decisions, log }: NodeStart): LineWriter | null {
  return decisions === null ? null : createLineWriter({ ...where(decisions, log), gap: gapText });
}

function where({ file }: NonNullable<NodeStart['decisions']>, log: NodeStart['log']) {
  return {
    file: file === '-' ? null : file,
    onFault: (error: unknown): void => log.warn({ err: error }, 'the decision log cannot be written'),
  };
}
