/**
 * Defines what the rule types share: the common fields, the path filter, the checks across fields, and the two
 * builders (`hostRule`, `pathRule`) that make the form of a type from its own fields. Each type declares its own fields
 * once, in its file of `rules/`; the form, the TypeScript type and the API documents are all derived from them.
 */
import { z } from 'zod';
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import type { JsonObject } from '../../base/text/json-object.ts';
import { MAX_PRIORITY, MAX_RECORDS } from '../../base/vocabulary/limits.ts';
import {
  ACTION_MODES,
  HOST_MATCH_TYPES,
  type HostMatchType,
  PATH_MATCH_TYPES,
  type RuleType,
} from '../../base/vocabulary/vocabulary.ts';
import {
  CONDITION_NAMES,
  CONDITIONS_FIELD,
  type Conditions,
  checkConditions,
  checkWrittenConditions,
  hasConditions,
  storedConditions,
} from './conditions.ts';
import { flag, id, integer, list, text } from './fields.ts';
import {
  type CrossCheck,
  crossCheck,
  type Fields,
  type Form,
  type FormScope,
  type FormValues,
  form,
  type Stored,
} from './form.ts';
import { judgeListName, namesList } from './list-name.ts';
import { type EntryProblem, judgeHostEntry, judgePathEntry } from './text-checks.ts';

/**
 * Common fields of requests (API document, "Edge rule (common part)"). The checks `recordScope` and `hostFilter` below
 * validate them together.
 */
export const COMMON_FIELDS = {
  record_id: id()
    .nullable()
    .optional()
    .describe('deprecated: use `record_ids`; the one proxied record that the rule applies to')
    .meta({ deprecated: true, examples: [3] }),
  record_ids: list(id(), MAX_RECORDS)
    .nullable()
    .optional()
    .describe(
      'ids of the proxied records that the rule applies to; empty: every proxied record of the domain',
    )
    .meta({ examples: [[3, 7]] }),
  enabled: flag(true)
    .describe('`false`: the rule matches no request')
    .meta({ examples: [false] }),
  priority: integer(0, MAX_PRIORITY)
    .default(100)
    .describe('order of evaluation within the type: lower first, then the lower id')
    .meta({ examples: [10] }),
  host_pattern: text()
    .default('')
    .describe('legacy: one more entry of `host_includes`')
    .meta({ examples: ['*.example.com'] }),
  host_match_type: z
    .enum(HOST_MATCH_TYPES)
    .optional()
    .describe(
      'how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it',
    )
    .meta({ examples: ['wildcard'] }),
  host_includes: list(text())
    .default([])
    .describe('hosts that the rule applies to; empty: every host')
    .meta({ examples: [['shop.example.com', '*.preview.example.com']] }),
  host_excludes: list(text())
    .default([])
    .describe('hosts that the rule does not apply to; they win over `host_includes`')
    .meta({ examples: [['status.example.com']] }),
  action_mode: z
    .enum(ACTION_MODES)
    .default('enforce')
    .describe(
      '`dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced',
    )
    .meta({ examples: ['dry_run'] }),
  conditions: CONDITIONS_FIELD,
};

/** Common fields that only answers carry; a request may send them back, and they are ignored (semantics §6). */
const COMMON_IGNORED = ['id', 'type', 'domain_id', 'created_at', 'updated_at'] as const;

/** Fields of the path filter (semantics §1.1, §3); `bot_route`, `fingerprint` and `origin_pool` have no path filter. */
export const PATH_FIELDS = {
  path_match_type: z
    .enum(PATH_MATCH_TYPES)
    .default('wildcard')
    .describe(
      'how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored',
    )
    .meta({ examples: ['regex'] }),
  path_includes: list(text())
    .optional()
    .describe('paths that the rule applies to; default: every path (`/*`)')
    .meta({ examples: [['/admin', '/admin/*']] }),
  path_excludes: list(text())
    .default([])
    .describe('paths that the rule does not apply to; they win over `path_includes`')
    .meta({ examples: [['/admin/health']] }),
};

