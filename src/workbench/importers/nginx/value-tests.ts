/**
 * Comparisons of nginx with one text of a request (a header, a query parameter, a cookie) as conditions of rules. In: an operator and
 * its operand. Out: a condition that holds for an absent text as it does for the empty one, which nginx has in its place.
 */
import { captureGroups, parsePattern } from '../../../base/regex/regex.ts';
import { comparisonOf } from '../../../base/vocabulary/condition-ops.ts';
import { MAX_CONDITION_VALUES } from '../../../base/vocabulary/limits.ts';
import type { ValueMember } from '../../../base/vocabulary/vocabulary.ts';
import { type ImportedFact, valueFact } from '../facts.ts';
import type { ImportedCondition } from '../filter.ts';
import { escapeRegex, regexText } from '../text-test.ts';

/** A comparison of `if` without its negation. `equals` without case is that of the keys of a `map`; `set`: neither empty nor `0`. */
export interface NginxComparison {
  readonly kind: 'equals' | 'regex' | 'set';
  readonly operand: string;
  readonly ignoreCase: boolean;
  /** Of a `map`, which tries no regex on the empty text. */
  readonly isKey?: true;
}

/** The text that a condition reads. */
export interface RequestText {
  readonly member: ValueMember;
  readonly name: string;
}

/** The regex of a text that is not empty. */
const FILLED = '(?s).';
/** The regex of a text that is neither empty nor `0`. */
const SET = '(?s)^(?:[^0]|0.)';

/** The condition of a comparison; a text is the reason why rules cannot state it. */
export function valueCondition(
  { member, name }: RequestText,
  { kind, operand, ignoreCase, isKey }: NginxComparison,
): ImportedCondition | string {
  const regex = (source: string): ImportedCondition => ({
    kind: 'fact',
    fact: valueFact(member, name, { op: 'regex', values: [source] }),
  });
  if (kind === 'set') return regex(SET);
  if (/[^\x20-\x7e]/.test(operand)) return `\`${operand}\` is not ASCII text`;
  if (kind === 'equals') {
    if (operand === '') return { kind: 'not', of: regex(FILLED) };
    // nginx compares parameters as they were sent, a rule decoded.
    if (member === 'query' && /[%+]/.test(operand)) return `\`${operand}\` is compared before it is decoded`;
    return { kind: 'fact', fact: valueFact(member, name, { op: 'equals', values: [operand], ignoreCase }) };
  }
  const reason = regexText(operand);
  if (typeof reason === 'string') return reason;
  const fact: ImportedCondition = {
    kind: 'fact',
    fact: valueFact(member, name, { ...regexParts(operand), ignoreCase }),
  };
  if (captureGroups(operand, ignoreCase, '') === null) return fact;
  if (isKey === true) return { kind: 'all', of: [regex(FILLED), fact] };
  const absent: ImportedCondition = { kind: 'fact', fact: valueFact(member, name, { op: 'absent' }) };
  return { kind: 'any', of: [fact, absent] };
}

/** A regex as a comparison with literal texts where it is one: those cost no room for regexes. */
function regexParts(source: string): {
  readonly op: 'equals' | 'prefix' | 'suffix' | 'contains' | 'regex';
  readonly values: readonly string[];
} {
  const starts = source.startsWith('^');
  const ends = source.endsWith('$') && !source.endsWith('\\$');
  const body = source.slice(starts ? 1 : 0, ends ? -1 : undefined);
  const values = literalAlternatives(body, starts || ends);
  if (values === null || values.includes('') || values.length > MAX_CONDITION_VALUES)
    return { op: 'regex', values: [source] };
  const op = starts ? (ends ? 'equals' : 'prefix') : ends ? 'suffix' : 'contains';
  return { op, values };
}

