/** Describes a result in the short form of tests, and lists where it differs from the expectation. */
import type { Decision, ErrorPageAnswer } from '../../engine/evaluator/decision.ts';
import { forwardedUrl } from '../simulation/describe.ts';
import type { Expectation } from './expectation.ts';
import type { ExpectedFields } from './expected-fields.ts';
import type { RuleNames } from './names.ts';

/** A field that is not as expected. */
export interface Mismatch {
  /** The path of the field: `origin.hostHeader`; empty for the result as a whole. */
  readonly field: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** A decision in the short form of tests; `null` is the absent shadow. */
export function describeDecision(decision: Decision | null, names: RuleNames): string {
  if (decision === null) return 'nothing';
  const { action, status, rule, location } = decision;
  const to = action === 'forward' ? forwardedUrl(decision) : action === 'redirect' ? location : null;
  const words = [
    action,
    status,
    to === null ? null : `to ${to}`,
    rule === null ? null : `by ${names.nameOf(rule)}`,
  ];
  return words.filter((word) => word !== null).join(' ');
}

/** An error page in the short form of tests; `null`: the shadow of a request that no dry_run rule matched. */
export function describePage(answer: ErrorPageAnswer | null, names: RuleNames): string {
  if (answer === null) return 'nothing';
  const { page } = answer;
  return page === null ? 'no page' : `page ${page.kind} by ${names.nameOf(page.rule)}`;
}

/** Returns every field in which `got` differs from the expectation; empty when it meets it. */
export function compare({ fields }: Expectation, got: object | null): readonly Mismatch[] {
  if (fields !== null)
    return got === null ? [{ field: '', expected: fields, got }] : differences(fields, got, '');
  return got === null ? [] : [{ field: '', expected: null, got }];
}

/** Compares the expected fields; fields that are not expected may have any value. */
function differences(expected: ExpectedFields, got: object, path: string): readonly Mismatch[] {
  const fields = got as ExpectedFields;
  return Object.entries(expected).flatMap(([key, value]): readonly Mismatch[] => {
    const field = path === '' ? key : `${path}.${key}`;
    const actual = fields[key];
    if (typeof value !== 'object' || value === null) {
      return Object.is(value, actual) ? [] : [{ field, expected: value, got: actual }];
    }
    const comparable = typeof actual === 'object' && actual !== null && sameShape(value, actual);
    return comparable
      ? differences(value as ExpectedFields, actual, field)
      : [{ field, expected: value, got: actual }];
  });
}

/** Whether both are objects, or lists of equal length. */
function sameShape(expected: object, got: object): boolean {
  if (!Array.isArray(expected)) return !Array.isArray(got);
  return Array.isArray(got) && got.length === expected.length;
}
