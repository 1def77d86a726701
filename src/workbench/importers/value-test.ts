/**
 * Comparisons of a header, a query parameter or a cookie with texts, as conditions of rules (semantics §12): values that one
 * condition has no room for become further ones, and an absent value is compared as the source compares it.
 */
import { MAX_CONDITION_VALUES, MAX_VALUE_OCTETS } from '../../base/vocabulary/limits.ts';
import type { ValueComparison, ValueMember } from '../../base/vocabulary/vocabulary.ts';
import { judgeCookieName, judgeHeaderName } from '../../rules/model/conditions.ts';
import { valueFact } from './facts.ts';
import type { ImportedCondition } from './filter.ts';
import { passes, regexText, wildcardText } from './text-test.ts';

/** A note of reports on what conditions read of values. */
export const VALUES_NOTE = `of a header, a query parameter and a cookie, rules read each occurrence, and of each the first ${MAX_VALUE_OCTETS} octets`;

/** One of the values compares with one of the texts. */
export interface ImportedValueTest {
  readonly member: ValueMember;
  readonly name: string;
  readonly comparison: ValueComparison;
  readonly texts: readonly string[];
  readonly ignoreCase?: boolean;
  /** A request without the header compares as one with an empty one. */
  readonly absentIsEmpty?: boolean;
}

/** The condition that a value is there, empty or not; a text is the reason why it has none. */
export function presentValue(member: ValueMember, name: string): ImportedCondition | string {
  return reasonAgainst(member, name) ?? fact(member, name, 'present');
}

/** The condition of a test; a text is the reason why it has none. */
export function valueCondition(test: ImportedValueTest): ImportedCondition | string {
  const { member, name, comparison, ignoreCase = false, absentIsEmpty = false } = test;
  const against = reasonAgainst(member, name);
  if (against !== null) return against;
  const texts: string[] = [];
  let acceptsEmpty = false;
  for (const text of test.texts) {
    const sent = sentText(text, { member, comparison, ignoreCase });
    if (sent === null) return 'compares characters beyond ASCII in a way that no condition has';
    const empty = passesEmpty(comparison, text);
    if (typeof empty === 'string') return empty;
    if (empty) acceptsEmpty = true;
    // Every value starts and ends with an empty text, and contains it.
    if (text === '' && comparison !== 'equals')
      return absentIsEmpty ? { kind: 'constant', value: true } : fact(member, name, 'present');
    texts.push(sent);
  }
  const of: ImportedCondition[] = [];
  for (let at = 0; at < texts.length; at += MAX_CONDITION_VALUES) {
    const values = texts.slice(at, at + MAX_CONDITION_VALUES);
    of.push({ kind: 'fact', fact: valueFact(member, name, { op: comparison, values, ignoreCase }) });
  }
  if (absentIsEmpty && acceptsEmpty) of.push(fact(member, name, 'absent'));
  return of.length === 1 ? of[0]! : { kind: 'any', of };
}

function fact(member: ValueMember, name: string, op: 'present' | 'absent'): ImportedCondition {
  return { kind: 'fact', fact: valueFact(member, name, { op }) };
}

/** Why no condition reads the name; `null`: one does. */
function reasonAgainst(member: ValueMember, name: string): string | null {
  if (name === '') return 'names nothing';
  if (member === 'query') return null;
  if (member === 'headers' && name.toLowerCase() === 'host')
    return 'is the host, of which a rule has filters';
  const problem = member === 'headers' ? judgeHeaderName(name) : judgeCookieName(name);
  return problem?.message ?? null;
}

/** The text as conditions read it, of headers and cookies a character for each octet; `null`: there is no such text. */
function sentText(
  text: string,
  {
    member,
    comparison,
    ignoreCase,
  }: Required<Pick<ImportedValueTest, 'member' | 'comparison' | 'ignoreCase'>>,
): string | null {
  if (/^[\u0000-\u007f]*$/.test(text) || member === 'query') return text;
  if (comparison === 'regex' || ignoreCase) return null;
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** Whether an empty value passes; a text is the reason why a regex is not one in RE2 syntax. */
function passesEmpty(comparison: ValueComparison, text: string): boolean | string {
  if (comparison === 'wildcard') return passes(wildcardText(text), '');
  if (comparison !== 'regex') return text === '';
  const regex = regexText(text);
  return typeof regex === 'string' ? `has no equivalent: ${regex}` : passes(regex, '');
}
