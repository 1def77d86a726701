/**
 * The canonical order of the keys of test files. A file of its own: the page prints tests and does without the forms of rules, which the
 * order of edge files follows from.
 */
import { REPEAT_KEYS, RESPONSE_KEYS, WHEN_KEYS, WITH_KEYS } from './test-schema.ts';

/** The order of keys by the place of their mapping; absent: the file has no such mapping. */
export interface KeyOrders {
  /** The keys of the file itself. */
  readonly file: readonly string[];
  readonly domain?: readonly string[];
  readonly record?: readonly string[];
  /** The keys of a rule of a type. */
  readonly rule?: (type: unknown) => readonly string[];
}

/** The keys of a file of either kind. */
export const FILE_ORDER = [
  'domain',
  'fragment',
  'entitlements',
  'records',
  'rules',
  'defaults',
  'tests',
  'invariants',
];

/** The orders of a file with tests alone. */
export const TEST_FILE_ORDERS: KeyOrders = { file: FILE_ORDER };

/** The keys of a test, a case, a step and an invariant: the request, then what is expected, then the rows. */
export const TEST_ORDER = [
  'name',
  'request',
  'when',
  'after',
  'with',
  'response',
  'repeat',
  'expect',
  'would',
  'never',
  'always',
  'cases',
  'steps',
];

/** The keys of mappings inside a test or an invariant. */
export const TEST_PARTS: Readonly<Record<string, readonly string[]>> = {
  defaults: Object.keys(WITH_KEYS),
  with: Object.keys(WITH_KEYS),
  when: Object.keys(WHEN_KEYS),
  response: Object.keys(RESPONSE_KEYS),
  repeat: Object.keys(REPEAT_KEYS),
};
