/** What the translations of one import of Apache's files share: the draft, the hosts, variables that `SetEnvIf` sets, guards. */
import { addEntry, type DraftEntry, type ImportDraft } from '../draft.ts';
import type { ImportedCondition, ImportedFilter } from '../filter.ts';
import type { TextTest } from '../text-test.ts';
import type { ApacheDirective } from './parse-htaccess.ts';

/** A condition, and what is said about it. */
export interface TestedVariable {
  readonly condition: ImportedCondition;
  readonly differences: readonly string[];
  /** It holds for more requests than the source's, so that its opposite is not known. */
  readonly isWide: boolean;
}

/** A value that `SetEnvIf` or a rewrite rule gives a variable of the environment. */
export interface EnvironmentValue {
  /** `null`: it is unset. */
  readonly value: string | null;
  readonly condition: ImportedCondition;
}

/** Requests that are refused, for what rewrites write into a path. */
export interface PathGuard {
  readonly condition: ImportedCondition;
  /** For paths that rewrites write: without the exception of what they rewrite. */
  readonly ofWritten: ImportedCondition;
  readonly place: string;
}

/** Whether a path passes a test; `null`: it may. */
export type PathTest = (test: TextTest) => boolean | null;

/** A path that a rewrite writes. */
export interface WrittenPath {
  readonly entry: DraftEntry;
  /** The requests that it rewrites. */
  readonly condition: ImportedCondition;
  readonly test: PathTest;
}

/** A redirect of the draft. */
export interface EarlierRedirect {
  readonly filter: ImportedFilter;
  /** Of a server, not of a folder. */
  readonly isOfServer: boolean;
  readonly place: string;
}

/** The state of one import. */
export interface ApacheImport {
  readonly draft: ImportDraft;
  /** The hosts of the file, which are the only ones that have records. */
  readonly hosts: readonly string[];
  /** Folders of the disk that `DocumentRoot` names. */
  readonly documentRoots: readonly string[];
  /** Files that answer for their folder: its rules act on them too. */
  readonly indexes: readonly string[];
  readonly environment: Map<string, EnvironmentValue[]>;
  readonly guards: PathGuard[];
  readonly written: WrittenPath[];
  readonly redirects: EarlierRedirect[];
}

/** Where directives act. */
export interface ApacheScope {
  /** The path of the folder, with its slashes: `/` or `/blog/`. */
  readonly base: string;
  /** In `.htaccess` and `<Directory>`, where rewrite patterns lack the base; otherwise in the server. */
  readonly perDirectory: boolean;
  /** The requests of the folder and of the sections around. */
  readonly condition: ImportedCondition;
  /** Sections around, with which the entry of a directive is shown. */
  readonly inSection: boolean;
}

export const EVERY: ImportedCondition = { kind: 'constant', value: true };
export const NEVER: ImportedCondition = { kind: 'constant', value: false };

/** Adds the entry of a directive. */
export function entryFor({ draft }: ApacheImport, { place, text }: ApacheDirective): DraftEntry {
  return addEntry(draft, place, text);
}

/** A condition that has no filter. */
export function unknownTest(text: string, reason: string): ImportedCondition {
  return { kind: 'unknown', text, reason };
}

/** All of them, without those that always hold. */
export function allOf(conditions: readonly ImportedCondition[]): ImportedCondition {
  const asked = conditions.filter((one) => !(one.kind === 'constant' && one.value));
  if (asked.some((one) => one.kind === 'constant')) return NEVER;
  return asked.length === 0 ? EVERY : asked.length === 1 ? asked[0]! : { kind: 'all', of: asked };
}

/** The opposite. */
export function notOf(condition: ImportedCondition): ImportedCondition {
  if (condition.kind === 'constant') return condition.value ? NEVER : EVERY;
  return condition.kind === 'not' ? condition.of : { kind: 'not', of: condition };
}

/** Values of one condition on a header; the model has room for as many. */
const MAX_VALUES = 50;

/**
 * One of them; tests of one header that compare alike become one with several values, since each alternative is a rule of
 * its own.
 */
