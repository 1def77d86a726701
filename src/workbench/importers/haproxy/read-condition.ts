/** Reads `if` and `unless` with ACLs of the section, predefined and anonymous ones, as a condition over requests. */
import type { ImportedCondition } from '../filter.ts';
import { allOf, anyOf, defaultsOf, type HaproxyImport, noneOf, simplified, unknown } from './context.ts';
import type { HaproxyLine, HaproxySection } from './parse-haproxy.ts';
import { type HaproxyContext, readCriterion } from './read-criterion.ts';

/** ACLs that HAProxy defines. */
const PREDEFINED: Readonly<Record<string, string>> = {
  FALSE: 'always_false',
  HTTP: 'req.proto_http',
  HTTP_CONTENT: 'req.hdr_val(content-length) gt 0',
  HTTP_URL_SLASH: 'always_true',
  HTTP_URL_STAR: 'always_false',
  LOCALHOST: 'src 127.0.0.1/8 ::1',
  METH_CONNECT: 'method CONNECT',
  METH_DELETE: 'method DELETE',
  METH_GET: 'method GET HEAD',
  METH_HEAD: 'method HEAD',
  METH_OPTIONS: 'method OPTIONS',
  METH_POST: 'method POST',
  METH_PUT: 'method PUT',
  METH_TRACE: 'method TRACE',
  TRUE: 'always_true',
  WAIT_END: 'always_true',
};

/** One term of a condition: an ACL by name, or an anonymous one. */
export interface Term {
  readonly negated: boolean;
  readonly name: string | null;
  /** The words of the criteria: one of each definition of the name. */
  readonly criteria: readonly (readonly string[])[];
}

/** The condition of a line. */
export interface LineCondition {
  readonly keyword: 'if' | 'unless' | null;
  /** Alternatives, in each of which every term holds. */
  readonly branches: readonly (readonly Term[])[];
}

/** Splits a line at `if` or `unless`. */
export function splitCondition(words: readonly string[]): {
  readonly own: readonly string[];
  readonly condition: readonly string[];
} {
  const at = words.findIndex((word, index) => index > 0 && (word === 'if' || word === 'unless'));
  return at < 0 ? { own: words, condition: [] } : { own: words.slice(0, at), condition: words.slice(at) };
}

/** The criteria of an ACL; each definition of its name is one. */
export function definitionsOf(
  state: HaproxyImport,
  section: HaproxySection,
  name: string,
): readonly (readonly string[])[] {
  const isIt = ({ words }: HaproxyLine): boolean => words[0] === 'acl' && words[1] === name;
  const lines = [...defaultsOf(state, section), ...section.lines].filter(isIt);
  if (lines.length > 0) return lines.map(({ words }) => words.slice(2));
  const predefined = PREDEFINED[name];
  return predefined === undefined ? [] : [predefined.split(' ')];
}

/** Reads the terms of a condition; a text is the mistake. */
export function readTerms(
  state: HaproxyImport,
  section: HaproxySection,
  words: readonly string[],
): LineCondition | string {
  const [keyword, ...rest] = words;
  if (keyword !== 'if' && keyword !== 'unless') return { keyword: null, branches: [[]] };
  const branches: Term[][] = [[]];
  let negated = false;
  for (let at = 0; at < rest.length; at++) {
    let word = rest[at]!;
    if (word === '||' || word === 'or') {
      branches.push([]);
      continue;
    }
    for (; word.startsWith('!'); word = word.slice(1)) negated = !negated;
    if (word === '') continue;
    if (word === '{') {
      const end = rest.indexOf('}', at);
      if (end < 0) return 'an anonymous ACL has no `}`';
      branches.at(-1)!.push({ negated, name: null, criteria: [rest.slice(at + 1, end)] });
      at = end;
    } else branches.at(-1)!.push({ negated, name: word, criteria: definitionsOf(state, section, word) });
    negated = false;
  }
  return { keyword, branches };
}

/** The condition of one term. */
export function termCondition(context: HaproxyContext, { negated, name, criteria }: Term): ImportedCondition {
  const of = criteria.map((words) => readCriterion(context, words));
  const condition = of.length === 0 ? unknown(name ?? '{ }', 'is no ACL of the section') : anyOf(of);
  return negated ? noneOf([condition])[0]! : condition;
}

/** The condition of a line with the words behind its action. */
export function readCondition(context: HaproxyContext, words: readonly string[]): ImportedCondition {
  const read = readTerms(context.state, context.walk.section, words);
  if (typeof read === 'string') return unknown(words.join(' '), read);
  const condition = anyOf(
    read.branches.map((terms) => allOf(...terms.map((term) => termCondition(context, term)))),
  );
  const own = read.keyword === 'unless' ? noneOf([condition])[0]! : condition;
  return context.walk.changes.length > 0 ? simplified(own) : own;
}

/**
 * A condition of a guard without what visitors can write in another way: HAProxy splits a query at `;` as well, and cookies at
 * commas, so that a refusal by them is not taken over for the rule's own reading.
 */
export function strictCondition(condition: ImportedCondition, negated = false): ImportedCondition {
  switch (condition.kind) {
    case 'not':
      return { kind: 'not', of: strictCondition(condition.of, !negated) };
    case 'all':
    case 'any':
      return { kind: condition.kind, of: condition.of.map((one) => strictCondition(one, negated)) };
    case 'fact': {
      const { fact } = condition;
      if (negated || (fact.member !== 'query' && fact.member !== 'cookies')) return condition;
      const what = fact.member === 'query' ? 'a query at `;` as well' : 'cookies at commas as well';
      return unknown(fact.condition.name, `is not compared alike: HAProxy splits ${what}`);
    }
    default:
      return condition;
  }
}
