/** The facts that recommendations are computed from: plain values, read by `read-facts.ts` and `read-entries.ts`. */
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import type { DnsRecord, Domain, Rule } from '../../rules/model/types.ts';
import type { CertificateRow, DomainRow, KeyWithUse } from '../store/rows.ts';
import type { HitSums } from '../traffic/show-hits.ts';
import type { EntryRequest } from './entry-request.ts';

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
}

/** The log entries of one rule, newest first. */
export interface RuleEntries {
  /** `<type>/<id>`. */
  readonly rule: string;
  readonly requests: readonly EntryRequest[];
}

/** Everything that is known of a domain. */
export interface StoredFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly domain: Domain;
  readonly dnsMode: DomainRow['dns_mode'];
  readonly rules: readonly RuleFact[];
  readonly records: readonly DnsRecord[];
  readonly certificates: readonly Pick<
    CertificateRow,
    'id' | 'names_json' | 'not_after' | 'renew_at' | 'error' | 'status' | 'created_at'
  >[];
  /** API keys of the account that asks. */
  readonly keys: readonly KeyWithUse[];
  /** What lint finds in the rules; the path of each begins with `rules` and the index of the rule. */
  readonly findings: readonly Diagnostic[];
  /** The last 30 days and the last 7; `null`: they are not to be read. */
  readonly month: CountedPeriod | null;
  readonly week: CountedPeriod | null;
  /** `null`: they are not to be read. */
  readonly entries: readonly RuleEntries[] | null;
  /** Whether requests of the last seven days came over TLS, as far as counts and entries were read. */
  readonly overTls: boolean;
}

/** `<type>/<id>`, as hits and log entries name a rule. */
export function ruleName({ type, id }: Pick<Rule, 'type' | 'id'>): string {
  return `${type}/${id}`;
}