export function anyOf(conditions: readonly ImportedCondition[]): ImportedCondition {
  const flat = conditions.flatMap((one) => (one.kind === 'any' ? one.of : [one]));
  const asked = flat.filter((one) => !(one.kind === 'constant' && !one.value));
  if (asked.some((one) => one.kind === 'constant')) return EVERY;
  const joined = new Map<string, ImportedCondition>();
  for (const one of asked) {
    const key = joinKey(one);
    const before = joined.get(key);
    const both = before === undefined ? null : joinFacts(before, one);
    if (both === null && before !== undefined) joined.set(`${key}${joined.size}`, before);
    joined.set(key, both ?? one);
  }
  const parts = [...joined.values()];
  return parts.length === 0 ? NEVER : parts.length === 1 ? parts[0]! : { kind: 'any', of: parts };
}

/** What tests have in common that become one; of others their whole text. */
function joinKey(one: ImportedCondition): string {
  if (one.kind === 'host' || one.kind === 'path') return one.kind;
  if (one.kind !== 'fact' || !('condition' in one.fact) || !isPositive(one.fact.condition.op))
    return textOf(one);
  const { member, condition } = one.fact;
  return [member, condition.name, condition.op, condition.ignore_case].join(' ');
}

function textOf(condition: ImportedCondition): string {
  return JSON.stringify(condition, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** Whether two conditions are written alike. */
export function sameCondition(one: ImportedCondition, other: ImportedCondition): boolean {
  return textOf(one) === textOf(other);
}

function isPositive(op: string): boolean {
  return !op.startsWith('not_') && op !== 'present' && op !== 'absent';
}

function joinFacts(one: ImportedCondition, other: ImportedCondition): ImportedCondition | null {
  if ((one.kind === 'host' || one.kind === 'path') && one.kind === other.kind)
    return { ...one, tests: [...one.tests, ...other.tests] };
  if (one.kind !== 'fact' || other.kind !== 'fact') return one;
  if (!('condition' in one.fact) || !('condition' in other.fact)) return one;
  const values = [...new Set([...one.fact.condition.values, ...other.fact.condition.values])];
  if (values.length > MAX_VALUES) return null;
  return { kind: 'fact', fact: { ...one.fact, condition: { ...one.fact.condition, values } } };
}

/** Whether a condition holds for a path: `null` where something beside the path decides. */
export function holdsForPath(
  condition: ImportedCondition,
  test: (tests: readonly TextTest[]) => boolean | null,
): boolean | null {
  switch (condition.kind) {
    case 'constant':
      return condition.value;
    case 'path':
      return condition.kind === 'path' ? test(condition.tests) : null;
    case 'not': {
      const inner = holdsForPath(condition.of, test);
      return inner === null ? null : !inner;
    }
    case 'all':
    case 'any': {
      const results = condition.of.map((one) => holdsForPath(one, test));
      const decisive = condition.kind === 'any';
      if (results.includes(decisive)) return decisive;
      return results.includes(null) ? null : !decisive;
    }
    default:
      return null;
  }
}

/** Whether a part of a condition satisfies a test. */
export function someTest(condition: ImportedCondition, test: (one: ImportedCondition) => boolean): boolean {
  if (condition.kind === 'not') return someTest(condition.of, test);
  if (condition.kind === 'all' || condition.kind === 'any')
    return condition.of.some((one) => someTest(one, test));
  return test(condition);
}

/** A condition that holds at least where the given one does, without parts that have no filter. */
export function withoutUnknown(condition: ImportedCondition, isNegated: boolean): ImportedCondition {
  switch (condition.kind) {
    case 'unknown':
      return { kind: 'constant', value: !isNegated };
    case 'not':
      return notOf(withoutUnknown(condition.of, !isNegated));
    case 'all':
      return allOf(condition.of.map((one) => withoutUnknown(one, isNegated)));
    case 'any':
      return anyOf(condition.of.map((one) => withoutUnknown(one, isNegated)));
    default:
      return condition;
  }
}
