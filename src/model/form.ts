/** What a rule type's file declares, and the reading of one object by it. */
import { z } from 'zod';
import { describeKind, type FieldPath } from '../base/diagnostic.ts';
import { nearest } from './nearest.ts';
import type { PatternBook } from './pattern.ts';
import { type Problem, type Report, readIssue, unknownField } from './report.ts';

export type Fields = Readonly<Record<string, z.ZodType>>;

/** The values of a set of fields, with defaults filled in. */
export type FormValues<F extends Fields> = z.output<z.ZodObject<F>>;

/** Values that nothing may change. */
type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

/** The values of a set of fields as they are stored. */
export type Stored<F extends Fields> = Immutable<FormValues<F>>;

/** Some fields of an object, in the order of `names`. */
export function pick<T extends object, Name extends keyof T & string>(
  values: T,
  names: readonly Name[],
): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Pick<T, Name>;
}

/** Fields of a partial update: an absent one is `undefined`, whatever its default is. */
export type Partially<F extends Fields> = { readonly [K in keyof F]: z.ZodType<z.output<F[K]> | undefined> };

/** The fields for a partial update of the object that `fields` describe. */
export function partially<F extends Fields>(fields: F): Partially<F> {
  const entries = Object.entries(fields).map(([name, field]) => {
    const inner = field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
    return [name, inner.optional()];
  });
  return Object.fromEntries(entries) as Partially<F>;
}

/** Where one object's mistakes go; paths are relative to the object. */
export interface FormScope {
  error(path: FieldPath, problem: Problem): void;
  warn(path: FieldPath, problem: Problem): void;
  /** An error at a write, a warning of what was stored before this version refused it. */
  refuse(path: FieldPath, problem: Problem): void;
  readonly patterns: PatternBook;
  full(): boolean;
}

/** A condition over several fields of one object. */
export interface CrossCheck {
  /** Runs only when all of these are well-formed; INVARIANT: it reads no other field. */
  readonly needs: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: the values' type is known where the check is made
  readonly run: (values: any, scope: FormScope) => void;
  /** Refuses an object for all that it does not have. */
  readonly ofAbsence?: boolean;
}

/** A cross check over values of a known type. */
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
  /** Field names of the objects inside, by the field that holds them. */
  readonly nested: Readonly<Record<string, readonly string[]>>;
  readonly checks: readonly CrossCheck[];
  readonly finish: (values: FormValues<F>) => Out;
  readonly schema: z.ZodObject<F>;
}

interface FormParts<F extends Fields, Out> {
  readonly fields: F;
  readonly ignored: readonly string[];
  readonly nested?: Readonly<Record<string, readonly string[]>>;
  readonly checks?: readonly CrossCheck[];
  readonly finish: (values: FormValues<F>) => Out;
}

export function form<F extends Fields, Out>(parts: FormParts<F, Out>): Form<F, Out> {
  return { nested: {}, checks: [], ...parts, schema: z.object(parts.fields) };
}

export interface ReadContext {
  readonly report: Report;
  readonly patterns: PatternBook;
  /** Where the object stands in the whole input. */
  readonly path: FieldPath;
  /** The object was accepted once, perhaps by an earlier version. */
  readonly stored?: boolean;
}

/**
 * Reads one object by its form: every field by itself, then the conditions across the fields that are well-formed.
 * `null` when there was an error; all of them are in the report.
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
  const strange = Object.keys(input).filter(
    (name) => !Object.hasOwn(fields, name) && !ignored.includes(name),
  );
  /** Fields that are very likely there under a misspelt name. */
  const meant = new Set<string>();
  for (const name of strange) {
    if (report.full()) break;
    const near = nearest(name, Object.keys(fields));
    if (near !== null) meant.add(near);
    report.add('error', [...path, name], unknownField(near));
  }
  const result = schema.safeParse(input);
  const failed = new Set<string>();
  if (!result.success) {
    for (const issue of result.error.issues) {
      const name = String(issue.path[0]);
      failed.add(name);
      if (meant.has(name) && !Object.hasOwn(input, name)) continue;
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
  for (const name of meant) failed.add(name);
  for (const check of checks) {
    // What seems to be absent may be what the strange name stands for.
    if (check.ofAbsence === true && strange.length > 0) continue;
    if (!check.needs.some((name) => failed.has(name))) check.run(values, scope);
  }
  return report.errors() > before || !result.success ? null : finish(result.data);
}

/** The values of the fields that were well-formed, so that the conditions across them are still told. */
function readWellFormed(fields: Fields, input: object, failed: ReadonlySet<string>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(fields)) {
    if (failed.has(name)) continue;
    const given = Object.hasOwn(input, name) ? (input as Record<string, unknown>)[name] : undefined;
    values[name] = schema.safeParse(given).data;
  }
  return values;
}
