/** Lines of blocks that processes have shipped to their control plane. */
import { readFileSync } from 'node:fs';

/** Blocks in the lines of a control plane. */
export interface ShippedBlocks {
  /** Lines with an id that another line has. */
  readonly repeated: number;
  /** Requests whose lines were dropped. */
  readonly dropped: number;
  /** Requests that have a line of their own or are counted in one. */
  readonly blocks: number;
}

/** @param file the file of `--decision-logs` */
export function shippedBlocks(file: string): ShippedBlocks {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const of = (format: string) => lines.filter((line) => line.format === format);
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  const ids: readonly string[] = lines.map(({ id }) => id);
  return {
    repeated: ids.length - new Set(ids).size,
    dropped: sum(of('edgeplan.gap/v1').map(({ dropped }) => dropped)),
    blocks:
      of('edgeplan.decision/v1').length + sum(of('edgeplan.counted/v1').map(({ requests }) => requests)),
  };
}
