/**
 * Collects the mistakes of one input as diagnostics, and translates issues of zod into problems with a code and a
 * message of this API.
 */
import type { z } from 'zod';
import { addBounded } from '../../base/diagnostics/add-bounded.ts';
import type { DiagnosticCode } from '../../base/diagnostics/codes/codes.ts';
import {
  type Diagnostic,
  describeDiagnostic,
  type FieldPath,
  quoteValue,
} from '../../base/diagnostics/diagnostic.ts';
import type { Severity } from '../../base/diagnostics/severity.ts';
import { isObject } from '../../base/text/json-object.ts';
import { MAX_DIAGNOSTICS } from '../../base/vocabulary/limits.ts';
import { habitRemedy } from './habits.ts';
import { nearest } from './nearest.ts';

/** A mistake without its severity and field path. */
export interface Problem {
  /** Stable; clients may compare it. */
  readonly code: DiagnosticCode;
  /** Predicate of the field, lower case, without a full stop: `must be …`, `has no effect …`. */
  readonly message: string;
  /**
   * The text after "found". Absent: the value at the path is quoted; `null`: no value is shown (fixed messages, missing
   * fields).
   */
  readonly found?: string | null;
  /** An imperative that corrects the mistake. */
  readonly remedy?: string;
}

/** The diagnostics of one input, at most `MAX_DIAGNOSTICS`; further ones are counted and dropped, warnings before errors. */
export interface Report {
  /** Adds one diagnostic; `path` starts at the whole input. */
  add(severity: Severity, path: FieldPath, problem: Problem): void;
  /**
   * Whether as many errors are reported as the limit allows; readers may stop then, since the input is refused. Warnings do not count: an
   * input that is accepted is read to its end.
   */
  full(): boolean;
  /** The number of errors so far, dropped ones included; warnings do not count. */
  errors(): number;
  /** All diagnostics in the order of `add`; a full report ends with `too_many_mistakes`. */
  diagnostics(): readonly Diagnostic[];
}

/** Creates an empty report. */
export function createReport(): Report {
  const collected: Diagnostic[] = [];
  let errors = 0;
  return {
    add(severity, path, problem) {
      if (severity === 'error') errors++;
      addBounded(collected, place(severity, path, problem));
    },
    full: () => errors >= MAX_DIAGNOSTICS,
    errors: () => errors,
    diagnostics() {
      if (collected.length < MAX_DIAGNOSTICS) return collected;
      const message =
        errors >= MAX_DIAGNOSTICS
          ? `reading stopped after ${MAX_DIAGNOSTICS} mistakes; there may be more`
          : `${MAX_DIAGNOSTICS} mistakes and warnings are listed; there may be more`;
      return [...collected, { code: 'too_many_mistakes', severity: 'info', path: [], message }];
    },
  };
}

/** The diagnostic of a problem at a path; an absent or `null` `found` is left out. */
function place(severity: Severity, path: FieldPath, problem: Problem): Diagnostic {
  return {
    code: problem.code,
    severity,
    path,
    message: problem.message,
    ...(typeof problem.found === 'string' ? { found: problem.found } : {}),
    ...(problem.remedy === undefined ? {} : { remedy: problem.remedy }),
  };
}

/** Field names that a remedy lists, at most; the number of the others follows. */
const MAX_NAMED = 30;

/** An unknown field of an object. */
interface UnknownField {
  readonly name: string;
  readonly value: unknown;
  /** The fields that the object may have. */
  readonly known: readonly string[];
}

/**
 * The mistake of an unknown field, with the field that is very likely meant: by another system's habit, or by a
 * misspelling. Without one the remedy lists the known fields.
 */
export function unknownField({ name, value, known }: UnknownField): {
  readonly problem: Problem;
  /** The known field that is meant; `null`: none. */
  readonly meant: string | null;
  /** The remedy lists the known fields, which helps once per object. */
  readonly lists: boolean;
} {
  const problem: Problem = { code: 'unknown_field', message: 'is not a known field', found: null };
  const habit = habitRemedy(name, known, value);
  if (habit !== null)
    return { problem: { ...problem, remedy: habit.remedy }, meant: habit.field ?? null, lists: false };
  if (known.length === 0) return { problem, meant: null, lists: false };
  const near = nearest(name, known);
  const remedy = near === null ? `the fields are ${namesText(known)}` : `did you mean \`${near}\`?`;
  return { problem: { ...problem, remedy }, meant: near, lists: near === null };
}

