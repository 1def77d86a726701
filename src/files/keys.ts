/**
 * What the rules and records of an edge file go by. An id in a file is a place unless its author wrote it, so whatever
 * outlives a request needs something that stays when lines above come and go: a rule's `key`, else the id that was
 * written, else `~` and a hash of the type and what the rule says; equal rules are counted in the order of the file.
 * Where a rule comes in the order, whether it is enabled and whether it is enforced do not make it another rule.
 */
import { utf8Bytes } from '../base/octets.ts';
import { xxhash32 } from '../base/xxhash32.ts';
import type { DnsRecord, ObjectKeys, Rule, RuleSet } from '../model/types.ts';

/** What the file says beside the rule set. */
export interface Written {
  /** A rule's `key` by its id; `null` where it has none. */
  keyOf(rule: number): string | null;
  /** Ids that the author wrote. */
  readonly ruleIds: ReadonlySet<number>;
  readonly recordIds: ReadonlySet<number>;
}

/** The keys of a file's rule set; what goes by its id is left out. */
export function keysOf({ rules, records }: Pick<RuleSet, 'rules' | 'records'>, written: Written): ObjectKeys {
  const named = new Map(records.map((record) => [record.id, recordText(record)]));
  const taken = new Set<string>();
  const keys = new Map<number, string>();
  for (const { id, type } of rules) {
    const key = written.keyOf(id);
    if (key === null) continue;
    keys.set(id, key);
    taken.add(`${type}/${key}`);
  }
  for (const rule of rules) {
    const ownId = written.ruleIds.has(rule.id) && !taken.has(`${rule.type}/${rule.id}`);
    if (keys.has(rule.id) || ownId) continue;
    keys.set(rule.id, distinct(`${rule.type}/`, hashOf(ruleText(rule, named)), taken));
  }
  const recordKeys = new Map<number, string>();
  for (const record of records) {
    if (!record.captcha || written.recordIds.has(record.id)) continue;
    recordKeys.set(record.id, distinct('record/', hashOf(recordText(record)), taken));
  }
  return { rules: keys, records: recordKeys };
}

/** Equal content: the second is `~…-2`. */
function distinct(prefix: string, hash: string, taken: Set<string>): string {
  let key = hash;
  for (let count = 2; taken.has(prefix + key); count++) key = `${hash}-${count}`;
  taken.add(prefix + key);
  return key;
}

function recordText({ name, type, destination }: DnsRecord): string {
  return JSON.stringify([name, type, destination]);
}

/** The rule's content, with the records it is for by what they are. */
function ruleText(rule: Rule, records: ReadonlyMap<number, string>): string {
  const { id, priority, enabled, action_mode, record_ids, ...content } = rule;
  const scope = record_ids.map((record) => records.get(record) ?? '').sort();
  return JSON.stringify([Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)), scope]);
}

/** `~` and 48 bits. */
function hashOf(text: string): string {
  const octets = utf8Bytes(text);
  const first = xxhash32(octets);
  const hex = (value: number): string => value.toString(16).padStart(8, '0');
  return `~${hex(first)}${hex(xxhash32(octets, first)).slice(0, 4)}`;
}
