/**
 * The input and output of a lint family. The input has an index of rules by the literal start or end of their include
 * entries, so that lint does not compare every rule with every other.
 */
import type { DiagnosticCode } from '../../../base/diagnostics/codes/codes.ts';
import type { FieldPath } from '../../../base/diagnostics/diagnostic.ts';
import type { Severity } from '../../../base/diagnostics/severity.ts';
import type { Registry, Rule, RuleList, RuleSet } from '../../../rules/model/types.ts';
import type { SubjectSpace } from '../situations.ts';
import type { ListSources, Subject, SubjectRule } from '../subject.ts';
import { type FilterEntry, hasPaths, hostIncludes, isLiteral, pathIncludes, type Zone } from './filters.ts';

/** A finding about one field of one rule. */
export interface Finding {
  /** Stable across releases. */
  readonly code: DiagnosticCode;
  /**
   * `error`: the rule can never take effect as written. `warning`: it very likely does something else than
   * intended. `info`: it works as intended, and a shorter form exists.
   */
  readonly severity: Severity;
  readonly rule: Rule;
  /** Within the rule: `['path_includes', 0]`. */
  readonly field: FieldPath;
  /** Lower case, no full stop, without the field's name and the found value. */
  readonly message: string;
  /** The offending value, quoted. */
  readonly found?: string;
  /** What to write instead. */
  readonly remedy?: string;
}

/** A finding about an object that is no rule: a record, or one of the registry. */
export interface ObjectFinding extends Omit<Finding, 'rule' | 'field'> {
  /** As edge files have it: `['consumers', 0, 'acl', 1]`. */
  readonly path: FieldPath;
}

/** The signatures that exclusions of waf rules refer to. */
export interface LintSignatures {
  /** The name of the set, such as `OWASP_CRS/4.28.0`. */
  readonly name: string;
  /** Whether the set has a signature of this id. */
  hasId(id: number): boolean;
  /** Whether a signature of the set has this tag. */
  hasTag(tag: string): boolean;
}

/** What every family reads; computed once per run. */
export interface LintContext {
  readonly ruleSet: RuleSet;
  /** The hosts that the proxied records serve. */
  readonly zone: Zone;
  /** Enabled rules, in the order of the rule set. */
  readonly enabled: readonly Rule[];
  /** The enabled rules indexed by path filter. */
  readonly paths: FilterIndex;
  /** The enabled rules indexed by host filter. */
  readonly hosts: FilterIndex;
  /** Whether the customer wrote the field; `false` if that is unknown. */
  readonly written: (rule: Rule, field: string) => boolean;
  /** Where lists come from; nothing is proved if some are missing. */
  readonly sources: ListSources;
  /** `null`: unknown, so exclusions are not checked; `none`: waf rules inspect with no signatures. */
  readonly signatures: LintSignatures | 'none' | null;
  /** `null`: unknown, so nothing is claimed of who may call. */
  readonly registry: Registry | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A family of lint rules: a function that returns findings in any order. */
export type LintFamily = (context: LintContext) => readonly Finding[];

/** What the families of proofs read. */
export interface ProofContext {
  readonly subject: Subject;
  /** `null`: host filters are too complex for proofs. */
  readonly around: SubjectSpace | null;
  /** The rule of the rule set that a rule of the plan is. */
  ruleOf(rule: SubjectRule): Rule;
  /** Findings of the families without proofs. */
  readonly found: readonly Finding[];
  /** The lists that rules may name. */
  readonly lists: readonly RuleList[];
}

// An index of rules by the literal start or end of their include entries, so that lint does not compare every rule
// with every other. Input: a host or path. Output: a superset of the rules that admit it, in no order.

/** Rules filed by their include entries. */
export interface FilterIndex {
  /** Returns the rules of a type that may admit the value. */
  candidates(type: Rule['type'], value: string): readonly Rule[];
}

/** The posting lists of one rule type. */
interface Files {
  /** By the whole text of an entry without a star. */
  readonly exact: Map<string, Rule[]>;
  /** By the literal before the first star. */
  readonly beginnings: Map<string, Rule[]>;
  /** By the literal after the last star. */
  readonly ends: Map<string, Rule[]>;
  /** The lengths of the keys in `beginnings`: one look-up per length and value. */
  readonly beginningLengths: Set<number>;
  /** The lengths of the keys in `ends`. */
  readonly endLengths: Set<number>;
  /** Rules without includes, with regexes or lists, or with stars at both ends: candidates for every value. */
  readonly loose: Rule[];
}

/** How many rules of one filter are filed. Lint looks for another rule than the one at hand, so two suffice. */
const SAME_FILTER = 2;

/** Indexes rules by their path filter; types without one are left out. */
export function indexPaths(rules: readonly Rule[]): FilterIndex {
  return indexRules(rules.filter(hasPaths), (rule) => (hasPaths(rule) ? pathIncludes(rule) : []));
}

/** Indexes rules by their host filter. */
export function indexHosts(rules: readonly Rule[]): FilterIndex {
  return indexRules(rules, hostIncludes);
}

/** Builds the index. */
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
      return files === undefined ? [] : lookUp(files, value);
    },
  };
}

/** The rules filed under any start or end of the value. */
function lookUp(files: Files, value: string): readonly Rule[] {
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

/** Files a rule under the longer literal of each include. */
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

/** Whether an entry has no literal at either end, as far as is known. */
function isLoose({ glob, regex, listed }: FilterEntry): boolean {
  return (
    regex || listed || (glob !== null && glob.length > 1 && glob[0] === '' && glob[glob.length - 1] === '')
  );
}

/** Appends to a posting list. */
function add(map: Map<string, Rule[]>, key: string, rule: Rule): void {
  const rules = map.get(key);
  if (rules === undefined) map.set(key, [rule]);
  else rules.push(rule);
}

/** A text that is equal for rules that admit the same hosts and paths. */
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
