/** Texts with macros, `%{TX.name}`, filled in. */
import type { WafText, WafVariable } from '../../plan/signature-program.ts';
import { isScalar, membersOf, scalarOf, type Transaction } from './transaction.ts';
import { readTx } from './tx.ts';

/** The text with every macro as what it stands for; one that stands for nothing is empty. */
export function expand(text: WafText, transaction: Transaction): string {
  let out = '';
  for (const part of text) {
    out += part.kind === 'literal' ? part.text : macroOf(transaction, part.variable, part.name);
  }
  return out;
}

function macroOf(transaction: Transaction, variable: WafVariable, name: string | null): string {
  if (isScalar(variable)) return scalarOf(transaction, variable) ?? '';
  if (variable === 'TX') return name === null ? '' : (readTx(transaction.tx, name.toLowerCase()) ?? '');
  const wanted = name?.toLowerCase() ?? null;
  const members = membersOf(transaction, variable);
  return members.find((one) => wanted === null || one.name.toLowerCase() === wanted)?.value ?? '';
}

/** The text when it holds no macro; `null` when it does. */
export function plainText(text: WafText): string | null {
  let out = '';
  for (const part of text) {
    if (part.kind !== 'literal') return null;
    out += part.text;
  }
  return out;
}