/** Names in backticks, the first `MAX_NAMED` of them. */
function namesText(names: readonly string[]): string {
  const listed = names.slice(0, MAX_NAMED).map((name) => `\`${name}\``);
  const rest = names.length - listed.length;
  return listed.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/**
 * The `params` of a custom zod issue, set by `checked` and `converted` in `fields.ts`; `undefined` in issues of zod's
 * own.
 */
type IssueParams = Problem | undefined;

/** The words of messages for zod's type names; every number of the API is a whole number. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a whole number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/**
 * The mistakes in one issue of zod about `input`, each with its path below `input`. `known` names the fields of an
 * object inside the input, by the names in its path, joined by dots.
 */
export function readIssue(
  issue: z.core.$ZodIssue,
  input: unknown,
  known: Readonly<Record<string, readonly string[]>>,
): readonly { readonly path: FieldPath; readonly problem: Problem }[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  const names = known[path.filter((step) => typeof step === 'string').join('.')] ?? [];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_DIAGNOSTICS).map((key) => {
      const value = valueAt(input, [...path, key]);
      const { problem } = unknownField({ name: key, value, known: names });
      return { path: [...path, key], problem };
    });
  }
  const value = valueAt(input, path);
  const described = describeIssue(issue, value);
  const remedy = issue.code === 'invalid_type' ? listRemedy(path, value, names) : null;
  const problem = remedy === null ? described : { ...described, remedy };
  const found = problem.found === undefined ? quoteValue(value) : problem.found;
  return [{ path, problem: { ...problem, found } }];
}

/** What to write where a list and an object with lists were confused; `null`: they were not. */
function listRemedy(path: FieldPath, value: unknown, names: readonly string[]): string | null {
  if (Array.isArray(value)) return names.includes('includes') ? 'write `{ includes: […] }`' : null;
  const isMethods = path.at(-2) === 'conditions' && path.at(-1) === 'methods';
  return isMethods && isObject(value) && 'excludes' in value ? 'list them in `except_methods`' : null;
}

/** The problem of one zod issue; `value` is the input at its path. Unexpected codes give a generic message. */
function describeIssue(issue: z.core.$ZodIssue, value: unknown): Problem {
  if (issue.code === 'custom') {
    const params = issue.params as IssueParams;
    return params ?? { code: 'invalid_value', message: issue.message };
  }
  if (issue.code === 'invalid_value') {
    const allowed = issue.values.map((choice) => `\`${String(choice)}\``).join(', ');
    if (value === undefined) return missing(`one of ${allowed}`);
    const meant = typeof value === 'string' ? nearest(value, issue.values.map(String)) : null;
    const message = `must be one of ${allowed}`;
    if (meant === null || meant === '') return { code: 'invalid_value', message };
    const remedy = meant === value ? 'write it without quotes' : `did you mean \`${meant}\`?`;
    return { code: 'invalid_value', message, remedy };
  }
  if (issue.code === 'invalid_type') {
    const expected = EXPECTED[issue.expected] ?? issue.expected;
    if (value === undefined) return missing(expected);
    const message = `must be ${expected}`;
    if (!isQuoted(issue.expected, value)) return { code: 'invalid_type', message };
    return { code: 'invalid_type', message, remedy: 'write it without quotes' };
  }
  if (issue.code === 'too_big' || issue.code === 'too_small') return describeBound(issue, value);
  return { code: 'invalid_value', message: 'has a value that is not allowed here' };
}

/** Whether a text would be valid without its quotes: `"10"` for a number, `"true"` for a flag. */
function isQuoted(expected: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return expected === 'number'
    ? /^-?\d+$/.test(value)
    : expected === 'boolean' && /^(?:true|false)$/.test(value);
}

/** The problem of a list with too many or too few entries, or of a number out of its range. */
function describeBound(issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall, value: unknown): Problem {
  const big = issue.code === 'too_big';
  const bound = big ? `at most ${issue.maximum}` : `at least ${issue.minimum}`;
  if (issue.origin === 'array') {
    const count = Array.isArray(value) ? value.length : 0;
    const code = big ? 'too_many' : 'too_few';
    return {
      code,
      message: `must have ${bound} ${bound.endsWith(' 1') ? 'entry' : 'entries'}`,
      found: `${count}`,
    };
  }
  return { code: 'out_of_range', message: `must be ${bound}` };
}

/** The problem of an absent field; nothing is quoted. */
function missing(expected: string): Problem {
  return { code: 'missing_field', message: `is missing; it must be ${expected}`, found: null };
}

/** The value at a path of the input; `undefined` where a step is missing. Inherited properties do not count. */
function valueAt(input: unknown, path: FieldPath): unknown {
  let value = input;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** Mistakes in one sentence, at most; the number of the others follows. */
const MAX_LISTED = 20;

/** The errors among the diagnostics: `<field path>: <what is wrong>`, several joined by `; ` (semantics §6). */
export function describeMistakes(diagnostics: readonly Diagnostic[]): string {
  const mistakes = diagnostics.filter(({ severity }) => severity === 'error').map(describeMistake);
  const rest = mistakes.length - MAX_LISTED;
  const text = [...new Set(mistakes.slice(0, MAX_LISTED))].join('; ');
  return rest > 0 ? `${text}; and ${rest} more` : text || 'the body is not what it should be';
}

/** Messages that the API document prescribes stay word for word, without a path before them. */
function describeMistake(diagnostic: Diagnostic): string {
  return diagnostic.code === 'foreign_record' ? diagnostic.message : describeDiagnostic(diagnostic);
}
