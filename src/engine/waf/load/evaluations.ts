/** Finds the rules that only compare the score with a threshold (CRS 949110 and its siblings) and find no attack. */
import type {
  SignatureProgram,
  SignatureRule,
  WafLevel,
  WafSetVar,
  WafText,
} from '../../plan/signature-program.ts';
import { plainText } from '../request/macros.ts';

/** For each rule: whether it reads nothing but the score, or sums that include it, and writes nothing but copies of these. */
export function evaluatesScore(
  { targets }: SignatureProgram,
  { rules }: WafLevel,
  scores: ReadonlySet<string>,
): readonly boolean[] {
  const sums = sumsOf(rules, scores);
  const readsSums = targets.map(({ include }) =>
    include.every(
      ({ variable, selector, count }) =>
        !count && variable === 'TX' && selector.kind === 'name' && sums.has(selector.name.toLowerCase()),
    ),
  );
  // CRS 3.3's 949110 copies the score to another variable, for rules of phase 5.
  const copiesSum = (write: WafSetVar): boolean => {
    const name = plainText(write.name)?.toLowerCase();
    return write.kind === 'set' && name !== undefined && !scores.has(name) && usesAny(write.value, sums);
  };
  return rules.map(({ conditions }) =>
    conditions.every((one) => one.targets >= 0 && readsSums[one.targets]! && one.setVars.every(copiesSum)),
  );
}

/** The score's variables, and all variables whose value is computed from these, directly or not. */
function sumsOf(rules: readonly SignatureRule[], scores: ReadonlySet<string>): ReadonlySet<string> {
  const sums = new Set(scores);
  const writes = rules.flatMap(({ conditions }) => conditions.flatMap(({ setVars }) => setVars));
  // Repeated until nothing is added, since a sum may be computed from one that a later rule writes.
  for (let before = -1; before !== sums.size; ) {
    before = sums.size;
    for (const write of writes) {
      const name = plainText(write.name)?.toLowerCase();
      if (name !== undefined && write.kind !== 'unset' && usesAny(write.value, sums)) sums.add(name);
    }
  }
  return sums;
}

/** Whether a text has a macro of one of these TX variables. */
function usesAny(text: WafText, sums: ReadonlySet<string>): boolean {
  return text.some(
    (part) => part.kind === 'variable' && part.variable === 'TX' && sums.has(part.name?.toLowerCase() ?? ''),
  );
}
