/**
 * Names the rules and records of an edge file for state that outlives a request (counters, clearances, origin
 * health). An id that was assigned by position changes when lines are inserted, so a rule is identified by its
 * `key`, else by the id that the author wrote, else by `~` and a hash of its type and content; equal rules are
 * numbered in file order. Priority, `enabled` and `action_mode` are not part of the hash: changing them keeps the
 * identity (semantics §7).
 */
import { utf8Bytes } from '../../base/octets/octets.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import type { DnsRecord, ObjectKeys, Rule, RuleSet } from '../model/types.ts';

/** What the file states beyond the rule set. */
export interface Written {
  /** The `key` of the rule with this id; `null` if it has none. */
  keyOf(rule: number): string | null;
  /** Rule ids that are written in the file. */
  readonly ruleIds: ReadonlySet<number>;
  /** Record ids that are written in the file. */
  readonly recordIds: ReadonlySet<number>;
}

/** Computes the keys of a rule set. A rule or record that is identified by its written id has no entry. */
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

/** The hash, made distinct: the second rule of equal content gets `~…-2`. */
function distinct(prefix: string, hash: string, taken: Set<string>): string {
  let key = hash;
  for (let count = 2; taken.has(prefix + key); count++) key = `${hash}-${count}`;
  taken.add(prefix + key);
  return key;
}

/** What identifies a record: name, type and destination. */
function recordText({ name, type, destination }: DnsRecord): string {
  return JSON.stringify([name, type, destination]);
}

/**
 * What identifies a rule: its content, with each record in its scope by that record's own text instead of its id.
 */
function ruleText(rule: Rule, records: ReadonlyMap<number, string>): string {
  const { id, priority, enabled, action_mode, record_ids, ...content } = rule;
  const scope = record_ids.map((record) => records.get(record) ?? '').sort();
  return JSON.stringify([Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)), scope]);
}

/** `~` and 48 bits of XXH32 in hexadecimal: 32 of the text, 16 of a second pass seeded with the first. */
function hashOf(text: string): string {
  const octets = utf8Bytes(text);
  const first = xxhash32(octets);
  const hex = (value: number): string => value.toString(16).padStart(8, '0');
  return `~${hex(first)}${hex(xxhash32(octets, first)).slice(0, 4)}`;
}
