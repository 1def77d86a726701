/** Where a node's decision log goes: from the decisions of one process, or from the lines of its workers. */
import { createDecisionLog, type DecisionLog, gapText } from '../proxy/log/decision-log.ts';
import { createLineWriter, type LineWriter } from '../proxy/log/line-writer.ts';
import type { EdgeNodeOptions } from './options.ts';

/** The decision log of a node of one process; `null`: the node has none. */
export function openDecisionLog({ decisions, log }: EdgeNodeOptions): DecisionLog | null {
  if (decisions === null) return null;
  return createDecisionLog({ ...outputOf(decisions, log), rate: decisions.rate });
}

/** The writer for lines that workers format; `null`: the node has no decision log. */
export function openLineWriter({ decisions, log }: EdgeNodeOptions): LineWriter | null {
  return decisions === null ? null : createLineWriter({ ...outputOf(decisions, log), gap: gapText });
}

function outputOf({ file }: NonNullable<EdgeNodeOptions['decisions']>, log: EdgeNodeOptions['log']) {
  return {
    file: file === '-' ? null : file,
    onFault: (error: unknown): void => log.warn({ err: error }, 'the decision log cannot be written'),
  };
}
