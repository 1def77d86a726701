/**
 * Defines a form: the fields of one kind of object (a rule type, a record, a domain), the checks across them, and its
 * stored shape. `readForm` reads one plain object by a form into stored values or diagnostics.
 */
import { z } from 'zod';
import { describeKind, type FieldPath } from '../../base/diagnostics/diagnostic.ts';
import { MAX_BODY_SCHEMA_DEPTH, MAX_FILE_VALUES } from '../../base/vocabulary/limits.ts';
import type { PatternBook } from './pattern.ts';
import { type Problem, type Report, readIssue, unknownField } from './report.ts';

/** The zod schemas of an object's fields, by field name. */
export type Fields = Readonly<Record<string, z.ZodType>>;

/** The values of a set of fields, with defaults filled in. */
export type FormValues<F extends Fields> = z.output<z.ZodObject<F>>;

/** The type with every property and list `readonly`, at every depth. */
type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

/** The values of a set of fields as they are stored: defaults set, and read-only at every depth. */
export type Stored<F extends Fields> = Immutable<FormValues<F>>;

/** Copies some fields of an object, in the order of `names`. */
export function pick<T extends object, Name extends keyof T & string>(
  values: T,
  names: readonly Name[],
): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Pick<T, Name>;
}

/** Fields of a partial update: an absent one is `undefined`, whatever its default is. */
export type Partially<F extends Fields> = { readonly [K in keyof F]: z.ZodType<z.output<F[K]> | undefined> };

/**
 * Makes the fields for a partial update: every field is optional and has no default, so that an absent one changes
 * nothing.
 */
export function partially<F extends Fields>(fields: F): Partially<F> {
  const entries = Object.entries(fields).map(([name, field]) => {
    const inner = field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
    // The description and the examples are of the field, not of the schema below its default.
    return [name, inner.optional().meta(z.globalRegistry.get(field) ?? {})];
  });
  return Object.fromEntries(entries) as Partially<F>;
}

/** The report and the pattern budget as the checks of one object see them; paths are relative to the object. */
export interface FormScope {
  /** Adds an error; the object is refused. */
  error(path: FieldPath, problem: Problem): void;
  /** Adds a warning; the object is still accepted. */
  warn(path: FieldPath, problem: Problem): void;
  /** Adds an error at a write; a warning for a stored object, which an earlier version may have accepted. */
  refuse(path: FieldPath, problem: Problem): void;
  /** Checks regexes against the budget of the domain. */
  readonly patterns: PatternBook;
  /** Whether the report is full; a check may stop then. */
  full(): boolean;
}

/** A check over one or several fields of one object. */
export interface CrossCheck {
  /**
   * Names of the fields that the check reads. It runs only when all are well-formed. INVARIANT: it reads no other
   * field.
   */
  readonly needs: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: the values' type is known where the check is made
  readonly run: (values: any, scope: FormScope) => void;
  /** The check reads the values as they were written, before conversions; absent fields have no default. */
  readonly asWritten?: boolean;
  /**
   * The check refuses an object because fields are absent or empty; it is skipped beside an unknown, maybe misspelt,
   * field.
   */
  readonly ofAbsence?: boolean;
}

/** Makes a cross check whose `run` is typed by the values it reads. */
export function crossCheck<V>(
  needs: readonly (keyof V & string)[],
  run: (values: V, scope: FormScope) => void,
): CrossCheck {
  return { needs, run };
}

/** The form of one kind of object: its fields, the conditions across them, and the shape it is stored in. */
export interface Form<F extends Fields, Out> {
  readonly fields: F;
  /** Fields that only answers carry: accepted and ignored, so that what was read can be sent back (semantics §6). */
  readonly ignored: readonly string[];
  /** Field names of nested objects, by the field that contains them; used to suggest a name for an unknown one. */
  readonly nested: Readonly<Record<string, readonly string[]>>;
  /** The checks across fields, in the order of their diagnostics. */
  readonly checks: readonly CrossCheck[];
  /** Converts valid values to the stored shape; called only without errors. */
  readonly finish: (values: FormValues<F>) => Out;
  /** The zod object of all fields, built once per form. */
  readonly schema: z.ZodObject<F>;
}

/** A form without its derived parts; `nested` and `checks` default to none. */
interface FormParts<F extends Fields, Out> {
  readonly fields: F;
  readonly ignored: readonly string[];
  readonly nested?: Readonly<Record<string, readonly string[]>>;
  readonly checks?: readonly CrossCheck[];
  readonly finish: (values: FormValues<F>) => Out;
}

/** Makes a form from its parts. */
export function form<F extends Fields, Out>(parts: FormParts<F, Out>): Form<F, Out> {
  return { nested: {}, checks: [], ...parts, schema: z.object(parts.fields) };
}

/** The surroundings of one object to read. */
export interface ReadContext {
  /** Receives the diagnostics. */
  readonly report: Report;
  /** The pattern budget that the object shares with the rest of its domain. */
  readonly patterns: PatternBook;
  /** The path of the object in the whole input. */
  readonly path: FieldPath;
  /** Whether the object is already stored, and so was accepted, perhaps by an earlier version; default `false`. */
  readonly stored?: boolean;
}

