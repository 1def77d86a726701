/** What a control plane has of the requests that processes have decided: counts, and lines of blocks. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Served } from './served.ts';
import { until } from './until.ts';

/** Requests for `shop.test`, and where the control plane writes lines. */
export interface DecidedRequests {
  /** When the first one was sent, in the form of RFC 3339. */
  readonly from: string;
  readonly sent: number;
  readonly blocked: number;
  /** The file of `--decision-logs`. */
  readonly lines: string;
}

/** Waits until all requests are counted and all blocks shipped; none may be twice. */
export async function countedOnce(
  served: Served,
  { from, sent, blocked, lines }: DecidedRequests,
): Promise<void> {
  const counted = async (): Promise<number> => {
    const { body } = await served.call('GET', `/domains/shop.test/analytics/?from=${from}&step=minute`);
    return body.totals.requests;
  };
  await until(async () => (await counted()) >= sent, `counts of ${sent} requests`);
  await until(() => shippedBlocks(lines).blocks >= blocked, `${blocked} blocks`);
  expect([await counted(), shippedBlocks(lines)]).toEqual([
    sent,
    { repeated: 0, dropped: 0, blocks: blocked },
  ]);
}

/** Blocks in the lines of a control plane. */
interface ShippedBlocks {
  /** Lines with an id that another line has. */
  readonly repeated: number;
  /** Requests whose lines were dropped. */
  readonly dropped: number;
  /** Requests that have a line of their own or are counted in one. */
  readonly blocks: number;
}

function shippedBlocks(file: string): ShippedBlocks {
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
