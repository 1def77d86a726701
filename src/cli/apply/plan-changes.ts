/**
 * Plans the changes that make a domain on a server equal to an edge file. Input: the desired state and the domain
 * as it is. Output: the changes, in an order in which each is valid.
 *
 * Records are paired by name, type and data. The API has no field for a rule's `key`, so rules are paired by the lock, else
 * by content: all fields; the same `name`; the same filters. With `prune`, where unpaired rules are deleted, a rule of
 * equal type and priority is taken as an earlier version and updated instead. With `ids`, ids are compared before
 * anything else; of a fragment only objects that the server has by their ids are changed.
 */
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { shortRecord, shortRule } from '../../rules/files/print-edge.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { DnsRecord, Rule } from '../../rules/model/types.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import { type ChangeSummary, created, differences, removed } from './change.ts';
import { checkFragment, type DesiredState } from './desired-state.ts';
import { changesOfLists, deleteList, type ListChange, listConflicts, listTitle } from './list-changes.ts';
import {
  contentOf,
  type Paired,
  type PairingKey,
  type PairingOptions,
  pairUp,
  rulePairingKeys,
  type ScopeTexts,
  scopeTexts,
} from './pair-rules.ts';
import { changesOfRegistry, type RegistryChange } from './registry-changes.ts';
import { createServerTags, namesUnmade } from './server-tags.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A change. `record_ids` of a desired rule are the file's, and tags of new rules are not the server's yet; `execute-changes.ts` replaces them. */
export type PlannedChange =
  | (ChangeSummary & { readonly noun: 'domain'; readonly verb: 'update'; readonly after: Fields })
  | ListChange
  | RegistryChange
  | (ChangeSummary & { readonly noun: 'record'; readonly verb: 'create'; readonly after: DnsRecord })
  | (ChangeSummary & {
      readonly noun: 'record';
      readonly verb: 'update';
      readonly before: DnsRecord;
      readonly after: DnsRecord;
    })
  | (ChangeSummary & { readonly noun: 'record'; readonly verb: 'delete'; readonly before: DnsRecord })
  | (ChangeSummary & { readonly noun: 'rule'; readonly verb: 'create'; readonly after: Rule })
  | (ChangeSummary & {
      readonly noun: 'rule';
      readonly verb: 'update';
      readonly before: Rule;
      readonly after: Rule;
    })
  | (ChangeSummary & { readonly noun: 'rule'; readonly verb: 'delete'; readonly before: Rule });

/** The planned changes. */
export interface ChangePlan {
  /** In order of execution. */
  readonly changes: readonly PlannedChange[];
  /** Titles of objects that only the server has and that stay unchanged. */
  readonly leftAlone: readonly string[];
  /** Differences that the plan cannot remove, as sentences. */
  readonly warnings: readonly string[];
  /** Server ids of existing records, by the file's ids. */
  readonly recordIds: ReadonlyMap<number, number>;
  /** Server ids of existing rules, by the file's ids. */
  readonly ruleIds: ReadonlyMap<number, number>;
  /** Tags in rules of changes that name a rule which is to be created, with its id in the file. */
  readonly unmadeTags: ReadonlyMap<string, number>;
}

/** Options of planning. `prune` deletes objects that the file does not have. */
export type PlanOptions = PairingOptions;

/** Compares the desired state with a server and plans the changes. */
export function planChanges(desired: DesiredState, remote: RemoteDomain, options: PlanOptions): ChangePlan {
  if (desired.sources.fragment) checkFragment(desired, remote, options);
  const records = pairRecords(desired, remote, options);
  const recordIds = new Map([...records.pairs].map(([ours, theirs]) => [ours.id, theirs.id]));
  const scopes = scopeTexts(remote, recordIds);
  const { rules, translated, unmade } = pairRules(desired, remote, rulePairingKeys(scopes, options));
  const recordChanges = changesOfRecords(desired, records);
  const ruleChanges = changesOfRules({ ...desired, rules: translated }, rules, { scopes, remote });
  const waits = (change: (typeof ruleChanges)[number]): boolean =>
    change.verb === 'update' && namesUnmade(change.after, unmade);
  const deletedRecords = options.prune ? records.left.map((before) => deleteRecord(before)) : [];
  const deletedFirst = deletedRecords.filter(({ before }) =>
    conflictsWithDesired(before, recordChanges, desired.domain),
  );
  const leftLists = remote.lists.filter(({ name }) => !desired.lists.some((list) => list.name === name));
  const registry = changesOfRegistry(desired, remote, options);
  const deletedRules = options.prune ? rules.left.map((before) => deleteRule(before, remote.records)) : [];
  return {
    changes: [
      ...changesOfSettings(desired, remote),
      // Before the rules that name them.
      ...changesOfLists(desired, remote),
      ...registry.first,
      ...deletedFirst,
      ...recordChanges.filter(({ verb }) => verb === 'update'),
      ...inFileOrder(recordChanges),
      ...ruleChanges.filter((change) => change.verb === 'update' && !waits(change)),
      ...RULE_TYPES.flatMap((type) => inFileOrder(ruleChanges.filter((change) => isOfType(change, type)))),
      // A rule is named once it is made.
      ...ruleChanges.filter(waits),
      ...deletedRules,
      ...registry.last,
      ...(options.prune ? leftLists.map(deleteList) : []),
      ...deletedRecords.filter((change) => !deletedFirst.includes(change)),
    ],
    leftAlone:
      options.prune || desired.sources.fragment
        ? []
        : [
            ...records.left.map(recordTitle),
            ...leftLists.map(listTitle),
            ...rules.left.map(ruleTitle),
            ...registry.leftAlone,
          ],
    warnings: [
      ...ruleOrderConflicts(translated, rules.pairs, (rule) => nameInFile(rule, desired)),
      ...listConflicts(desired, remote),
      ...registry.warnings,
    ],
    recordIds,
    ruleIds: new Map([...rules.pairs].map(([ours, theirs]) => [ours.id, theirs.id])),
    unmadeTags: unmade,
  };
}