/** Fields of every rule, as they are stored: all defaults are set, and `record_id` is merged into `record_ids`. */
export interface RuleCommon
  extends Stored<Omit<typeof COMMON_FIELDS, 'record_id' | 'record_ids' | 'host_match_type' | 'conditions'>> {
  /** From 1 to `MAX_ID`; unique among the rules of a domain, of all types. */
  readonly id: number;
  /** Empty: every proxied record of the domain. */
  readonly record_ids: readonly number[];
  /** Empty exactly when the rule lists no host. */
  readonly host_match_type: HostMatchType;
  /** Absent: none. */
  readonly conditions?: Conditions;
}

/** The path filter of the types that have one, as it is stored. */
export interface PathFilter extends Stored<Omit<typeof PATH_FIELDS, 'path_includes'>> {
  /** Empty: every path. */
  readonly path_includes: readonly string[];
}

/** A rule without `id` and `type`, which the API has in the path: the output of a form. */
export type StoredRule<R extends { readonly id: number; readonly type: RuleType }> = Omit<R, 'id' | 'type'>;

/** The common fields of a request after the defaults, before `finishCommon`. */
type CommonValues = FormValues<typeof COMMON_FIELDS>;
/** The path filter of a request after the defaults, before `finishPath`. */
type PathValues = FormValues<typeof PATH_FIELDS>;
/** The fields of the host filter. */
type HostValues = Pick<CommonValues, 'host_pattern' | 'host_match_type' | 'host_includes' | 'host_excludes'>;

/** Converts the common fields to their stored shape. The values have passed `COMMON_CHECKS`. */
function finishCommon(values: CommonValues): Omit<RuleCommon, 'id'> {
  return {
    record_ids: scopeOf(values),
    enabled: values.enabled,
    priority: values.priority,
    host_pattern: values.host_pattern,
    host_match_type: hostMatchType(values),
    host_includes: values.host_includes,
    host_excludes: values.host_excludes,
    action_mode: values.action_mode,
    ...storedConditions(values.conditions as Conditions | undefined),
  };
}

/**
 * The ids of the records in scope. A `record_id` alone acts as a list of one; with `record_ids`, the list wins
 * (semantics §2).
 */
function scopeOf({
  record_id,
  record_ids,
}: Pick<CommonValues, 'record_id' | 'record_ids'>): readonly number[] {
  if (record_ids !== undefined && record_ids !== null) return [...new Set(record_ids)];
  return typeof record_id === 'number' ? [record_id] : [];
}

/**
 * The stored match type: a list without a type means `wildcard`; without hosts it is empty, no host filter (API
 * document).
 */
function hostMatchType(values: HostValues): HostMatchType {
  return values.host_match_type ?? (listsHosts(values) ? 'wildcard' : '');
}

/** Whether any host field has an entry, includes or excludes. */
function listsHosts(values: Omit<HostValues, 'host_match_type'>): boolean {
  return values.host_pattern !== '' || values.host_includes.length > 0 || values.host_excludes.length > 0;
}

/**
 * Converts the path filter to its stored shape. An absent `path_includes` is the documented `/*`; under `regex` it is an
 * empty list, which matches the same paths without a pattern to run.
 */
function finishPath(values: PathValues): PathFilter {
  return {
    path_match_type: values.path_match_type,
    path_includes: values.path_includes ?? (values.path_match_type === 'wildcard' ? ['/*'] : []),
    path_excludes: values.path_excludes,
  };
}

/** Refuses an empty or null `record_ids` beside a `record_id` (semantics §2). */
const recordScope = crossCheck<Pick<CommonValues, 'record_id' | 'record_ids'>>(
  ['record_id', 'record_ids'],
  ({ record_id, record_ids }, scope) => {
    if (typeof record_id !== 'number' || record_ids === undefined) return;
    if (record_ids !== null && record_ids.length > 0) return;
    const message = 'must not be empty beside a `record_id`';
    scope.error(['record_ids'], { code: 'empty_record_ids', message, remedy: 'leave one of the two out' });
  },
);

