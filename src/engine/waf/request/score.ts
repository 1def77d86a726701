/** The score of an inspection: the sum of the TX variables that the rules add to. */
import { numberOf } from '../operators/operators.ts';
import { readTx, type Tx } from './tx.ts';

/** Sums the variables; one that is not set counts as 0. */
export function scoreOf(tx: Tx, names: ReadonlySet<string>): number {
  let sum = 0;
  for (const name of names) sum += numberOf(readTx(tx, name) ?? '');
  return sum;
}
