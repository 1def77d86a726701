/**
 * Which rules may let a host or path through, without asking every rule: rules are filed under the literal beginning or
 * end of their include entries. In goes a value, out comes a superset of the rules that admit it, in no order.
 */
import type { Rule } from '../../model/types.ts';
import { type FilterEntry, hasPaths, hostIncludes, pathIncludes } from './filters.ts';
import { isLiteral } from './glob.ts';

export interface FilterIndex {
  candidates(type: Rule['type'], value: string): readonly Rule[];
}

/** The rules of one type. */
interface Files {
  readonly exact: Map<string, Rule[]>;
  readonly beginnings: Map<string, Rule[]>;
  readonly ends: Map<string, Rule[]>;
  /** The lengths of `beginnings` and `ends`: each is one look-up for a value. */
  readonly beginningLengths: Set<number>;
  readonly endLengths: Set<number>;
  /** Rules without includes, with regexes, or with stars at both ends. */
  readonly loose: Rule[];
}

/** Rules of one and the same filter that are filed: a rule is never its own answer, so two stand for all. */
const SAME_FILTER = 2;

/** Files rules by their path filter; rules of types without one are left out. */
export function indexPaths(rules: readonly Rule[]): FilterIndex {
  return indexRules(rules.filter(hasPaths), (rule) => (hasPaths(rule) ? pathIncludes(rule) : []));
}

/** Files rules by their host filter. */
export function indexHosts(rules: readonly Rule[]): FilterIndex {
  return indexRules(rules, hostIncludes);
}

function indexRules(rules: readonly Rule[], includesOf: (rule: Rule) => readonly FilterEntry[]): FilterIndex {
  const types = new Map<string, Files>();
  const filed = new Map<string, number>();
  for (const rule of rules) {
    const signature = signatureOf(rule);
    const before = filed.get(signature) ?? 0;
    if (before >= SAME_FILTER) continue;
    filed.set(signature, before + 1);
    const files = types.get(rule.type) ?? emptyFiles();
    types.set(rule.type, files);
    file(files, rule, includesOf(rule));
  }
  return {
    candidates(type, value) {
      const files = types.get(type);
      return files === undefined ? [] : found(files, value);
    },
  };
}

function found(files: Files, value: string): readonly Rule[] {
  const rules = new Set([...(files.exact.get(value) ?? []), ...files.loose]);
  for (const length of files.beginningLengths) {
    if (length > value.length) continue;
    for (const rule of files.beginnings.get(value.slice(0, length)) ?? []) rules.add(rule);
  }
  for (const length of files.endLengths) {
    if (length > value.length) continue;
    for (const rule of files.ends.get(value.slice(value.length - length)) ?? []) rules.add(rule);
  }
  return [...rules];
}

function emptyFiles(): Files {
  return {
    exact: new Map(),
    beginnings: new Map(),
    ends: new Map(),
    beginningLengths: new Set(),
    endLengths: new Set(),
    loose: [],
  };
}

function file(files: Files, rule: Rule, includes: readonly FilterEntry[]): void {
  if (includes.length === 0 || includes.some(isLoose)) {
    files.loose.push(rule);
    return;
  }
  for (const { glob } of includes) {
    if (glob === null) continue;
    const [first = '', last = ''] = [glob[0], glob[glob.length - 1]];
    if (isLiteral(glob)) add(files.exact, first, rule);
    else if (first.length >= last.length) {
      add(files.beginnings, first, rule);
      files.beginningLengths.add(first.length);
    } else {
      add(files.ends, last, rule);
      files.endLengths.add(last.length);
    }
  }
}

function isLoose({ glob, regex }: FilterEntry): boolean {
  return regex || (glob !== null && glob.length > 1 && glob[0] === '' && glob[glob.length - 1] === '');
}

function add(map: Map<string, Rule[]>, key: string, rule: Rule): void {
  const rules = map.get(key);
  if (rules === undefined) map.set(key, [rule]);
  else rules.push(rule);
}

/** All that decides which hosts and paths a rule admits and which hosts it sees. */
function signatureOf(rule: Rule): string {
  const { type, record_ids, host_match_type, host_pattern, host_includes, host_excludes } = rule;
  const paths = hasPaths(rule) ? [rule.path_match_type, rule.path_includes, rule.path_excludes] : [];
  return JSON.stringify([
    type,
    record_ids,
    host_match_type,
    host_pattern,
    host_includes,
    host_excludes,
    ...paths,
  ]);
}