/** Checks that the match type and the lists agree, and then each host entry by that type. */
const hostFilter = crossCheck<HostValues>(
  ['host_pattern', 'host_match_type', 'host_includes', 'host_excludes'],
  (values, scope) => {
    const listed = listsHosts(values);
    if (values.host_match_type === '' && listed) {
      const message = 'must not be empty while a host is listed';
      const remedy = 'write `exact`, `wildcard` or `regex`, or leave it out for `wildcard`';
      scope.error(['host_match_type'], { code: 'host_match_type', message, remedy });
    }
    if (values.host_match_type !== undefined && values.host_match_type !== '' && !listed) {
      const message = 'must be empty while no host is listed';
      const remedy = 'list hosts in `host_includes`, or leave it out';
      const found = `\`${values.host_match_type}\``;
      scope.error(['host_match_type'], { code: 'host_match_type', message, found, remedy });
    }
    if (!listed) return;
    // Without a valid type the entries are checked as wildcards, the default, so that their mistakes are reported too.
    const type = hostMatchType(values) || 'wildcard';
    const judgeText = (entry: string): EntryProblem | null =>
      type === 'regex' ? judgePattern(entry, true, scope) : judgeHostEntry(entry, type);
    const judge = (entry: string): EntryProblem | null =>
      type !== 'regex' && namesList(entry) ? judgeListName(entry.slice(1)) : judgeText(entry);
    if (values.host_pattern !== '') checkEntry(['host_pattern'], values.host_pattern, judgeText, scope);
    checkEntries('host_includes', values.host_includes, judge, scope);
    checkEntries('host_excludes', values.host_excludes, judge, scope);
  },
);

/** Checks the conditions. */
const conditionsFilter = crossCheck<Pick<CommonValues, 'conditions'>>(
  ['conditions'],
  ({ conditions }, scope) => {
    if (conditions !== undefined) checkConditions(conditions as Conditions, scope);
  },
);

/** Checks what a conversion of the conditions hides. */
const writtenConditions: CrossCheck = {
  ...crossCheck<{ readonly conditions?: Pick<Conditions, 'ips'> }>(
    ['conditions'],
    ({ conditions = {} }, scope) => checkWrittenConditions(conditions, scope),
  ),
  asWritten: true,
};

/** Checks each path entry by the match type. */
const pathFilter = crossCheck<PathValues>(
  ['path_match_type', 'path_includes', 'path_excludes'],
  (values, scope) => {
    const judge = (entry: string): EntryProblem | null => {
      if (values.path_match_type === 'regex') return judgePattern(entry, false, scope);
      if (!namesList(entry)) return judgePathEntry(entry);
      const problem = judgeListName(entry.slice(1));
      return problem === null ? null : { ...problem, atWrite: true };
    };
    checkEntries('path_includes', values.path_includes ?? [], judge, scope);
    checkEntries('path_excludes', values.path_excludes, judge, scope);
  },
);

/** Checks the entries of one list in order, until the report is full. */
function checkEntries(
  field: string,
  entries: readonly string[],
  judge: (entry: string) => EntryProblem | null,
  scope: FormScope,
): void {
  for (const [index, entry] of entries.entries()) {
    if (scope.full()) return;
    checkEntry([field, index], entry, judge, scope);
  }
}

/** Checks one entry and reports its mistake at `path`. An empty entry is an error, never a filter (semantics §1.1). */
function checkEntry(
  path: readonly (string | number)[],
  entry: string,
  judge: (entry: string) => EntryProblem | null,
  scope: FormScope,
): void {
  if (entry === '') {
    scope.error(path, { code: 'empty_value', message: 'must not be empty' });
    return;
  }
  const problem = judge(entry);
  if (problem !== null) reportEntry(path, { entry, problem }, scope);
}