/** The texts of a regex that is literal texts with `|` between them; `null`: another form. `grouped`: anchors are around it. */
export function literalAlternatives(source: string, grouped: boolean): readonly string[] | null {
  const inner = /^\((?:\?:)?([^()]*)\)$/.exec(source)?.[1];
  if (inner === undefined && grouped && source.includes('|')) return null;
  const texts = (inner ?? source).split('|');
  const isLiteral = (text: string): boolean => /^(?:[\w /:;,@#%&=~"'<>!-]|\\[./()[\]{}+*?^$|-])*$/.test(text);
  return texts.every(isLiteral) ? texts.map((text) => text.replace(/\\(.)/g, '$1')) : null;
}

/** How rules read parameters and cookies otherwise than nginx. */
export function differencesOf(facts: readonly ImportedFact[]): readonly string[] {
  const texts = facts.flatMap((fact) =>
    'condition' in fact ? [{ member: fact.member, name: fact.condition.name }] : [],
  );
  return [...new Set(texts.flatMap(readingDifferences))];
}

/** How a rule reads one text otherwise than nginx. */
export function readingDifferences({ member, name }: RequestText): readonly string[] {
  if (member === 'headers') return [];
  const isQuery = member === 'query';
  return [
    `\`$${isQuery ? 'arg' : 'cookie'}_${name}\`: nginx ignores the case of the name and reads the first value${isQuery ? ' as it was sent' : ''}; the rule reads every value of the name as written${isQuery ? ', decoded' : ''}`,
  ];
}

/** Whether a test asks for a text by its name, so that a text of another spelling is not refused by it. */
export function isPositive({ op }: { readonly op: string }): boolean {
  return !op.startsWith('not_') && op !== 'absent';
}

/**
 * The test that a text is present for which a negated one does not hold: where a name occurs twice, nginx reads one text, and a
 * `not_` test holds only if none of them compares. `null`: no test states it.
 */
export function complementOf(fact: Extract<ImportedFact, { condition: unknown }>): ImportedFact | null {
  const { member, condition } = fact;
  const { name, op, values, ignore_case: ignoreCase } = condition;
  const compared = comparisonOf(op);
  if (compared === null || !compared.negated) return null;
  if (compared.comparison === 'equals') {
    const source = otherThan(values);
    return source === null ? null : valueFact(member, name, { op: 'regex', values: [source], ignoreCase });
  }
  const [source = ''] = values;
  if (compared.comparison !== 'regex' || values.length > 1) return null;
  if (source === FILLED) return valueFact(member, name, { op: 'equals', values: [''] });
  if (source === SET) return valueFact(member, name, { op: 'equals', values: ['', '0'] });
  const other = otherThanClass(source);
  return other === null ? null : valueFact(member, name, { op: 'regex', values: [other], ignoreCase });
}

/** Whether a test is about an empty text alone. */
export function isAboutEmpty({ values }: { readonly values: readonly string[] }): boolean {
  return values.length === 1 && (values[0] === FILLED || values[0] === SET);
}

/** Characters of the regex of all texts but some at most; a longer one is refused by the form of rules. */
const MAX_COMPLEMENT = 1_000;

/** The regex of every text but these; `null`: it is too long. */
function otherThan(texts: readonly string[]): string | null {
  const source = `(?s)^${otherAfter(texts)}`;
  if (source.length > MAX_COMPLEMENT) return null;
  return parsePattern(source, { ignoreCase: false }).ok ? source : null;
}

/** The regex of the ends that make another text than these. */
function otherAfter(texts: readonly string[]): string {
  const next = new Map<string, string[]>();
  for (const text of texts) {
    if (text === '') continue;
    const rest = text.slice(1);
    const known = next.get(text[0]!);
    if (known === undefined) next.set(text[0]!, [rest]);
    else known.push(rest);
  }
  const characters = [...next.keys()].map((one) => one.replace(/[\\\]^-]/g, '\\$&')).join('');
  const parts = [
    ...(texts.includes('') ? [] : ['$']),
    characters === '' ? '.' : `[^${characters}]`,
    ...[...next].map(([character, rest]) => escapeRegex(character) + otherAfter(rest)),
  ];
  return `(?:${parts.join('|')})`;
}

/** The regex of every text that is not one of characters of a class, such as `^[0-9]+$`; `null`: another form. */
function otherThanClass(source: string): string | null {
  const [, listed, short, repeated] = /^\^(?:\[([\w .,:/@-]+)\]|\\([dw]))([+*])\$$/.exec(source) ?? [];
  if (repeated === undefined) return null;
  const other = listed === undefined ? `\\${short!.toUpperCase()}` : `[^${listed}]`;
  return repeated === '+' ? `^$|${other}` : other;
}
