/** Compiles `setvar` actions: names and values without macros are computed once, the rest in each inspection. */
import type { WafSetVar, WafText } from '../../plan/signature-program.ts';
import { numberOf } from '../operators/operators.ts';
import { expand, plainText } from '../request/macros.ts';
import type { Assignment } from '../request/rule-set.ts';
import type { Transaction } from '../request/transaction.ts';
import { readTx, writeTx } from '../request/tx.ts';

/** What an assignment is compiled from, besides the action. */
export interface AssignmentParts {
  /** Returns a text with its macros expanded if it is the same in every inspection, else `null`. */
  readonly constant: (text: WafText) => string | null;
  /** The TX variables whose sum is the score, in lower case. */
  readonly scores: ReadonlySet<string>;
}

/**
 * Compiles one `setvar`. Assignments to the score's variables return what they add, which becomes the score of the
 * rule.
 */
export function prepareAssignment(setVar: WafSetVar, parts: AssignmentParts): Assignment {
  const { scores } = parts;
  const whole = plainText(setVar.name)?.toLowerCase() ?? null;
  const nameFor = (transaction: Transaction): string =>
    whole ?? expand(setVar.name, transaction).toLowerCase();
  const write = prepareWrite(setVar, parts);
  const repeats = whole !== null && (setVar.kind === 'unset' || parts.constant(setVar.value) !== null);
  const run: Assignment['run'] = (transaction, times) => {
    const name = nameFor(transaction);
    if (!scores.has(name)) {
      write(transaction, name, times);
      return 0;
    }
    // A variable that is not set counts as 0, as in ModSecurity.
    const before = numberOf(readTx(transaction.tx, name) ?? '');
    write(transaction, name, times);
    return numberOf(readTx(transaction.tx, name) ?? '') - before;
  };
  return { run, repeats };
}

/** Compiles the write itself; the compiled function takes the variable's name in lower case. */
function prepareWrite(
  setVar: WafSetVar,
  { constant }: AssignmentParts,
): (transaction: Transaction, name: string, times: number) => void {
  switch (setVar.kind) {
    case 'unset':
      return ({ tx }, name) => writeTx(tx, name, null);
    case 'set': {
      const value = constant(setVar.value);
      if (value !== null) return ({ tx }, name) => writeTx(tx, name, value);
      return (transaction, name) => writeTx(transaction.tx, name, expand(setVar.value, transaction));
    }
    case 'add': {
      const known = constant(setVar.value);
      const change = known === null ? null : setVar.sign * numberOf(known);
      return (transaction, name, times) => {
        const by = change ?? setVar.sign * numberOf(expand(setVar.value, transaction));
        writeTx(transaction.tx, name, String(numberOf(readTx(transaction.tx, name) ?? '') + by * times));
      };
    }
    default:
      return setVar satisfies never;
  }
}