/**
 * Reports the mistake of an entry with the entry quoted: `mild` as a warning, `atWrite` as `FormScope.refuse` does,
 * others as an error.
 */
export function reportEntry(
  path: readonly (string | number)[],
  { entry, problem }: { readonly entry: string; readonly problem: EntryProblem },
  scope: FormScope,
): void {
  const shown = { found: quoteValue(entry), ...problem };
  if (problem.mild === true) scope.warn(path, shown);
  else if (problem.atWrite === true) scope.refuse(path, shown);
  else scope.error(path, shown);
}

/** Checks one regex against its own bounds and the budget of the domain. `skipped` uses are not reported again. */
function judgePattern(entry: string, ignoreCase: boolean, { patterns }: FormScope): EntryProblem | null {
  const use = patterns.check(entry, { ignoreCase, of: ignoreCase ? 'host' : 'path' });
  if (use.ok === true || use.ok === 'skipped') return null;
  if (use.ok === false) return { code: 'invalid_pattern', message: use.reason };
  const remedy = 'use wildcards, start patterns with `^` and literal text, or join several with `|`';
  return { code: 'pattern_budget', message: use.reason, remedy };
}

/** The checks of every rule, in the order of their diagnostics. */
const COMMON_CHECKS: readonly CrossCheck[] = [recordScope, hostFilter, writtenConditions, conditionsFilter];

/** The checks of a rule with a path filter. */
const PATH_CHECKS: readonly CrossCheck[] = [...COMMON_CHECKS, pathFilter];

/** An address that a rule sends requests to, and the field it is written in. */
export interface RuleOrigin {
  readonly path: FieldPath;
  readonly address: string;
}

/** What a rule type declares besides its fields. */
interface RuleWords<Own extends Fields> {
  /** What rules of the type do, in one line; the reference and `edgeplan fields` show it. */
  readonly summary: string;
  /** The body of a request that creates such a rule, for the reference of the API. */
  readonly example: JsonObject;
  /** The addresses that a stored rule sends requests to; absent: the type has none. */
  readonly origins?: (own: Stored<Own>) => readonly RuleOrigin[];
}

/** What a rule type adds to the common fields. */
interface RuleParts<T extends RuleType, Own extends Fields> extends RuleWords<Own> {
  readonly type: T;
  /** The fields that only this type has. */
  readonly fields: Own;
  /** Checks across fields, after those of the common fields. */
  readonly checks?: readonly CrossCheck[];
  /** Field names of nested objects, by the field that contains them; used to suggest a name for an unknown one. */
  readonly nested?: Readonly<Record<string, readonly string[]>>;
  /** Fields of answers that a request may carry and that are ignored. */
  readonly answered?: readonly string[];
  /** Own fields to empty before they are stored, or `undefined` to leave them out: those that have no effect beside the others. */
  readonly unused?: (own: FormValues<Own>) => {
    readonly [K in keyof FormValues<Own>]?: FormValues<Own>[K] | undefined;
  };
}

/** The shared fields of a type without a path filter, and of one with it. */
type HostFields = typeof COMMON_FIELDS;
type HostAndPathFields = HostFields & typeof PATH_FIELDS;
/** The stored path filter, for types that have one. */
type FilterOf<HasPath extends boolean> = HasPath extends true ? PathFilter : unknown;

/** The form of a rule type: all its fields, its own fields apart, and the conversion to the stored shape. */
export interface RuleForm<T extends RuleType, Own extends Fields, HasPath extends boolean>
  extends Form<
      (HasPath extends true ? HostAndPathFields : HostFields) & Own,
      Omit<RuleCommon, 'id'> & FilterOf<HasPath> & Stored<Own>
    >,
    RuleWords<Own> {
  readonly type: T;
  /** The fields that only this type has; the path filter is not among them. */
  readonly own: Own;
  /** Whether the type has the path filter. */
  readonly hasPath: HasPath;
}

