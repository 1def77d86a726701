/** The decision log of a node: of one process, or gathered from its workers. */
import { createJournal, type DecisionLog, gapText } from '../../edge/log/journal.ts';
import { createLineWriter, type LineWriter } from '../../edge/log/writer.ts';
import type { NodeStart } from './options.ts';

/** `null`: none is written. */
export function openDecisions({ decisions, log }: NodeStart): DecisionLog | null {
  if (decisions === null) return null;
  return createJournal({ ...where(decisions, log), rate: decisions.rate });
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
