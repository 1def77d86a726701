/** `RewriteCond` and the pattern of `RewriteRule` as a condition, and the groups that substitutions may name. */
import type { DraftEntry } from '../draft.ts';
import type { ImportedCondition } from '../filter.ts';
import {
  type ApacheImport,
  type ApacheScope,
  allOf,
  anyOf,
  notOf,
  type TestedVariable,
  unknownTest,
} from './context.ts';
import { readExpression } from './expressions.ts';
import type { ApacheDirective } from './parse-htaccess.ts';
import { type ApachePattern, matchText, readPattern, type TextMatcher } from './patterns.ts';
import { type KnownWorld, knownText, testText, testVariable } from './variables.ts';

/** Why a test of a file is unknown. */
const OF_FILES = 'depends on the files of the server';

/** One `RewriteCond`. */
export interface RewriteCondition {
  readonly condition: ImportedCondition;
  /** Combined with the next by `or`. */
  readonly isOr: boolean;
  readonly differences: readonly string[];
  /** It holds for more requests than in the source. */
  readonly isWide: boolean;
  /** It asks for files. */
  readonly isOfFiles: boolean;
  /** Its text and its regex, for groups; `null`: it has none. */
  readonly groups: { readonly text: string; readonly pattern: ApachePattern } | null;
}

/** Flags of a rule, by their short names, with their values. */
export type RewriteFlags = ReadonlyMap<string, string>;

/** One rule as it is read. */
export interface ReadRewrite {
  readonly directive: ApacheDirective;
  readonly conditions: readonly RewriteCondition[];
  readonly flags: RewriteFlags;
  readonly substitution: string;
  /** The pattern over whole paths; `null`: it matches every path, or is negated. */
  readonly pattern: ApachePattern | null;
  /** As written. */
  readonly written: string;
  readonly matches: ImportedCondition;
  readonly differences: readonly string[];
  readonly isWide: boolean;
  readonly isOfFiles: boolean;
}

/** A rule where it acts. */
export interface ReachedRewrite extends ReadRewrite {
  readonly entry: DraftEntry;
  readonly scope: ApacheScope;
  /** `RewriteBase`. */
  readonly rewriteBase: string | null;
  /** The requests that reach the rule and match. */
  readonly active: ImportedCondition;
  /** Those among paths that earlier rules have written. */
  readonly ofWritten: ImportedCondition;
}

/** Reads a `RewriteCond`. */
export function readRewriteCondition(state: ApacheImport, { args }: ApacheDirective): RewriteCondition {
  const [text = '', written = '', flagText = ''] = args;
  const flags = flagText
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map((flag) => flag.trim().toUpperCase());
  const isOr = flags.includes('OR') || flags.includes('ORNEXT');
  const ignoreCase = flags.includes('NC') || flags.includes('NOCASE');
  const isNegated = written.startsWith('!');
  const pattern = isNegated ? written.slice(1) : written;
  const plain = { isOr, differences: [], isWide: false, isOfFiles: false, groups: null };
  if (text === 'expr') {
    const { condition, differences, isWide } = readExpression(state, written);
    return { ...plain, condition, differences, isWide };
  }
  if (/^-[dfFHlLsUx]$/.test(pattern)) {
    const condition = unknownTest(`${text} ${written}`, OF_FILES);
    return { ...plain, condition, isOfFiles: true };
  }
  const matcher = readMatcher(pattern, ignoreCase);
  if (typeof matcher === 'string') return { ...plain, condition: unknownTest(text, matcher) };
  const { condition, differences, isWide } = testText(state, text, matcher);
  return {
    ...plain,
    condition:
      isNegated && isWide
        ? unknownTest(text, 'has an opposite that no filter has')
        : isNegated
          ? notOf(condition)
          : condition,
    differences,
    isWide: isWide && !isNegated,
    groups: isNegated || matcher.kind !== 'regex' ? null : { text, pattern: matcher.pattern },
  };
}