/** The rules of the file in its order, with tags by ids of the server, and the rules of the server that they are. */
interface PairedRules {
  readonly rules: Paired<Rule, Rule>;
  readonly translated: readonly Rule[];
  /** Tags of rules that are to be created, with their ids in the file. */
  readonly unmade: ReadonlyMap<string, number>;
}

/** Pairs rules type after type: conditions name rules of types before theirs, whose ids the pairs give. */
function pairRules(
  desired: DesiredState,
  remote: RemoteDomain,
  keys: readonly PairingKey<Rule, Rule>[],
): PairedRules {
  const tags = createServerTags(desired);
  const translated = new Map<number, Rule>();
  const pairs = new Map<Rule, Rule>();
  const left: Rule[] = [];
  for (const type of RULE_TYPES) {
    const ours = desired.rules.filter((rule) => rule.type === type).map(tags.translate);
    const theirs = remote.rules.filter((rule) => rule.type === type);
    const paired = pairUp(ours, theirs, keys);
    for (const rule of ours) translated.set(rule.id, rule);
    for (const [rule, existing] of paired.pairs) {
      pairs.set(rule, existing);
      tags.pair(rule, existing);
    }
    left.push(...paired.left);
  }
  return {
    rules: { pairs, left },
    translated: desired.rules.map(({ id }) => translated.get(id)!),
    unmade: tags.unmade,
  };
}

/**
 * Creations in the order of the file's ids: equal priorities run by id, so the server must assign ids in the same
 * order.
 */
function inFileOrder<C extends Extract<PlannedChange, { noun: 'record' | 'rule' }>>(
  changes: readonly C[],
): readonly C[] {
  const fileId = (change: C): number => (change.verb === 'delete' ? 0 : change.after.id);
  return changes.filter(({ verb }) => verb === 'create').sort((one, other) => fileId(one) - fileId(other));
}

/** Whether a change creates or updates a rule of a type. */
function isOfType(change: Extract<PlannedChange, { noun: 'rule' }>, type: RuleType): boolean {
  return change.verb !== 'delete' && change.after.type === type;
}

/** The change of the domain's settings, if any differs. */
function changesOfSettings({ settings }: DesiredState, remote: RemoteDomain): readonly PlannedChange[] {
  const fields = differences(remote.settings, settings, Object.keys(settings));
  if (fields.length === 0) return [];
  const after = Object.fromEntries(fields.map((field) => [field.name, field.after]));
  return [{ noun: 'domain', verb: 'update', title: `domain ${remote.name}`, fields, after }];
}

/** Pairs records by id (with `ids`), by content, by name and type, and with `prune` by name. */
function pairRecords(
  { domain, records }: DesiredState,
  remote: RemoteDomain,
  { ids, prune }: PlanOptions,
): Paired<DnsRecord, DnsRecord> {
  const nameOf = ({ name }: DnsRecord): string => absoluteName(name, domain) ?? name;
  const both = (text: (record: DnsRecord) => string): PairingKey<DnsRecord, DnsRecord> => {
    return { desired: text, existing: text, unique: false };
  };
  return pairUp(records, remote.records, [
    ...(ids ? [both(({ id }) => String(id))] : []),
    both((record) => JSON.stringify([nameOf(record), record.type, record.destination, record.mx_priority])),
    both((record) => `${nameOf(record)} ${record.type}`),
    ...(prune ? [both(nameOf)] : []),
  ]);
}

