/** The canonical order of the keys of edge files and test files: the order in which `export` prints them. */
import { RULE_TYPES, type RuleType } from '../base/vocabulary.ts';
import { domainForm } from '../model/domain.ts';
import { WHEN_FIELDS } from '../model/invariant.ts';
import { recordForm } from '../model/record.ts';
import { ruleForm } from '../model/rule.ts';
import { DOMAIN_SETTINGS } from '../model/settings.ts';
import { REPEAT_KEYS, RESPONSE_KEYS, WITH_KEYS } from './test-schema.ts';

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

/** The keys of `domain`: its name, its state, its settings. */
export const DOMAIN_ORDER = [...Object.keys(domainForm.fields), ...Object.keys(DOMAIN_SETTINGS)];

/** The keys of a record: what identifies it first. */
export const RECORD_ORDER = ['id', 'name', 'type', 'destination', ...Object.keys(recordForm.fields)];

/** The keys of a rule that come first, whatever its type. */
const RULE_HEAD = ['id', 'key', 'type', 'records', 'record_ids', 'record_id'];

/** The keys of a rule of a type; of an unknown type, those that every rule has. */
export function ruleOrder(type: unknown): readonly string[] {
  const known = RULE_TYPES.find((one): one is RuleType => one === type);
  return known === undefined ? RULE_HEAD : [...RULE_HEAD, ...Object.keys(ruleForm(known).fields)];
}

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
  when: WHEN_FIELDS,
  response: Object.keys(RESPONSE_KEYS),
  repeat: Object.keys(REPEAT_KEYS),
};
