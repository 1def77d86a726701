/** Rules that only compare the score with something: CRS 949110 and its like. */
import type {
  SignatureProgram,
  SignatureRule,
  WafLevel,
  WafSetVar,
  WafText,
} from '../../plan/signature-program.ts';
import { plainText } from '../request/macros.ts';

/** By rule, whether all it looks at is the score, or sums that it goes into, and all it writes is a copy of these. */
export function evaluatesScore(
  { targets }: SignatureProgram,
  { rules }: WafLevel,
  scores: ReadonlySet<string>,
): readonly boolean[] {
  const sums = sumsOf(rules, scores);
  const looksAtSums = targets.map(({ include }) =>
    include.every(
      ({ variable, selector, count }) =>
        !count && variable === 'TX' && selector.kind === 'name' && sums.has(selector.name.toLowerCase()),
    ),
  );
  // CRS 3.3's 949110 keeps the score in a variable of another name, for its rules of phase 5.
  const copiesSum = (write: WafSetVar): boolean => {
    const name = plainText(write.name)?.toLowerCase();
    return write.kind === 'set' && name !== undefined && !scores.has(name) && names(write.value, sums);
  };
  return rules.map(({ conditions }) =>
    conditions.every((one) => one.targets >= 0 && looksAtSums[one.targets]! && one.setVars.every(copiesSum)),
  );
}

/** The score's variables, and those that any of them is added to or written to. */
function sumsOf(rules: readonly SignatureRule[], scores: ReadonlySet<string>): ReadonlySet<string> {
  const sums = new Set(scores);
  const writes = rules.flatMap(({ conditions }) => conditions.flatMap(({ setVars }) => setVars));
  for (let before = -1; before !== sums.size; ) {
    before = sums.size;
    for (const write of writes) {
      const name = plainText(write.name)?.toLowerCase();
      if (name !== undefined && write.kind !== 'unset' && names(write.value, sums)) sums.add(name);
    }
  }
  return sums;
}

function names(text: WafText, sums: ReadonlySet<string>): boolean {
  return text.some(
    (part) => part.kind === 'variable' && part.variable === 'TX' && sums.has(part.name?.toLowerCase() ?? ''),
  );
}