/** Creations and updates of records. */
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
      // Two spellings of one name are equal.
      ({ name }) => name !== 'name' || absoluteName(before.name, domain) !== absoluteName(after.name, domain),
    );
    return fields.length === 0 ? [] : [{ noun: 'record', verb: 'update', title, fields, before, after }];
  });
}

/** The deletion of a record. */
function deleteRecord(before: DnsRecord): Extract<PlannedChange, { noun: 'record'; verb: 'delete' }> {
  return {
    noun: 'record',
    verb: 'delete',
    title: recordTitle(before),
    fields: removed(shortRecord(before)),
    before,
  };
}

/**
 * Whether a deleted record conflicts with a desired one, so that it is deleted first: an unproxied CNAME excludes
 * other records of its name (RFC 1034 §3.6.2).
 */
function conflictsWithDesired(
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

/** `record shop A 192.0.2.1`, with the data cut to 60 characters. */
function recordTitle({ name, type, destination }: DnsRecord): string {
  return `record ${name} ${type} ${destination.length > 60 ? `${destination.slice(0, 59)}…` : destination}`;
}

/** Creations and updates of rules. */
function changesOfRules(
  desired: DesiredState,
  { pairs }: Paired<Rule, Rule>,
  { scopes, remote }: { readonly scopes: ScopeTexts; readonly remote: RemoteDomain },
): readonly Extract<PlannedChange, { noun: 'rule' }>[] {
  const titled = (rule: Rule, before?: Rule): string => {
    const named = nameInFile(rule, desired);
    return before === undefined ? `rule ${named}` : `${ruleTitle(before)} (${named})`;
  };
  return desired.rules.flatMap((after): Extract<PlannedChange, { noun: 'rule' }>[] => {
    const before = pairs.get(after);
    const scope = recordNames(after.record_ids, desired.records);
    if (before === undefined) {
      const short = { ...(scope.length === 0 ? {} : { records: scope }), ...shortRule(after) };
      return [{ noun: 'rule', verb: 'create', title: titled(after), fields: created(short), after }];
    }
    const content = contentOf(after);
    const names = new Set([...Object.keys(content), ...Object.keys(contentOf(before))]);
    const fields = [...differences(contentOf(before), content, [...names])];
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

/** The deletion of a rule. */
function deleteRule(before: Rule, records: readonly DnsRecord[]): Extract<PlannedChange, { noun: 'rule' }> {
  const scope = recordNames(before.record_ids, records);
  const short = { ...(scope.length === 0 ? {} : { records: scope }), ...shortRule(before) };
  return { noun: 'rule', verb: 'delete', title: ruleTitle(before), fields: removed(short), before };
}

/** `rule drop/41`. */
function ruleTitle({ type, id }: Rule): string {
  return `rule ${type}/${id}`;
}

/** `drop office-only, edge.yaml:12`. */
function nameInFile(rule: Rule, { sources }: DesiredState): string {
  const source = sources.rules.get(rule.id);
  const name = source?.key ?? source?.name ?? null;
  const place = source === undefined ? '' : `, ${source.file}:${source.line}`;
  return `${rule.type}${name === null ? '' : ` ${name}`}${place}`;
}

/** The records of a scope by name and type, sorted. */
function recordNames(ids: readonly number[], records: readonly DnsRecord[]): readonly string[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  const names = ids.map((id) => {
    const record = byId.get(id);
    return record === undefined ? `#${id}, which is gone` : `${record.name} ${record.type}`;
  });
  return names.sort();
}

// Finds rules of equal priority that run in another order on the server than in the file.

/**
 * Rules of equal priority run by id, and the server assigns ids in order of creation. Returns a sentence for each
 * type and priority whose order on the server differs from the file's.
 */
function ruleOrderConflicts(
  desired: readonly Rule[],
  pairs: ReadonlyMap<Rule, Rule>,
  nameOf: (rule: Rule) => string,
): readonly string[] {
  const ties = new Map<string, Rule[]>();
  for (const rule of desired) {
    const tie = `${rule.type} ${rule.priority}`;
    ties.set(tie, [...(ties.get(tie) ?? []), rule]);
  }
  const sentences: string[] = [];
  for (const tied of ties.values()) {
    const ordered = [...tied].sort((one, other) => one.id - other.id);
    // New rules get ids above all existing ones, in the order of the file.
    const ids = ordered.map((rule) => pairs.get(rule)?.id ?? Number.POSITIVE_INFINITY);
    const at = ids.findIndex((id, index) => index > 0 && id < ids[index - 1]!);
    if (at < 1) continue;
    const [earlier, later] = [ordered[at - 1]!, ordered[at]!];
    sentences.push(
      `${nameOf(earlier)} and ${nameOf(later)} share priority ${later.priority} and run in the other order on the ` +
        'server; give them different priorities',
    );
  }
  return sentences;
}
