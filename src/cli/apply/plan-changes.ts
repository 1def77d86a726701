/**
 * What has to change on a server for a domain to be as an edge file says. In: the file's wishes and the domain as it
 * is. Out: the changes in an order that is safe to make them in. Pure.
 *
 * A file's records are told by name, type and data. The API has no field for a rule's `key`, so rules are told by what
 * they are: the same in everything; the same `name`; the same filters. Only where the file is the whole truth
 * (`prune`) is a rule of the same type and priority taken for an earlier version of it, for there it would be deleted
 * anyway. With `ids`, the file's ids are the server's and come before all of that.
 */
import { RULE_TYPES, type RuleType } from '../../base/vocabulary.ts';
import { same, shortRecord, shortRule } from '../../files/print-edge.ts';
import { absoluteName } from '../../model/record-name.ts';
import type { DnsRecord, Rule } from '../../model/types.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import type { DesiredState } from './desired-state.ts';
import { contentOf, ruleSigns, type ScopeTexts, scopeTexts } from './pair-rules.ts';
import { type Paired, pairUp, type Sign } from './pair-up.ts';
import { ruleOrderConflicts } from './rule-order.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface FieldChange {
  readonly name: string;
  /** Absent: there was nothing, or will be nothing. */
  readonly before?: unknown;
  readonly after?: unknown;
}

interface Told {
  readonly verb: 'create' | 'update' | 'delete';
  /** For people: `record shop A`, `rule drop/41`. */
  readonly title: string;
  readonly fields: readonly FieldChange[];
}

/** `record_ids` of a wanted rule are the file's; `execute-changes.ts` puts the server's in their place. */
export type PlannedChange =
  | (Told & { readonly noun: 'domain'; readonly verb: 'update'; readonly after: Fields })
  | (Told & { readonly noun: 'record'; readonly verb: 'create'; readonly after: DnsRecord })
  | (Told & {
      readonly noun: 'record';
      readonly verb: 'update';
      readonly before: DnsRecord;
      readonly after: DnsRecord;
    })
  | (Told & { readonly noun: 'record'; readonly verb: 'delete'; readonly before: DnsRecord })
  | (Told & { readonly noun: 'rule'; readonly verb: 'create'; readonly after: Rule })
  | (Told & { readonly noun: 'rule'; readonly verb: 'update'; readonly before: Rule; readonly after: Rule })
  | (Told & { readonly noun: 'rule'; readonly verb: 'delete'; readonly before: Rule });

export interface ChangePlan {
  /** In the order in which they are made. */
  readonly changes: readonly PlannedChange[];
  /** Titles of what the server has and the file has not, and what is left alone. */
  readonly leftAlone: readonly string[];
  /** What the server cannot be brought to, as sentences. */
  readonly warnings: readonly string[];
  /** Server ids of the file's records that are there already, by the file's ids. */
  readonly recordIds: ReadonlyMap<number, number>;
}

export interface PlanOptions {
  /** The file's ids are the server's. */
  readonly ids: boolean;
  /** What the file does not have is deleted. */
  readonly prune: boolean;
}