/**
 * Reads one object by its form: first each field on its own, then the checks across the fields that are well-formed.
 * Returns the stored values, or `null` after an error; the report has all errors and warnings. Never throws for plain
 * data (`plainCopy`).
 */
export function readForm<F extends Fields, Out>(
  { fields, ignored, nested, checks, finish, schema }: Form<F, Out>,
  input: unknown,
  { report, patterns, path, stored = false }: ReadContext,
): Out | null {
  const before = report.errors();
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    report.add('error', path, {
      code: 'invalid_type',
      message: 'must be an object',
      found: describeKind(input),
    });
    return null;
  }
  const unknown = Object.keys(input).filter(
    (name) => !Object.hasOwn(fields, name) && !ignored.includes(name),
  );
  /** Known fields that the input very likely has under a misspelt name. */
  const misspelt = new Set<string>();
  let listed = false;
  for (const name of unknown) {
    if (report.full()) break;
    const value = (input as Record<string, unknown>)[name];
    const { problem, meant, lists } = unknownField({ name, value, known: Object.keys(fields) });
    if (meant !== null) misspelt.add(meant);
    report.add('error', [...path, name], lists && listed ? withoutRemedy(problem) : problem);
    listed ||= lists;
  }
  const result = schema.safeParse(input);
  const failed = new Set<string>();
  if (!result.success) {
    for (const issue of result.error.issues) {
      const name = String(issue.path[0]);
      failed.add(name);
      // The unknown field is reported already; a second report of the missing one would only repeat it.
      if (misspelt.has(name) && !Object.hasOwn(input, name)) continue;
      for (const mistake of readIssue(issue, input, nested)) {
        report.add('error', [...path, ...mistake.path], mistake.problem);
      }
    }
  }
  const values = result.success ? result.data : readWellFormed(fields, input, failed);
  const scope: FormScope = {
    error: (below, problem) => report.add('error', [...path, ...below], problem),
    warn: (below, problem) => report.add('warning', [...path, ...below], problem),
    refuse: (below, problem) => report.add(stored ? 'warning' : 'error', [...path, ...below], problem),
    patterns,
    full: report.full,
  };
  for (const name of misspelt) failed.add(name);
  for (const check of checks) {
    // The unknown field may be the one that seems absent, under a misspelt name.
    if (check.ofAbsence === true && unknown.length > 0) continue;
    if (!check.needs.some((name) => failed.has(name)))
      check.run(check.asWritten === true ? input : values, scope);
  }
  return report.errors() > before || !result.success ? null : finish(result.data);
}

/** The problem without its remedy. */
function withoutRemedy({ remedy: _remedy, ...problem }: Problem): Problem {
  return problem;
}

/** The values of the well-formed fields, so that the checks across them run although other fields failed. */
function readWellFormed(fields: Fields, input: object, failed: ReadonlySet<string>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(fields)) {
    if (failed.has(name)) continue;
    const given = Object.hasOwn(input, name) ? (input as Record<string, unknown>)[name] : undefined;
    values[name] = schema.safeParse(given).data;
  }
  return values;
}

// Copies any value to plain data before the schemas read it, so that no getter or proxy of the value can throw during
// the read or return different values to two reads.

/** Levels that are copied in any case: the deepest value but schemas of bodies is `rules[i].conditions.headers[j].values[k]`. */
const USUAL = 8;
/** Levels that are copied: schemas of bodies begin at the eighth and have at most `MAX_BODY_SCHEMA_DEPTH`. */
const DEEPEST = USUAL + MAX_BODY_SCHEMA_DEPTH + 1;
/** Objects and lists that are copied below the usual levels: twice what a file has values. Circular data would have no end. */
const MOST_DEEP = 2 * MAX_FILE_VALUES;
/**
 * Entries of a list that are copied, and one more: ten times the longest list any schema accepts, so its length is
 * still refused.
 */
const LONGEST = 100_000;

/**
 * Copies the own enumerable properties of `value`. Below `DEEPEST` levels, and beyond `MOST_DEEP`, as in circular data, every
 * object becomes an empty one: such schemas are refused for their depth or size, and nothing else reads it. `null` when a property cannot be read at all (a throwing getter, a revoked proxy).
 */
export function plainCopy(value: unknown): { readonly value: unknown } | null {
  try {
    return { value: copy(value, 0, { left: MOST_DEEP }) };
  } catch {
    // Only code of the value itself (a getter, a proxy trap) can throw inside `copy`.
    return null;
  }
}

/** Copies one value; `depth` counts the levels above it, `deep` the objects that may be copied below the usual ones. */
function copy(value: unknown, depth: number, deep: { left: number }): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST || (depth >= USUAL && --deep.left < 0)) return {};
  if (Array.isArray(value)) {
    const entries: unknown[] = [];
    const length = Math.min(value.length, LONGEST + 1);
    for (let index = 0; index < length; index++) entries.push(copy(value[index], depth + 1, deep));
    return entries;
  }
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const field = copy((value as Record<string, unknown>)[name], depth + 1, deep);
    if (name !== '__proto__') fields[name] = field;
    // An assignment to `__proto__` would set the prototype instead of a property.
    else
      Object.defineProperty(fields, name, {
        value: field,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return fields;
}
