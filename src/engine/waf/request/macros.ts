/** Macro expansion (ModSecurity reference manual, "Macro expansion"): `%{TX.name}` in arguments, messages, `setvar`. */
import type { WafText, WafVariable } from '../../plan/signature-program.ts';
import { isScalar, membersOf, scalarOf, type Transaction } from './transaction.ts';
import { readTx } from './tx.ts';

/** Replaces every macro by the value of its variable; a variable without value becomes the empty text. */
export function expand(text: WafText, transaction: Transaction): string {
  let out = '';
  for (const part of text) {
    out += part.kind === 'literal' ? part.text : macroOf(transaction, part.variable, part.name);
  }
  return out;
}

/** The value of a macro: of a collection, its first member, or the first with that name, without case. */
function macroOf(transaction: Transaction, variable: WafVariable, name: string | null): string {
  if (isScalar(variable)) return scalarOf(transaction, variable) ?? '';
  if (variable === 'TX') return name === null ? '' : (readTx(transaction.tx, name.toLowerCase()) ?? '');
  const wanted = name?.toLowerCase() ?? null;
  const members = membersOf(transaction, variable);
  return members.find((one) => wanted === null || one.name.toLowerCase() === wanted)?.value ?? '';
}

/** The text if it has no macros, else `null`. */
export function plainText(text: WafText): string | null {
  let out = '';
  for (const part of text) {
    if (part.kind !== 'literal') return null;
    out += part.text;
  }
  return out;
}
