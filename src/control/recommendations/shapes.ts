/** The schemas of recommendations, one for each `kind`, and the type of what families return before it is printed. */
import { z } from 'zod';
import type { DnsRecord, Rule } from '../../rules/model/types.ts';
import { MAX_CHANGES_SHOWN, MAX_EXAMPLES, MAX_NAMES_SHOWN, MAX_OPERATIONS_SHOWN } from './limits.ts';

const time = z.iso.datetime();
const count = z.int().min(0);
/** A part of 1. */
const share = z.number().min(0).max(1);
const rule = z
  .string()
  .describe('`<type>/<id>` of the rule')
  .meta({ examples: ['drop/57'] });
const unchangedSince = time.describe('the last change of the rule');

/** The period that counts or entries are of. */
const PERIOD = {
  from: time.describe('start of the period, inclusive'),
  to: time.describe('end of the period, exclusive'),
} as const;

const FIX = z
  .object({
    summary: z.string().describe('what the change does'),
    edge_yaml: z
      .string()
      .describe('the change as a fragment of an edge file, which `edgeplan apply -f` takes as it is'),
    command: z.string().describe('the command that makes the change'),
  })
  .meta({ id: 'RecommendationFix' });

/** The schema of one kind; `evidence`: the facts that it is computed from. */
function kindOf<const Kind extends string, Evidence extends z.ZodObject>(
  kind: Kind,
  { about, evidence }: { readonly about: string; readonly evidence: Evidence },
) {
  return z
    .object({
      id: z.string().describe('`<kind>:<object>`, the same for the same facts'),
      kind: z.literal(kind),
      severity: z
        .enum(['error', 'warning', 'info'])
        .describe('`error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better'),
      message: z.string().describe('one sentence for people'),
      evidence,
      fix: FIX.nullable().describe('the proposed change; `null`: no change of edge rules or records helps'),
    })
    .describe(about);
}

const CHANGE = z.object({
  from: z.string(),
  to: z.string(),
  instead: z.string().nullable(),
  requests: count,
});

/** The evidence of a dry_run rule. */
const DRY_RUN = z
  .object({
    rule,
    unchanged_since: unchangedSince,
    ...PERIOD,
    requests: count.describe('requests of the domain'),
    hits: count.describe('requests that the rule matched'),
    would_change: count.describe('requests whose decision it would have changed'),
    share: share.describe('of the requests of the domain that it would have changed'),
    changes: z
      .array(CHANGE)
      .describe(`those by change, the most requests first, at most ${MAX_CHANGES_SHOWN}`),
  })
  .meta({ id: 'DryRunEvidence' });

const UNUSED = kindOf('unused_rule', {
  about: 'an enabled rule that no request has matched in 30 days',
  evidence: z.object({
    rule,
    unchanged_since: unchangedSince,
    ...PERIOD,
    traffic_days: count.describe('days of the period with requests'),
    requests: count.describe('requests of the domain'),
    hits: z.literal(0).describe('requests that the rule matched'),
  }),
});

const READY = kindOf('dry_run_ready', {
  about: 'a dry_run rule that a week of would-haves recommends to enforce',
  evidence: DRY_RUN,
});
const WITHOUT_EFFECT = kindOf('dry_run_without_effect', {
  about: 'a dry_run rule that matches, and whose matches change no decision',
  evidence: DRY_RUN.extend({
    hidden_at_most: count.describe(
      'matches, at most, whose effect is not known because another dry_run rule changed the decision',
    ),
  }).meta({ id: 'IdleDryRunEvidence' }),
});
const TOO_BROAD = kindOf('dry_run_too_broad', {
  about: 'a dry_run rule that would refuse too many requests',
  evidence: DRY_RUN,
});

const FALSE_POSITIVE = kindOf('waf_false_positive', {
  about: 'a signature that blocks, or would block, ordinary requests of many visitors',
  evidence: z.object({
    rule,
    signature: z.int().describe('the id of the signature'),
    ...PERIOD,
    entries: count.describe('log entries of blocked requests of the rule that were read'),
    requests: count.describe('those that the signature scored in these places'),
    visitors: count.describe('networks that they came from: IPv4 addresses and IPv6 /64'),
    hours: count.describe('different hours in which they came'),
    own_pages: count.describe('those that a page of the domain led to'),
    reasons: z
      .array(z.string())
      .describe('what speaks for a false positive, and what does not, as `edgeplan waf tune` states it'),
    places: z.array(
      z.object({
        path: z.string().describe('a wildcard over canonical paths'),
        target: z.string(),
        requests: count,
        let_through: count.describe('those that all exclusions proposed for the rule let through'),
        attacks: count.describe('likely attacks among the latter'),
      }),
    ),
    examples: z.array(z.string()).describe(`ids of log entries, at most ${MAX_EXAMPLES}`),
  }),
});

const SPLIT = kindOf('split_cache_key', {
  about: 'query parameters that split the cache and change no response',
  evidence: z.object({
    rule,
    ...PERIOD,
    entries: count.describe('log entries of the rule that were read, a sample of its requests'),
    misses: count.describe('those whose response was not in the cache'),
    split_misses: count.describe('misses with at least one of the parameters'),
    parameters: z.array(
      z.object({
        name: z.string(),
        reason: z
          .enum(['tracking', 'unique'])
          .describe(
            '`tracking`: known to be for statistics; `unique`: nearly every request has another value, and the responses are alike',
          ),
        misses: count,
        values: count.describe('different values'),
      }),
    ),
    other_parameters: z.array(z.string()).describe('the other parameters that the entries have'),
  }),
});

