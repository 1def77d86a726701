/** The facts that recommendations are computed from: plain values, read by `read-facts.ts`. */
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import { decodeEscapes } from '../../base/octets/octets.ts';
import { createTargetFacts, parseTarget } from '../../base/paths/path.ts';
import { isObject } from '../../base/text/json-object.ts';
import type { GatewayCounts } from '../../engine/counts/gateway-counts.ts';
import type { SpaceSaving } from '../../engine/counts/space-saving.ts';
import type { DnsRecord, Domain, Rule, RuleList, RuleSet } from '../../rules/model/types.ts';
import { type ObservedRequest, type ObservedVerdict, observeLine } from '../../workbench/tuning/observe.ts';
import type { UnusedKey } from '../store/registry/consumers.ts';
import type { KeyWithUse } from '../store/tables/accounts.ts';
import type { CertificateRow } from '../store/tables/certificates.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { HitSums } from '../traffic/show-hits.ts';
import { MAX_PARAM_CHARACTERS, MAX_WHOLE_TARGET } from './limits.ts';

/** A rule and the time of its last change, milliseconds since the epoch. */
export interface RuleFact {
  readonly rule: Rule;
  readonly updatedAt: number;
}

/** The counts of a period of whole days in UTC; the last one has not ended. */
export interface CountedPeriod {
  /** Milliseconds since the epoch, inclusive and exclusive. */
  readonly from: number;
  readonly to: number;
  /** Days with requests, and the start of the first of them. `null`: there are none. */
  readonly trafficDays: number;
  readonly firstDay: number | null;
  readonly requests: number;
  /** Responses by status. */
  readonly statuses: ReadonlyMap<string, number>;
  readonly sums: HitSums;
  readonly gateways: GatewayCounts;
}

/** The log entries of one rule, newest first. */
export interface RuleEntries {
  /** `<type>/<id>`. */
  readonly rule: string;
  readonly requests: readonly EntryRequest[];
}

/** The unknown operations of a period, milliseconds since the epoch. */
export interface UnknownOperationFacts {
  readonly from: number;
  readonly to: number;
  readonly list: SpaceSaving;
}

/** Keys of consumers that are in force and were not used for long. */
export interface UnusedKeyFacts {
  /** The number of all. */
  readonly of: number;
  /** Some of them, with the names of their consumers. */
  readonly keys: readonly UnusedKey[];
}

/** Everything that is known of a domain. */
export interface StoredFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly domain: Domain;
  readonly dnsMode: DomainRow['dns_mode'];
  readonly rules: readonly RuleFact[];
  readonly records: readonly DnsRecord[];
  /** The lists that rules may name; absent: none. */
  readonly lists?: readonly RuleList[];
  readonly certificates: readonly Pick<
    CertificateRow,
    'id' | 'names_json' | 'not_after' | 'renew_at' | 'error' | 'status' | 'created_at'
  >[];
  /** API keys of the account that asks. */
  readonly keys: readonly KeyWithUse[];
  /** `null`: counts are not to be read. */
  readonly consumerKeys: UnusedKeyFacts | null;
  /** What lint finds in the rules; the path of each begins with `rules` and the index of the rule. */
  readonly findings: readonly Diagnostic[];
  /** The last 30 days and the last 7; `null`: they are not to be read. */
  readonly month: CountedPeriod | null;
  readonly week: CountedPeriod | null;
  /** The last 7 days; `null`: the domain has no gateway, or counts are not to be read. */
  readonly unknownOperations: UnknownOperationFacts | null;
  /** `null`: they are not to be read. */
  readonly entries: readonly RuleEntries[] | null;
  /** Whether requests of the last seven days came over TLS, as far as counts and entries were read. */
  readonly overTls: boolean;
}

/** Some of the rules, as a rule set. */
export function ruleSetOf({ domain, records, lists }: StoredFacts, rules: readonly RuleFact[]): RuleSet {
  const named = lists === undefined ? {} : { lists };
  return { domain, records, rules: rules.map(({ rule }) => rule), ...named };
}

/** `<type>/<id>`, as hits and log entries name a rule. */
export function ruleName({ type, id }: Pick<Rule, 'type' | 'id'>): string {
  return `${type}/${id}`;
}

// Reads the line of a log entry as far as recommendations need it. In: a line, which was checked when it was stored
// (`control/logs/read-batch.ts`), and the rule whose entries are read. Out: the request, or `null` for what a node of another
// release has written in another way.

/** A query parameter; the name is percent-decoded. */
export interface EntryParameter {
  readonly name: string;
  readonly value: string;
}

/** A logged request that one rule matched. `path` is in canonical form. */
export interface EntryRequest
  extends Pick<
    ObservedRequest,
    'id' | 'at' | 'visitor' | 'agent' | 'isBot' | 'fromOwnPage' | 'path' | 'answer'
  > {
  readonly method: string;
  /** `null`: the target was cut, so that its query is not whole. */
  readonly parameters: readonly EntryParameter[] | null;
  readonly status: number;
  readonly octets: number;
  /** The cache result. */
  readonly cache: string | null;
  /** What the rule did, or would have done. */
  readonly effect: string | null;
  /** What the signatures of the rule found; `null`: the rule is no `waf` rule. */
  readonly verdict: ObservedVerdict | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads one line. `rule`: `<type>/<id>` of the rule whose entry it is. */
export function readEntryRequest(line: string, rule: string): EntryRequest | null {
  const entry = JSON.parse(line) as Fields;
  const observed = observeLine(entry);
  if (observed === null) return null;
  const request = fieldsOf(entry['request']);
  const target = textOf(request['target']);
  const facts = createTargetFacts();
  parseTarget(target, facts);
  const match = listOf(entry['matches'])
    .map(fieldsOf)
    .find((one) => one['rule'] === rule);
  const { id, at, visitor, agent, isBot, fromOwnPage, path, answer, verdicts } = observed;
  return {
    ...{ id, at, visitor, agent, isBot, fromOwnPage, path, answer },
    method: textOf(request['method']),
    parameters: target.length > MAX_WHOLE_TARGET ? null : parametersOf(facts.query),
    status: numberOf(entry['status']),
    octets: numberOf(entry['octets']),
    cache: typeof entry['cache'] === 'string' ? entry['cache'] : null,
    effect: typeof match?.['effect'] === 'string' ? match['effect'] : null,
    verdict: verdicts.find((verdict) => verdict.rule === rule) ?? null,
  };
}

/** Whether the request of a line came over TLS, at the node or at a proxy in front of it. */
export function isOverTls(line: string): boolean {
  return fieldsOf(fieldsOf(JSON.parse(line))['request'])['scheme'] === 'https';
}

/** The parameters of a query, split as for the cache key (semantics §5, cache); those with long names are left out. */
function parametersOf(query: string | null): readonly EntryParameter[] {
  if (query === null || query === '') return [];
  return query.split('&').flatMap((part) => {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const value = equals < 0 ? '' : part.slice(equals + 1);
    if (name === '' || name.length > MAX_PARAM_CHARACTERS) return [];
    return [{ name: decodeEscapes(name), value }];
  });
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
