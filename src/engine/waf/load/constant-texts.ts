/**
 * Finds texts whose macros have the same value in every inspection: those over TX variables that no rule of the level
 * writes. Most arguments and `setvar` values of the Core Rule Set (`%{tx.critical_anomaly_score}`) are such texts.
 */
import type { WafLevel, WafText } from '../../plan/signature-program.ts';
import { plainText } from '../request/macros.ts';
import { THRESHOLD_NAME } from '../request/tx.ts';

/** Returns a function that expands a text if it is constant at this level, and returns `null` if it is not. */
export function constantTexts(level: WafLevel): (text: WafText) => string | null {
  const setVars = level.rules.flatMap(({ conditions }) => conditions.flatMap((one) => one.setVars));
  const written = new Set([THRESHOLD_NAME]);
  const prefixes: string[] = [];
  for (const { name } of setVars) {
    const whole = plainText(name);
    if (whole !== null) written.add(whole.toLowerCase());
    // A name with macros is known only up to its first macro: every name with that prefix counts as written.
    else prefixes.push(name[0]?.kind === 'literal' ? name[0].text.toLowerCase() : '');
  }
  const initial = new Map(Object.entries(level.initial).map(([name, value]) => [name.toLowerCase(), value]));
  const constantValue = (name: string): string | null => {
    if (written.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) return null;
    // Captured groups are written to the names 0 to 9.
    return name.length === 1 && name >= '0' && name <= '9' ? null : (initial.get(name) ?? '');
  };
  return (text) => {
    let out = '';
    for (const part of text) {
      if (part.kind === 'variable' && part.variable !== 'TX') return null;
      const piece = part.kind === 'literal' ? part.text : constantValue((part.name ?? '').toLowerCase());
      if (piece === null) return null;
      out += piece;
    }
    return out;
  };
}
