/**
 * What the twelve rule types share: the common fields, the path filter, the conditions across them, and the two
 * builders (`hostRule`, `pathRule`) that make a type's form out of its own fields. A type's file is the one place
 * where its fields are written: the form reads them, the TypeScript type and the documents follow from them.
 */
import { z } from 'zod';
import { quoteValue } from '../base/diagnostic.ts';
import { MAX_PRIORITY, MAX_RECORDS } from '../base/limits.ts';
import {
  ACTION_MODES,
  HOST_MATCH_TYPES,
  type HostMatchType,
  PATH_MATCH_TYPES,
  type RuleType,
} from '../base/vocabulary.ts';
import { type EntryProblem, judgeHostEntry, judgePathEntry } from './entries.ts';
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

/** Common fields of requests (API document, "Edge rule (common part)"). */
export const COMMON_FIELDS = {
  record_id: id()
    .nullable()
    .optional()
    .describe('deprecated: use `record_ids`; the one proxied record that the rule applies to')
    .meta({ deprecated: true }),
  record_ids: list(id(), MAX_RECORDS)
    .nullable()
    .optional()
    .describe(
      'ids of the proxied records that the rule applies to; empty: every proxied record of the domain',
    ),
  enabled: flag(true).describe('`false`: the rule matches no request'),
  priority: integer(0, MAX_PRIORITY)
    .default(100)
    .describe('order of evaluation within the type: lower first, then the lower id'),
  host_pattern: text().default('').describe('legacy: one more entry of `host_includes`'),
  host_match_type: z
    .enum(HOST_MATCH_TYPES)
    .optional()
    .describe(
      'how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it',
    ),
  host_includes: list(text()).default([]).describe('hosts that the rule applies to; empty: every host'),
  host_excludes: list(text())
    .default([])
    .describe('hosts that the rule does not apply to; they win over `host_includes`'),
  action_mode: z
    .enum(ACTION_MODES)
    .default('enforce')
    .describe(
      '`dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced',
    ),
};

/** Common fields that only answers carry. */
const COMMON_IGNORED = ['id', 'type', 'domain_id', 'created_at', 'updated_at'] as const;

/** The path filter's fields. */
export const PATH_FIELDS = {
  path_match_type: z
    .enum(PATH_MATCH_TYPES)
    .default('wildcard')
    .describe(
      'how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included; `regex` in RE2 syntax, unanchored',
    ),
  path_includes: list(text())
    .optional()
    .describe('paths that the rule applies to; default: every path (`/*`)'),
  path_excludes: list(text())
    .default([])
    .describe('paths that the rule does not apply to; they win over `path_includes`'),
};

/** Fields of every rule, as they are stored. */
export interface RuleCommon
  extends Stored<Omit<typeof COMMON_FIELDS, 'record_id' | 'record_ids' | 'host_match_type'>> {
  readonly id: number;
  /** Empty: every proxied record of the domain. */
  readonly record_ids: readonly number[];
  readonly host_match_type: HostMatchType;
}

/** The path filter of the types that have one, as it is stored. */
export interface PathFilter extends Stored<Omit<typeof PATH_FIELDS, 'path_includes'>> {
  /** Empty: every path. */
  readonly path_includes: readonly string[];
}

/** A rule without its place in the API (id and type): the shape that a form produces. */
export type StoredRule<R extends { readonly id: number; readonly type: RuleType }> = Omit<R, 'id' | 'type'>;

type CommonValues = FormValues<typeof COMMON_FIELDS>;
type PathValues = FormValues<typeof PATH_FIELDS>;
type HostValues = Pick<CommonValues, 'host_pattern' | 'host_match_type' | 'host_includes' | 'host_excludes'>;

/** The common fields as they are stored. */
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
function finishPath(values: PathValues): PathFilter {
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
const COMMON_CHECKS: readonly CrossCheck[] = [recordScope, hostFilter];

/** The conditions of a rule with a path filter. */
const PATH_CHECKS: readonly CrossCheck[] = [...COMMON_CHECKS, pathFilter];

/** What a rule type adds to the common fields. */
interface RuleParts<T extends RuleType, Own extends Fields> {
  readonly type: T;
  readonly fields: Own;
  /** Conditions across fields, after those of the common fields. */
  readonly checks?: readonly CrossCheck[];
  /** Names of the fields of objects inside, by the field that holds them. */
  readonly nested?: Readonly<Record<string, readonly string[]>>;
  /** Fields of answers that a request may carry and that are ignored. */
  readonly answered?: readonly string[];
  /** Own fields to empty before they are stored: those that have no effect beside the others. */
  readonly unused?: (own: FormValues<Own>) => Partial<FormValues<Own>>;
}

type HostFields = typeof COMMON_FIELDS;
type HostAndPathFields = HostFields & typeof PATH_FIELDS;
type FilterOf<HasPath extends boolean> = HasPath extends true ? PathFilter : unknown;

/** The form of a rule type: all its fields, those that only it has, and how a rule is stored. */
export interface RuleForm<T extends RuleType, Own extends Fields, HasPath extends boolean>
  extends Form<
    (HasPath extends true ? HostAndPathFields : HostFields) & Own,
    Omit<RuleCommon, 'id'> & FilterOf<HasPath> & Stored<Own>
  > {
  readonly type: T;
  /** The fields that only this type has; the path filter is not among them. */
  readonly own: Own;
  readonly hasPath: HasPath;
}

/** The rule that a form produces, with its id and type. */
export type RuleOf<F> = F extends {
  readonly type: infer T;
  readonly own: infer Own extends Fields;
  readonly hasPath: infer HasPath extends boolean;
}
  ? RuleCommon & { readonly type: T } & FilterOf<HasPath> & Stored<Own>
  : never;

/** The form of a type without a path filter. */
export function hostRule<T extends RuleType, Own extends Fields>(
  parts: RuleParts<T, Own>,
): RuleForm<T, Own, false> {
  const { type, fields: own, nested = {}, answered = [], checks = [] } = parts;
  const made = {
    type,
    own,
    hasPath: false,
    ...form({
      fields: { ...COMMON_FIELDS, ...own },
      ignored: [...COMMON_IGNORED, ...answered],
      nested,
      checks: [...COMMON_CHECKS, ...checks],
      finish: (values) => ({ ...finishCommon(values as CommonValues), ...finishOwn(parts, values) }),
    }),
  };
  // The compiler cannot follow the fields of an own type that is still open.
  return made as unknown as RuleForm<T, Own, false>;
}

/** The form of a type with the path filter. */
export function pathRule<T extends RuleType, Own extends Fields>(
  parts: RuleParts<T, Own>,
): RuleForm<T, Own, true> {
  const { type, fields: own, nested = {}, answered = [], checks = [] } = parts;
  const made = {
    type,
    own,
    hasPath: true,
    ...form({
      fields: { ...COMMON_FIELDS, ...PATH_FIELDS, ...own },
      ignored: [...COMMON_IGNORED, ...answered],
      nested,
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

function finishOwn<T extends RuleType, Own extends Fields>(
  { fields, unused }: RuleParts<T, Own>,
  values: object,
): FormValues<Own> {
  const own: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) own[name] = (values as Record<string, unknown>)[name];
  return { ...own, ...unused?.(own as FormValues<Own>) } as FormValues<Own>;
}

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