/** Compares a file with a server. */
export function planChanges(wanted: DesiredState, remote: RemoteDomain, options: PlanOptions): ChangePlan {
  const records = pairRecords(wanted, remote, options);
  const recordIds = new Map([...records.pairs].map(([ours, theirs]) => [ours.id, theirs.id]));
  const scopes = scopeTexts(remote, recordIds);
  const rules = pairUp(wanted.rules, remote.rules, ruleSigns(scopes, options));
  const recordChanges = changesOfRecords(wanted, records);
  const ruleChanges = changesOfRules(wanted, rules, { scopes, remote });
  const goneRecords = options.prune ? records.left.map((before) => deleteRecord(before)) : [];
  const inTheWay = goneRecords.filter(({ before }) => standsInTheWay(before, recordChanges, wanted.domain));
  const goneRules = options.prune ? rules.left.map((before) => deleteRule(before, remote.records)) : [];
  return {
    changes: [
      ...changesOfSettings(wanted, remote),
      ...inTheWay,
      ...recordChanges.filter(({ verb }) => verb === 'update'),
      ...inFileOrder(recordChanges),
      ...ruleChanges.filter(({ verb }) => verb === 'update'),
      ...RULE_TYPES.flatMap((type) => inFileOrder(ruleChanges.filter((change) => isOfType(change, type)))),
      ...goneRules,
      ...goneRecords.filter((change) => !inTheWay.includes(change)),
    ],
    leftAlone: options.prune ? [] : [...records.left.map(recordTitle), ...rules.left.map(ruleTitle)],
    warnings: ruleOrderConflicts(wanted.rules, rules.pairs, (rule) => nameInFile(rule, wanted)),
    recordIds,
  };
}

/** What is created, by the file's ids: equal priorities run by id, so the server's ids have to rise as the file's do. */
function inFileOrder<C extends Extract<PlannedChange, { noun: 'record' | 'rule' }>>(
  changes: readonly C[],
): readonly C[] {
  const fileId = (change: C): number => (change.verb === 'delete' ? 0 : change.after.id);
  return changes.filter(({ verb }) => verb === 'create').sort((one, other) => fileId(one) - fileId(other));
}

function isOfType(change: Extract<PlannedChange, { noun: 'rule' }>, type: RuleType): boolean {
  return change.verb !== 'delete' && change.after.type === type;
}

function changesOfSettings({ settings }: DesiredState, remote: RemoteDomain): readonly PlannedChange[] {
  const fields = differences(remote.settings, settings, Object.keys(settings));
  if (fields.length === 0) return [];
  const after = Object.fromEntries(fields.map((field) => [field.name, field.after]));
  return [{ noun: 'domain', verb: 'update', title: `domain ${remote.name}`, fields, after }];
}

function pairRecords(
  { domain, records }: DesiredState,
  remote: RemoteDomain,
  { ids, prune }: PlanOptions,
): Paired<DnsRecord, DnsRecord> {
  const nameOf = ({ name }: DnsRecord): string => absoluteName(name, domain) ?? name;
  const both = (text: (record: DnsRecord) => string): Sign<DnsRecord, DnsRecord> => {
    return { wanted: text, there: text, unique: false };
  };
  return pairUp(records, remote.records, [
    ...(ids ? [both(({ id }) => String(id))] : []),
    both((record) => JSON.stringify([nameOf(record), record.type, record.destination, record.mx_priority])),
    both((record) => `${nameOf(record)} ${record.type}`),
    ...(prune ? [both(nameOf)] : []),
  ]);
}

function changesOfRecords(
  { domain, records }: DesiredState,
  { pairs }: Paired<DnsRecord, DnsRecord>,
): readonly Extract<PlannedChange, { noun: 'record' }>[] {
  return records.flatMap((after): Extract<PlannedChange, { noun: 'record' }>[] => {
    const before = pairs.get(after);
    const title = recordTitle(before ?? after);
    if (before === undefined)
      return [{ noun: 'record', verb: 'create', title, fields: created(shortRecord(after)), after }];
    const names = Object.keys(after).filter((name) => name !== 'id');
    const fields = differences(before as unknown as Fields, after as unknown as Fields, names).filter(
      // Two spellings of one name are no difference.
      ({ name }) => name !== 'name' || absoluteName(before.name, domain) !== absoluteName(after.name, domain),
    );
    return fields.length === 0 ? [] : [{ noun: 'record', verb: 'update', title, fields, before, after }];
  });
}

function deleteRecord(before: DnsRecord): Extract<PlannedChange, { noun: 'record'; verb: 'delete' }> {
  return {
    noun: 'record',
    verb: 'delete',
    title: recordTitle(before),
    fields: removed(shortRecord(before)),
    before,
  };
}