const UNCOVERED = kindOf('uncovered_names', {
  about: 'proxied names that no valid certificate covers',
  evidence: z.object({
    names: z.array(z.string()).describe(`at most ${MAX_NAMES_SHOWN}`),
    of: count.describe('the number of all such names'),
    certificates: count.describe('valid certificates of the domain'),
  }),
});

const CERTIFICATE = kindOf('expiring_certificate', {
  about: 'a certificate that has expired or does so soon',
  evidence: z.object({
    certificate: z.int().describe('its id'),
    names: z.array(z.string()).describe(`at most ${MAX_NAMES_SHOWN}`),
    expires_at: time,
  }),
});

const EXPOSED = kindOf('exposed_origin', {
  about: 'a public record that leads to an origin past the edge',
  evidence: z.object({
    record: z.int().describe('the id of the record that is not proxied'),
    name: z.string(),
    type: z.string(),
    destination: z.string(),
    proxied_names: z.array(z.string()).describe(`proxied names of that origin, at most ${MAX_NAMES_SHOWN}`),
    needed_by: z.array(z.string()).describe('records and rules that name it, such as `MX @`'),
  }),
});

const KEY = kindOf('expiring_key', {
  about: 'an API key of the account that asks, which expires soon',
  evidence: z.object({
    key: z.int().describe('its id'),
    name: z.string(),
    expires_at: time,
    last_used_at: time.nullable(),
  }),
});

const MISTAKEN = kindOf('mistaken_rule', {
  about: 'a finding of lint that visitors or attackers notice',
  evidence: z.object({
    rule,
    code: z.string().describe('the code of the finding'),
    fields: z.array(z.string()).describe('where it is in the rule'),
    finding: z.string().describe('what is wrong'),
    remedy: z.string().nullable(),
  }),
});

const CIRCLE = kindOf('redirect_circle', {
  about: 'redirects of several rules that lead from one to the next and back to the first',
  evidence: z.object({
    rules: z.array(z.string()).describe('`<type>/<id>` of each rule, in the order of the way'),
    urls: z.array(z.string()).describe('what each of these rules redirects, in the same order'),
  }),
});

const UNKNOWN = kindOf('unknown_operations', {
  about: 'operations that the traffic of a gateway shows and that the gateway does not have',
  evidence: z.object({
    rule,
    ...PERIOD,
    requests: count.describe('requests of these operations, at least'),
    of: count.describe('the number of all such operations'),
    operations: z
      .array(z.object({ operation: z.string().describe('such as `GET /orders/{orderId}`'), requests: count }))
      .describe(`the most requests first, at most ${MAX_OPERATIONS_SHOWN}`),
  }),
});

const UNUSED_OPERATIONS = kindOf('unused_operations', {
  about: 'operations of a gateway that no request has called in 30 days',
  evidence: z.object({
    rule,
    unchanged_since: unchangedSince,
    ...PERIOD,
    requests: count.describe('requests of the gateway'),
    of: count.describe('the number of all such operations'),
    operations: z.array(z.string()).describe(`ids or paths, at most ${MAX_OPERATIONS_SHOWN}`),
  }),
});

const UNUSED_KEYS = kindOf('unused_consumer_keys', {
  about: 'keys of consumers that were not used in 90 days',
  evidence: z.object({
    before: time.describe('when each was made, and used last if ever'),
    of: count.describe('the number of all such keys'),
    keys: z
      .array(
        z.object({
          key: z.int().describe('its id'),
          name: z.string(),
          consumer: z.string().describe('the username'),
          created_at: time,
          last_used_at: time.nullable().describe('null: no use is known'),
        }),
      )
      .describe(`at most ${MAX_NAMES_SHOWN}`),
  }),
});

/** One recommendation. */
export const RECOMMENDATION = z
  .union([
    UNUSED,
    READY,
    WITHOUT_EFFECT,
    TOO_BROAD,
    FALSE_POSITIVE,
    SPLIT,
    UNCOVERED,
    CERTIFICATE,
    EXPOSED,
    KEY,
    MISTAKEN,
    CIRCLE,
    UNKNOWN,
    UNUSED_OPERATIONS,
    UNUSED_KEYS,
  ])
  .meta({ id: 'Recommendation' });

/** One recommendation as the API shows it. */
export type Recommendation = z.output<typeof RECOMMENDATION>;

/** A change of stored objects: each of them as it is to be, whole. */
export interface ProposedChange {
  readonly summary: string;
  readonly rules?: readonly Rule[];
  readonly records?: readonly DnsRecord[];
}

/** What a family returns: a recommendation whose change is not printed yet. */
type DraftOf<One> = One extends { readonly kind: infer Kind; readonly evidence: infer Evidence }
  ? {
      readonly kind: Kind;
      readonly evidence: Readonly<Evidence>;
      readonly severity: Recommendation['severity'];
      readonly message: string;
      /** What it is about, once for each kind: `drop/57`. */
      readonly subject: string;
      readonly change: ProposedChange | null;
    }
  : never;

/** A recommendation of any kind before it is printed. */
export type DraftRecommendation = DraftOf<Recommendation>;
