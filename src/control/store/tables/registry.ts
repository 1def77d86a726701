/**
 * The registry of a domain (semantics §15): consumers with their keys, usage plans and token issuers, the fetches of issuers' keys, and
 * which sealed form is current.
 */
import { integer, json, type RowOf, shortId, table, text, time } from './describe.ts';
import { domains } from './domains.ts';

/** Who calls the gateways of a domain. */
export const consumers = table(
  'consumers',
  26,
  {
    id: shortId(),
    domain_id: integer().references(domains, 'cascade'),
    username: text(),
    custom_id: text().nullable(),
    /** The name of a usage plan; `null`: none of its own. */
    usage_plan: text().nullable(),
    /** The fields of the form, as JSON text. */
    body: json(),
    created_at: time(),
    updated_at: time(),
  },
  {
    indexes: {
      consumers_by_username: {
        on: ['domain_id', 'username'],
        unique: true,
        conflict: 'consumers.domain_id, consumers.username',
      },
      consumers_by_custom_id: {
        on: ['domain_id', 'custom_id'],
        where: 'custom_id IS NOT NULL',
        unique: true,
        conflict: 'consumers.domain_id, consumers.custom_id',
      },
      consumers_by_plan: { on: ['domain_id', 'usage_plan'], where: 'usage_plan IS NOT NULL' },
    },
  },
);

/** A consumer. */
export interface ConsumerRow extends RowOf<typeof consumers> {}

/** Keys of consumers. The text of a key is stored nowhere. */
export const consumerKeys = table(
  'consumer_keys',
  26,
  {
    id: shortId(),
    domain_id: integer().references(domains, 'cascade'),
    consumer_id: integer().references(consumers, 'cascade'),
    /** SHA-256 of the key's text, lower-case hex. */
    sha256: text(),
    /** The first characters of the text; empty: it is unknown, since the key came as its digest. */
    prefix: text(),
    /** The last four; empty as before. */
    last4: text(),
    name: text(),
    created_at: time(),
    /** `null`: never. */
    expires_at: time().nullable(),
    /** `null`: no use is known. */
    last_used_at: time().nullable(),
    /** `null`: it is in force. */
    revoked_at: time().nullable(),
  },
  {
    indexes: {
      consumer_keys_by_digest: {
        on: ['domain_id', 'sha256'],
        unique: true,
        conflict: 'consumer_keys.domain_id, consumer_keys.sha256',
      },
      consumer_keys_by_consumer: ['consumer_id', 'id'],
    },
  },
);

/** A key of a consumer. */
export interface ConsumerKeyRow extends RowOf<typeof consumerKeys> {}

/** Usage plans. */
export const usagePlans = table(
  'usage_plans',
  26,
  {
    id: shortId(),
    domain_id: integer().references(domains, 'cascade'),
    name: text(),
    /** The fields of the form, as JSON text. */
    body: json(),
    created_at: time(),
    updated_at: time(),
    /** The period of its quota; `null`: it has none. */
    quota_period: text().nullable().since(28),
  },
  {
    indexes: {
      usage_plans_with_quota: { on: ['domain_id'], where: 'quota_period IS NOT NULL', since: 28 },
      usage_plans_by_name: {
        on: ['domain_id', 'name'],
        unique: true,
        conflict: 'usage_plans.domain_id, usage_plans.name',
      },
    },
  },
);

/** A usage plan. */
export interface UsagePlanRow extends RowOf<typeof usagePlans> {}

/** Token issuers. */
export const tokenIssuers = table(
  'token_issuers',
  26,
  {
    id: shortId(),
    domain_id: integer().references(domains, 'cascade'),
    name: text(),
    /** The username that tokens of an unregistered subject act as; `null`: they are refused. */
    default_consumer: text().nullable(),
    /** The fields of the form, as JSON text. */
    body: json(),
    /** The keys that `jwks_url` has and how the last fetch ended, as JSON text; `null`: the issuer has no URL. */
    keys_state: json().nullable(),
    created_at: time(),
    updated_at: time(),
  },
  {
    indexes: {
      token_issuers_by_name: {
        on: ['domain_id', 'name'],
        unique: true,
        conflict: 'token_issuers.domain_id, token_issuers.name',
      },
    },
  },
);

/** A token issuer. */
export interface TokenIssuerRow extends RowOf<typeof tokenIssuers> {}

/** When the keys of token issuers are fetched, and by which process. */
export const issuerFetches = table(
  'issuer_fetches',
  26,
  {
    issuer_id: integer().key().references(tokenIssuers, 'cascade'),
    /** When they are fetched next. */
    due_at: time(),
    /** Identifies the claim: a process that claims the fetch later has another one, as a change of the URL has. */
    claim: integer().preset(0),
    claimed_until: time().preset(0),
  },
  { indexes: { issuer_fetches_by_due: ['due_at'] } },
);

/** A token issuer whose keys this process fetches. */
export interface ClaimedIssuer extends Pick<RowOf<typeof issuerFetches>, 'issuer_id' | 'claim'> {
  /** Whose turn it is: the account that has the domain. */
  readonly account_id: number;
}

/** What is sealed of each domain; its octets are in `list_blobs`. */
export const registries = table(
  'registries',
  26,
  {
    domain_id: integer().key().references(domains, 'cascade'),
    /** Rises with each change of a consumer, key, usage plan or token issuer. */
    version: integer(),
    /** Of the sealed form of `sealed_version`; `null`: it was never sealed. */
    digest: text().nullable(),
    /** The version that `digest` is of. */
    sealed_version: integer().nullable(),
  },
  { indexes: { registries_by_digest: { on: ['digest'], where: 'digest IS NOT NULL' } } },
);

/** The version of a registry and what is sealed of it. */
export interface RegistryRow extends RowOf<typeof registries> {}

/** Quotas that consumers have exhausted, as the registry has them. */
export const exhaustedQuotas = table(
  'exhausted_quotas',
  28,
  {
    domain_id: integer().references(domains, 'cascade'),
    consumer_id: integer().references(consumers, 'cascade'),
    /** The name of the usage plan. */
    usage_plan: text(),
    until: time(),
  },
  {
    key: ['consumer_id', 'usage_plan'],
    withoutRowid: true,
    indexes: { exhausted_quotas_by_domain: ['domain_id'] },
  },
);

/** A quota that a consumer has exhausted. */
export interface ExhaustedQuotaRow extends RowOf<typeof exhaustedQuotas> {}

/** Levels of consumers' quotas that were notified of: the highest of each. */
export const consumerQuotaLevels = table(
  'consumer_quota_levels',
  29,
  {
    domain_id: integer().references(domains, 'cascade'),
    consumer_id: integer().references(consumers, 'cascade'),
    /** The name of the usage plan. */
    usage_plan: text(),
    /** The start of the period; of `rolling_30d` 0. */
    period_start: time(),
    /** Percent of the quota. */
    level: integer(),
  },
  {
    key: ['consumer_id', 'usage_plan'],
    withoutRowid: true,
    indexes: { consumer_quota_levels_by_domain: ['domain_id'] },
  },
);

/** A level of a consumer's quota that was notified of. */
export interface ConsumerQuotaLevelRow extends RowOf<typeof consumerQuotaLevels> {}