/** A CNAME that is not proxied stands alone (RFC 1034 §3.6.2), so what it cannot stand beside goes first. */
function standsInTheWay(
  gone: DnsRecord,
  changes: readonly Extract<PlannedChange, { noun: 'record' }>[],
  domain: string,
): boolean {
  const bare = ({ type, proxied }: DnsRecord): boolean => type === 'CNAME' && !proxied;
  return changes.some(
    (change) =>
      change.verb !== 'delete' &&
      absoluteName(change.after.name, domain) === absoluteName(gone.name, domain) &&
      (bare(gone) || bare(change.after)),
  );
}

function recordTitle({ name, type, destination }: DnsRecord): string {
  return `record ${name} ${type} ${destination.length > 60 ? `${destination.slice(0, 59)}…` : destination}`;
}

function changesOfRules(
  wanted: DesiredState,
  { pairs }: Paired<Rule, Rule>,
  { scopes, remote }: { readonly scopes: ScopeTexts; readonly remote: RemoteDomain },
): readonly Extract<PlannedChange, { noun: 'rule' }>[] {
  const titled = (rule: Rule, before?: Rule): string => {
    const named = nameInFile(rule, wanted);
    return before === undefined ? `rule ${named}` : `${ruleTitle(before)} (${named})`;
  };
  return wanted.rules.flatMap((after): Extract<PlannedChange, { noun: 'rule' }>[] => {
    const before = pairs.get(after);
    const scope = recordNames(after.record_ids, wanted.records);
    if (before === undefined) {
      const short = { ...(scope.length === 0 ? {} : { records: scope }), ...shortRule(after) };
      return [{ noun: 'rule', verb: 'create', title: titled(after), fields: created(short), after }];
    }
    const content = contentOf(after);
    const fields = [...differences(contentOf(before), content, Object.keys(content))];
    if (scopes.ours(after) !== scopes.theirs(before))
      fields.unshift({
        name: 'records',
        before: recordNames(before.record_ids, remote.records),
        after: scope,
      });
    if (fields.length === 0) return [];
    return [{ noun: 'rule', verb: 'update', title: titled(after, before), fields, before, after }];
  });
}

function deleteRule(before: Rule, records: readonly DnsRecord[]): Extract<PlannedChange, { noun: 'rule' }> {
  const scope = recordNames(before.record_ids, records);
  const short = { ...(scope.length === 0 ? {} : { records: scope }), ...shortRule(before) };
  return { noun: 'rule', verb: 'delete', title: ruleTitle(before), fields: removed(short), before };
}

function ruleTitle({ type, id }: Rule): string {
  return `rule ${type}/${id}`;
}

/** `drop office-only, edge.yaml:12`. */
function nameInFile(rule: Rule, { sources }: DesiredState): string {
  const source = sources.rules.get(rule.id);
  const name = source?.key ?? source?.name ?? null;
  const place = source === undefined ? '' : `, ${sources.file}:${source.line}`;
  return `${rule.type}${name === null ? '' : ` ${name}`}${place}`;
}

function recordNames(ids: readonly number[], records: readonly DnsRecord[]): readonly string[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  const names = ids.map((id) => {
    const record = byId.get(id);
    return record === undefined ? `#${id}, which is gone` : `${record.name} ${record.type}`;
  });
  return names.sort();
}

function differences(before: Fields, after: Fields, names: readonly string[]): readonly FieldChange[] {
  return names
    .filter((name) => !same(before[name], after[name]))
    .map((name) => ({ name, before: before[name], after: after[name] }));
}

function created(fields: Fields): readonly FieldChange[] {
  return Object.entries(fields).map(([name, after]) => ({ name, after }));
}

function removed(fields: Fields): readonly FieldChange[] {
  return Object.entries(fields).map(([name, before]) => ({ name, before }));
}
