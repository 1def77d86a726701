/** The fields every rule has, the path filter of the types that have one, and the conditions across them. */
import { z } from 'zod';
import { quoteValue } from '../base/diagnostic.ts';
import { MAX_PRIORITY, MAX_RECORDS } from '../base/limits.ts';
import { ACTION_MODES, HOST_MATCH_TYPES, type HostMatchType, PATH_MATCH_TYPES } from '../base/vocabulary.ts';
import { type EntryProblem, judgeHostEntry, judgePathEntry } from './entries.ts';
import { flag, id, integer, list, text } from './fields.ts';
import { type CrossCheck, crossCheck, type FormScope, type FormValues } from './form.ts';
import type { PathFilter, Rule, RuleCommon } from './types.ts';

/** A rule without what its place in the API says: the shape a form produces. */
export type StoredRule<R extends Rule> = Omit<R, 'id' | 'type'>;

/** Common fields of requests (API document, "Edge rule (common part)"). */
export const COMMON_FIELDS = {
  record_id: id().nullable().optional(),
  record_ids: list(id(), MAX_RECORDS).nullable().optional(),
  enabled: flag(true),
  priority: integer(0, MAX_PRIORITY).default(100),
  host_pattern: text().default(''),
  host_match_type: z.enum(HOST_MATCH_TYPES).optional(),
  host_includes: list(text()).default([]),
  host_excludes: list(text()).default([]),
  action_mode: z.enum(ACTION_MODES).default('enforce'),
};

/** Common fields that only answers carry. */
export const COMMON_IGNORED = ['id', 'type', 'domain_id', 'created_at', 'updated_at'] as const;

/** The path filter's fields. */
export const PATH_FIELDS = {
  path_match_type: z.enum(PATH_MATCH_TYPES).default('wildcard'),
  path_includes: list(text()).optional(),
  path_excludes: list(text()).default([]),
};

type CommonValues = FormValues<typeof COMMON_FIELDS>;
type PathValues = FormValues<typeof PATH_FIELDS>;
type HostValues = Pick<CommonValues, 'host_pattern' | 'host_match_type' | 'host_includes' | 'host_excludes'>;

/** The common fields as they are stored. */
export function finishCommon(values: CommonValues): Omit<RuleCommon, 'id'> {
  return {
    record_ids: scopeOf(values),
    enabled: values.enabled,
    priority: values.priority,
    host_pattern: values.host_pattern,
    host_match_type: hostMatchType(values),
    host_includes: values.host_includes,
    host_excludes: values.host_excludes,
    action_mode: values.action_mode,
  };
}

/** A `record_id` alone acts as a list of one; with `record_ids`, the list wins (semantics §2). */
function scopeOf({
  record_id,
  record_ids,
}: Pick<CommonValues, 'record_id' | 'record_ids'>): readonly number[] {
  if (record_ids !== undefined && record_ids !== null) return [...new Set(record_ids)];
  return typeof record_id === 'number' ? [record_id] : [];
}

/** A list without a type means `wildcard`; nothing listed means no host filter (API document). */
function hostMatchType(values: HostValues): HostMatchType {
  return values.host_match_type ?? (listsHosts(values) ? 'wildcard' : '');
}

function listsHosts(values: Omit<HostValues, 'host_match_type'>): boolean {
  return values.host_pattern !== '' || values.host_includes.length > 0 || values.host_excludes.length > 0;
}

/**
 * The path filter as it is stored. Left out, `path_includes` is the documented `/*`; under `regex` it is empty, which
 * says the same without a pattern to run.
 */
export function finishPath(values: PathValues): PathFilter {
  return {
    path_match_type: values.path_match_type,
    path_includes: values.path_includes ?? (values.path_match_type === 'wildcard' ? ['/*'] : []),
    path_excludes: values.path_excludes,
  };
}

const recordScope = crossCheck<Pick<CommonValues, 'record_id' | 'record_ids'>>(
  ['record_id', 'record_ids'],
  ({ record_id, record_ids }, scope) => {
    if (typeof record_id !== 'number' || record_ids === undefined) return;
    if (record_ids !== null && record_ids.length > 0) return;
    const message = 'must not be empty beside a `record_id`';
    scope.error(['record_ids'], { code: 'empty_record_ids', message, remedy: 'leave one of the two out' });
  },
);

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
    // Without a valid type the entries are read as wildcards, which is what most people mean.
    const type = hostMatchType(values) || 'wildcard';
    const judge = (entry: string): EntryProblem | null =>
      type === 'regex' ? judgePattern(entry, true, scope) : judgeHostEntry(entry, type);
    if (values.host_pattern !== '') tell(['host_pattern'], values.host_pattern, judge, scope);
    judgeEach('host_includes', values.host_includes, judge, scope);
    judgeEach('host_excludes', values.host_excludes, judge, scope);
  },
);

const pathFilter = crossCheck<PathValues>(
  ['path_match_type', 'path_includes', 'path_excludes'],
  (values, scope) => {
    const judge = (entry: string): EntryProblem | null =>
      values.path_match_type === 'regex' ? judgePattern(entry, false, scope) : judgePathEntry(entry);
    judgeEach('path_includes', values.path_includes ?? [], judge, scope);
    judgeEach('path_excludes', values.path_excludes, judge, scope);
  },
);

function judgeEach(
  field: string,
  entries: readonly string[],
  judge: (entry: string) => EntryProblem | null,
  scope: FormScope,
): void {
  for (const [index, entry] of entries.entries()) {
    if (scope.full()) return;
    tell([field, index], entry, judge, scope);
  }
}

/** Judges one entry. An empty one is a slip, never a filter (semantics §1.1). */
function tell(
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

/** Reports what is wrong with an entry, as severely as the problem says. */
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

function judgePattern(entry: string, ignoreCase: boolean, { patterns }: FormScope): EntryProblem | null {
  const use = patterns.check(entry, { ignoreCase });
  if (use.ok === true || use.ok === 'skipped') return null;
  if (use.ok === false) return { code: 'invalid_pattern', message: use.reason };
  const remedy = 'use wildcards, start patterns with `^` and literal text, or join several with `|`';
  return { code: 'pattern_budget', message: use.reason, remedy };
}

/** The conditions every rule has to meet. */
export const COMMON_CHECKS: readonly CrossCheck[] = [recordScope, hostFilter];

/** The conditions of a rule with a path filter. */
export const PATH_CHECKS: readonly CrossCheck[] = [...COMMON_CHECKS, pathFilter];

/** Values that tell whether a rule's filters let every request through. */
export type NarrowingValues = CommonValues & PathValues;

/** Whether hosts, records and paths leave out nothing: what makes a bare drop rule drop everything (semantics §5). */
export function isUnnarrowed(values: NarrowingValues): boolean {
  const everyPath = (entry: string): boolean =>
    entry === '/*' || (entry === '*' && values.path_match_type === 'wildcard');
  const paths = values.path_includes ?? [];
  const hosts =
    values.host_pattern === '' ? values.host_includes : [values.host_pattern, ...values.host_includes];
  const everyHost = (entry: string): boolean => entry === '*' && hostMatchType(values) === 'wildcard';
  return (
    scopeOf(values).length === 0 &&
    values.path_excludes.length === 0 &&
    (paths.length === 0 || paths.some(everyPath)) &&
    values.host_excludes.length === 0 &&
    (hosts.length === 0 || hosts.some(everyHost))
  );
}
