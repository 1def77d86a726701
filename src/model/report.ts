/** Collects every mistake of one input, and puts what zod found into our words. */
import type { z } from 'zod';
import { type Diagnostic, type FieldPath, quoteValue, type Severity } from '../base/diagnostic.ts';
import { MAX_DIAGNOSTICS } from '../base/limits.ts';
import { nearest } from './nearest.ts';

/** A mistake before it has a place. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  /** What was found; absent, the value at the place is quoted; `null`, nothing is (fixed messages, missing things). */
  readonly found?: string | null;
  readonly remedy?: string;
}

/** Where mistakes are collected, up to `MAX_DIAGNOSTICS`. */
export interface Report {
  add(severity: Severity, path: FieldPath, problem: Problem): void;
  /** No more are kept: readers may stop looking. */
  full(): boolean;
  errors(): number;
  /** Everything collected, with a closing line when it is full. */
  diagnostics(): readonly Diagnostic[];
}

export function createReport(): Report {
  const kept: Diagnostic[] = [];
  let errors = 0;
  return {
    add(severity, path, problem) {
      if (severity === 'error') errors++;
      if (kept.length < MAX_DIAGNOSTICS) kept.push(place(severity, path, problem));
    },
    full: () => kept.length >= MAX_DIAGNOSTICS,
    errors: () => errors,
    diagnostics() {
      if (kept.length < MAX_DIAGNOSTICS) return kept;
      const message = `reading stopped after ${MAX_DIAGNOSTICS} mistakes; there may be more`;
      return [...kept, { code: 'too_many_mistakes', severity: 'info', path: [], message }];
    },
  };
}

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

/** A field nobody knows; `meant` is the one that probably was, as `nearest` says. */
export function unknownField(meant: string | null): Problem {
  return {
    code: 'unknown_field',
    message: 'is not a known field',
    found: null,
    ...(meant === null ? {} : { remedy: `did you mean \`${meant}\`?` }),
  };
}

/** What `checked` and our transforms leave in an issue of zod. */
type IssueParams = Problem | undefined;

/** What zod's type names are called; every number a customer writes is a whole one. */
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
 * object inside the input, by the first step of its path.
 */
export function readIssue(
  issue: z.core.$ZodIssue,
  input: unknown,
  known: Readonly<Record<string, readonly string[]>>,
): readonly { readonly path: FieldPath; readonly problem: Problem }[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code === 'unrecognized_keys') {
    const names = known[String(path[0])] ?? [];
    return issue.keys
      .slice(0, MAX_DIAGNOSTICS)
      .map((key) => ({ path: [...path, key], problem: unknownField(nearest(key, names)) }));
  }
  const value = valueAt(input, path);
  const problem = describeIssue(issue, value);
  const found = problem.found === undefined ? quoteValue(value) : problem.found;
  return [{ path, problem: { ...problem, found } }];
}

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

/** Whether text is what was expected but for its quotes. */
function isQuoted(expected: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return expected === 'number'
    ? /^-?\d+$/.test(value)
    : expected === 'boolean' && /^(?:true|false)$/.test(value);
}

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

function missing(expected: string): Problem {
  return { code: 'missing_field', message: `is missing; it must be ${expected}`, found: null };
}

function valueAt(input: unknown, path: FieldPath): unknown {
  let value = input;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
