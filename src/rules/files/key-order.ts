/** The canonical order of the keys of edge files: the order in which `export` prints them. */
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { domainForm } from '../model/domain.ts';
import { recordForm } from '../model/record.ts';
import { ruleForm } from '../model/rule.ts';
import { DOMAIN_SETTINGS } from '../model/settings.ts';
import { FILE_ORDER, type KeyOrders } from './test-key-order.ts';

/** The keys of `domain`: its name, its state, its settings. */
const DOMAIN_ORDER = [...Object.keys(domainForm.fields), ...Object.keys(DOMAIN_SETTINGS)];

/** The keys of a record: what identifies it first. */
const RECORD_ORDER = ['id', 'name', 'type', 'destination', ...Object.keys(recordForm.fields)];

/** The keys of a rule that come first, whatever its type. */
const RULE_HEAD = ['id', 'key', 'type', 'records', 'record_ids', 'record_id'];

/** The keys of a rule of a type; of an unknown type, those that every rule has. */
function ruleOrder(type: unknown): readonly string[] {
  const known = RULE_TYPES.find((one): one is RuleType => one === type);
  return known === undefined ? RULE_HEAD : [...RULE_HEAD, ...Object.keys(ruleForm(known).fields)];
}

/** The orders of files of either kind. */
export const FILE_ORDERS: KeyOrders = {
  file: FILE_ORDER,
  domain: DOMAIN_ORDER,
  record: RECORD_ORDER,
  rule: ruleOrder,
};
