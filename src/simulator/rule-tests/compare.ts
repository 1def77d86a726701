/** What was got, in the words tests are written in, and where it is not what was expected. */
import type { Decision, ErrorPageAnswer } from '../../evaluator/decision.ts';
import { forwardedUrl } from '../describe.ts';
import type { Expectation } from './expectation.ts';
import type { ExpectedFields } from './expected-fields.ts';
import type { RuleNames } from './names.ts';

/** A field that is not as expected. */
export interface Difference {
  /** `origin.hostHeader`. */
  readonly field: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** A decision as a test would expect it. */
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

/** An error page's answer as a test would expect it; `null` is the shadow of a request no dry_run rule matched. */
export function describePage(answer: ErrorPageAnswer | null, names: RuleNames): string {
  if (answer === null) return 'nothing';
  const { page } = answer;
  return page === null ? 'no page' : `page ${page.kind} by ${names.nameOf(page.rule)}`;
}

/** Every field in which `got` is not as expected; empty when it is. */
export function compare({ fields }: Expectation, got: object | null): readonly Difference[] {
  if (fields !== null)
    return got === null ? [{ field: '', expected: fields, got }] : differences(fields, got, '');
  return got === null ? [] : [{ field: '', expected: null, got }];
}

function differences(expected: ExpectedFields, got: object, path: string): readonly Difference[] {
  const held = got as ExpectedFields;
  return Object.entries(expected).flatMap(([key, value]): readonly Difference[] => {
    const field = path === '' ? key : `${path}.${key}`;
    const actual = held[key];
    if (typeof value !== 'object' || value === null) {
      return Object.is(value, actual) ? [] : [{ field, expected: value, got: actual }];
    }
    const comparable = typeof actual === 'object' && actual !== null && sameShape(value, actual);
    return comparable
      ? differences(value as ExpectedFields, actual, field)
      : [{ field, expected: value, got: actual }];
  });
}

/** Lists must be whole: as many entries as expected. */
function sameShape(expected: object, got: object): boolean {
  if (!Array.isArray(expected)) return !Array.isArray(got);
  return Array.isArray(got) && got.length === expected.length;
}
