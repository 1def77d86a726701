/** Tests of the query string as conditions on single parameters, which hold for more requests than the source's. */
import { valueFact } from '../facts.ts';
import type { ImportedCondition } from '../filter.ts';
import { anyOf, type TestedVariable, unknownTest } from './context.ts';
import { type ApachePattern, literalTests, type TextMatcher } from './patterns.ts';

const UNKNOWN = unknownTest('%{QUERY_STRING}', 'has a filter by single parameters alone');

/** A test of the query string: parameters with their values, or their names alone. */
export function testQuery(matcher: TextMatcher): TestedVariable {
  const read =
    matcher.kind === 'equals' ? { body: matcher.text, starts: '^', ends: '$' } : queryParts(matcher.pattern);
  const ignoreCase = matcher.kind === 'regex' ? matcher.pattern.ignoreCase : matcher.ignoreCase;
  const pairs = read === null ? null : queryPairs(read.body, matcher.kind === 'equals');
  // Names of parameters compare with case.
  const isExactName = !ignoreCase || pairs === null || pairs.every(({ name }) => !/[a-z]/i.test(name));
  if (read === null || pairs === null || !isExactName)
    return { condition: UNKNOWN, differences: [], isWide: false };
  const conditions = pairs.map(({ name, value }): ImportedCondition => {
    const isOpen = value === null || (value === '' && read.ends === '');
    const op = read.ends === '' ? 'prefix' : 'equals';
    const asked = isOpen ? ({ op: 'present' } as const) : ({ op, values: [value!], ignoreCase } as const);
    return { kind: 'fact', fact: valueFact('query', name, asked) };
  });
  const differences: string[] = [];
  if (read.starts === '^' || read.ends === '$')
    differences.push('other parameters may be beside those of its query string, in any order');
  if (pairs.some(({ value }) => value === null))
    differences.push('the parameter of its query string may have any value');
  return { condition: anyOf(conditions), differences, isWide: true };
}

/** A pattern of the query string that starts at a parameter: its text, and how it starts and ends. */
function queryParts({ source, except }: ApachePattern) {
  const form = /^(\^|\((?:\?:)?(?:\^\|&|&\|\^)\))(.*?)((?<!\\)\$|\((?:\?:)?(?:&\|\$|\$\|&)\)|)$/s;
  const [, starts, body, ends] = form.exec(source) ?? [];
  return body === undefined || except !== null ? null : { body, starts: starts!, ends: ends! };
}

/** The parameters of which one is meant; `value` `null`: any. `null`: the text has another form. */
function queryPairs(
  body: string,
  isLiteral: boolean,
): readonly { readonly name: string; readonly value: string | null }[] | null {
  const [, named] =
    /^([\w.-]+)=(?:\(?\.[*+]\)?|\((?:[^()])*\)|\[\^&\][*+]|\\d[*+]|\[0-9\][*+])$/.exec(body) ?? [];
  const texts = isLiteral ? [body] : literalTests(`^${body}$`)?.texts;
  if (texts === undefined) return named === undefined ? null : [{ name: named, value: null }];
  const pairs = texts.map((text) => /^([\w.-]+)(?:=([\w.,-]*))?$/.exec(text));
  if (pairs.some((pair) => pair === null)) return null;
  return pairs.map((pair) => ({ name: pair![1]!, value: pair![2] ?? null }));
}