/** The stored rule of a form, with its id and type. */
export type RuleOf<F> = F extends {
  readonly type: infer T;
  readonly own: infer Own extends Fields;
  readonly hasPath: infer HasPath extends boolean;
}
  ? RuleCommon & { readonly type: T } & FilterOf<HasPath> & Stored<Own>
  : never;

/** Makes the form of a type without a path filter. */
export function hostRule<T extends RuleType, Own extends Fields>(
  parts: RuleParts<T, Own>,
): RuleForm<T, Own, false> {
  const { type, fields: own, nested = {}, answered = [], checks = [] } = parts;
  const made = {
    type,
    own,
    hasPath: false,
    ...wordsOf(parts),
    ...form({
      fields: { ...COMMON_FIELDS, ...own },
      ignored: [...COMMON_IGNORED, ...answered],
      nested: { ...CONDITION_NAMES, ...nested },
      checks: [...COMMON_CHECKS, ...checks],
      finish: (values) => ({ ...finishCommon(values as CommonValues), ...finishOwn(parts, values) }),
    }),
  };
  // TypeScript cannot derive the form's type while `Own` is a type parameter.
  return made as unknown as RuleForm<T, Own, false>;
}

/** Makes the form of a type with the path filter. */
export function pathRule<T extends RuleType, Own extends Fields>(
  parts: RuleParts<T, Own>,
): RuleForm<T, Own, true> {
  const { type, fields: own, nested = {}, answered = [], checks = [] } = parts;
  const made = {
    type,
    own,
    hasPath: true,
    ...wordsOf(parts),
    ...form({
      fields: { ...COMMON_FIELDS, ...PATH_FIELDS, ...own },
      ignored: [...COMMON_IGNORED, ...answered],
      nested: { ...CONDITION_NAMES, ...nested },
      checks: [...PATH_CHECKS, ...checks],
      finish: (values) => ({
        ...finishCommon(values as CommonValues),
        ...finishPath(values as PathValues),
        ...finishOwn(parts, values),
      }),
    }),
  };
  return made as unknown as RuleForm<T, Own, true>;
}

/** The declarations of a type besides its fields. */
function wordsOf<Own extends Fields>({ summary, example, origins }: RuleWords<Own>): RuleWords<Own> {
  return { summary, example, ...(origins === undefined ? {} : { origins }) };
}

/**
 * Selects a type's own fields and empties those that have no effect (`RuleParts.unused`). An optional field without a value
 * is absent.
 */
function finishOwn<T extends RuleType, Own extends Fields>(
  { fields, unused }: RuleParts<T, Own>,
  values: object,
): FormValues<Own> {
  const own: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) own[name] = (values as Record<string, unknown>)[name];
  const stored = { ...own, ...unused?.(own as FormValues<Own>) };
  return Object.fromEntries(
    Object.entries(stored).filter(([, value]) => value !== undefined),
  ) as FormValues<Own>;
}

/** The values that `isUnnarrowed` reads: conditions, and the filters on records, hosts and paths. */
export type NarrowingValues = CommonValues & PathValues;

/**
 * Whether the filters on records, hosts and paths let every request through and there are no conditions, so that a drop
 * rule without another filter drops everything (semantics §5, §12). Only the literal entries `*` and `/*` count as every host and every path.
 */
export function isUnnarrowed(values: NarrowingValues): boolean {
  const everyPath = (entry: string): boolean =>
    entry === '/*' || (entry === '*' && values.path_match_type === 'wildcard');
  const paths = values.path_includes ?? [];
  const hosts =
    values.host_pattern === '' ? values.host_includes : [values.host_pattern, ...values.host_includes];
  const everyHost = (entry: string): boolean => entry === '*' && hostMatchType(values) === 'wildcard';
  return (
    !hasConditions(values.conditions) &&
    scopeOf(values).length === 0 &&
    values.path_excludes.length === 0 &&
    (paths.length === 0 || paths.some(everyPath)) &&
    values.host_excludes.length === 0 &&
    (hosts.length === 0 || hosts.some(everyHost))
  );
}