/** A pattern, an equality, or the reason why it is neither. */
function readMatcher(pattern: string, ignoreCase: boolean): TextMatcher | string {
  const [, equal] = /^=(.*)$/s.exec(pattern) ?? [];
  if (equal !== undefined) return { kind: 'equals', text: equal.replace(/^"(.*)"$/s, '$1'), ignoreCase };
  const [, number] = /^-eq(\d+)$/.exec(pattern) ?? [];
  if (number !== undefined) return { kind: 'equals', text: number, ignoreCase };
  if (/^[<>]|^-(?:lt|le|gt|ge|ne)/.test(pattern))
    return `is compared by \`${pattern}\`, which no filter does`;
  const read = readPattern(pattern, ignoreCase);
  return typeof read === 'string' ? `has no filter: ${read}` : { kind: 'regex', pattern: read };
}

/** All conditions of a rule. */
export function joinConditions(conditions: readonly RewriteCondition[]): ImportedCondition {
  const parts: ImportedCondition[] = [];
  let either: ImportedCondition[] = [];
  for (const { condition, isOr } of conditions) {
    either.push(condition);
    if (isOr) continue;
    parts.push(anyOf(either));
    either = [];
  }
  if (either.length > 0) parts.push(anyOf(either));
  return allOf(parts);
}

/** The groups `%0`, `%1`, … of the last condition that matched, in a world; `'path'`: they are of a regex over the path. */
export function conditionGroups(
  conditions: readonly RewriteCondition[],
  world: KnownWorld,
): readonly (string | null)[] | 'path' | null {
  let groups: readonly (string | null)[] | 'path' | null = null;
  let isMet = false;
  for (const [index, one] of conditions.entries()) {
    const startsChain = index === 0 || !conditions[index - 1]!.isOr;
    if (startsChain) isMet = false;
    if (isMet || one.groups === null) continue;
    const text = knownText(one.groups.text, world);
    if (text === null) {
      const isPath = /^%\{REQUEST_URI\}$/i.test(one.groups.text) && startsChain && !one.isOr;
      groups = isPath ? 'path' : null;
      continue;
    }
    const matched = matchText(one.groups.pattern, text);
    if (matched === null) continue;
    groups = matched;
    isMet = true;
  }
  return groups;
}

/** The condition where tests of files let requests through: it holds for more of them. */
export function withoutFiles(condition: ImportedCondition, isNegated = false): ImportedCondition {
  switch (condition.kind) {
    case 'unknown':
      return condition.reason === OF_FILES ? { kind: 'constant', value: !isNegated } : condition;
    case 'not':
      return notOf(withoutFiles(condition.of, !isNegated));
    case 'all':
      return allOf(condition.of.map((one) => withoutFiles(one, isNegated)));
    case 'any':
      return anyOf(condition.of.map((one) => withoutFiles(one, isNegated)));
    default:
      return condition;
  }
}

/** A variable that `SetEnvIf` tests, by its own names. */
export function testAttribute(state: ApacheImport, attribute: string, matcher: TextMatcher): TestedVariable {
  const names: Readonly<Record<string, string>> = {
    remote_addr: 'REMOTE_ADDR',
    remote_host: 'REMOTE_HOST',
    server_addr: 'SERVER_ADDR',
    request_method: 'REQUEST_METHOD',
    request_protocol: 'SERVER_PROTOCOL',
    request_uri: 'REQUEST_URI',
    query_string: 'QUERY_STRING',
    host: 'HTTP_HOST',
  };
  const known = names[attribute.toLowerCase()];
  if (known === 'HTTP_HOST') return testText(state, '%{HTTP_HOST}', matcher);
  if (known !== undefined) return testVariable(state, known, matcher);
  if (state.environment.has(attribute) || /^(?:GEOIP|MM)_/.test(attribute))
    return testVariable(state, attribute, matcher);
  return testText(state, `%{HTTP:${attribute}}`, matcher);
}
