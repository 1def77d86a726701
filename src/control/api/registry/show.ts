/** Consumers, their keys, usage plans and token issuers as the API shows them. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { MAX_REGISTRY_NAME } from '../../../base/vocabulary/limits.ts';
import { documentFields, filledText, time } from '../../../rules/model/fields.ts';
import { CONSUMER_FIELDS } from '../../../rules/model/registry/consumer.ts';
import { TOKEN_ISSUER_FIELDS } from '../../../rules/model/registry/token-issuer.ts';
import { USAGE_PLAN_FIELDS } from '../../../rules/model/registry/usage-plan.ts';
import {
  consumerOf,
  type FetchedKeys,
  fetchedKeysOf,
  tokenIssuerOf,
  usagePlanOf,
} from '../../publishing/plan-registry.ts';
import type {
  ConsumerKeyRow,
  ConsumerRow,
  TokenIssuerRow,
  UsagePlanRow,
} from '../../store/tables/registry.ts';

const IDS = { id: z.int(), domain_id: z.int() };
const TIMES = { created_at: z.iso.datetime(), updated_at: z.iso.datetime() };

/** A consumer in an answer. */
export const CONSUMER = z
  .object({ ...IDS, ...documentFields(CONSUMER_FIELDS, 'answer'), ...TIMES })
  .meta({ id: 'Consumer' });
/** The body of a partial update of a consumer. */
export const CONSUMER_UPDATE = z
  .object(documentFields(CONSUMER_FIELDS, 'update'))
  .meta({ id: 'ConsumerUpdate' });

/** A usage plan in an answer. */
export const USAGE_PLAN = z
  .object({ ...IDS, ...documentFields(USAGE_PLAN_FIELDS, 'answer'), ...TIMES })
  .meta({ id: 'UsagePlan' });
/** The body of a partial update of a usage plan. */
export const USAGE_PLAN_UPDATE = z
  .object(documentFields(USAGE_PLAN_FIELDS, 'update'))
  .meta({ id: 'UsagePlanUpdate' });

const KEYS_STATUS = z
  .object({
    fetched_at: z.iso.datetime().nullable().describe('the last fetch whose keys are in force; null: none'),
    next_at: z.iso.datetime().describe('the next fetch, at the earliest'),
    failures: z.int().describe('fetches since `fetched_at` that failed'),
    error: z
      .object({ reason: z.string(), at: z.iso.datetime() })
      .optional()
      .describe('why the last fetch failed; the keys of the one before are in force'),
    kids: z.array(z.string().nullable()).describe('`kid` of the keys in force; null: the key has none'),
    left_out: z
      .array(z.object({ kid: z.string().nullable(), reason: z.string() }))
      .describe('keys of the set that are not used'),
  })
  .meta({ id: 'TokenIssuerKeysStatus' });

/** A token issuer in an answer. */
export const TOKEN_ISSUER = z
  .object({
    ...IDS,
    ...documentFields(TOKEN_ISSUER_FIELDS, 'answer'),
    keys_status: KEYS_STATUS.optional().describe('of `jwks_url`: the keys that were fetched'),
    ...TIMES,
  })
  .meta({ id: 'TokenIssuer' });
/** The body of a partial update of a token issuer. */
export const TOKEN_ISSUER_UPDATE = z
  .object(documentFields(TOKEN_ISSUER_FIELDS, 'update'))
  .meta({ id: 'TokenIssuerUpdate' });

/** The fields of a new key. */
export const NEW_KEY_FIELDS = {
  name: filledText(MAX_REGISTRY_NAME)
    .nullable()
    .default(null)
    .describe('what the key is for; a note')
    .meta({ examples: ['ci'] }),
  expires_at: time()
    .nullable()
    .default(null)
    .describe('time from which on the key is not valid (RFC 3339); null: never')
    .meta({ examples: ['2027-06-30T00:00:00Z'] }),
};

/** A key in an answer. */
export const CONSUMER_KEY = z
  .object({
    id: z.int(),
    name: z.string().nullable().describe('what the key is for'),
    prefix: z.string().describe('how the key begins; empty: the key came as its hash'),
    last4: z.string().describe('how the key ends; empty: the key came as its hash'),
    sha256: z.string().describe('SHA-256 of the key: 64 lower-case hex digits, as files list it'),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable().describe('null: never'),
    last_used_at: z.iso.datetime().nullable().describe('null: no use is known'),
    revoked_at: z.iso.datetime().nullable().describe('null: it is in force'),
  })
  .meta({ id: 'ConsumerKey' });

/** A consumer of a list, with its keys where the request asks for them. */
export const LISTED_CONSUMER = CONSUMER.extend({
  keys: z
    .array(CONSUMER_KEY)
    .optional()
    .describe('all keys of the consumer, revoked ones included, by id; only under `include=keys`'),
}).meta({ id: 'ListedConsumer' });

/** A new key in the answer that has its text. */
export const NEW_CONSUMER_KEY = CONSUMER_KEY.extend({
  value: z
    .string()
    .optional()
    .describe('the key, in this answer alone; absent under `validate_only`, and where `sha256` was sent'),
}).meta({ id: 'NewConsumerKey' });

/** A stored consumer in the form of the API. */
export function showConsumer(row: ConsumerRow): z.output<typeof CONSUMER> {
  return { id: row.id, domain_id: row.domain_id, ...consumerOf(row), ...timesOf(row) } as z.output<
    typeof CONSUMER
  >;
}

/** A stored usage plan in the form of the API. */
export function showUsagePlan(row: UsagePlanRow): z.output<typeof USAGE_PLAN> {
  return { id: row.id, domain_id: row.domain_id, ...usagePlanOf(row), ...timesOf(row) };
}

/** A stored token issuer in the form of the API but for `keys_status`, which changes with time: the ETag is that of this form. */
export function showSettings(row: TokenIssuerRow): z.output<typeof TOKEN_ISSUER> {
  return { id: row.id, domain_id: row.domain_id, ...tokenIssuerOf(row), ...timesOf(row) } as z.output<
    typeof TOKEN_ISSUER
  >;
}

/** A stored token issuer in the form of the API. */
export function showTokenIssuer(row: TokenIssuerRow): z.output<typeof TOKEN_ISSUER> {
  const fetched = fetchedKeysOf(row);
  return fetched === null
    ? showSettings(row)
    : { ...showSettings(row), keys_status: showFetchedKeys(fetched) };
}

function showFetchedKeys({
  keys,
  left_out,
  fetched_at,
  next_at,
  failures,
  error,
}: FetchedKeys): z.output<typeof KEYS_STATUS> {
  return {
    fetched_at: fetched_at === null ? null : timeText(fetched_at),
    next_at: timeText(next_at),
    failures,
    ...(error === undefined ? {} : { error: { reason: error.reason, at: timeText(error.at) } }),
    kids: keys.map(({ kid = null }) => kid),
    left_out: [...left_out],
  };
}

/** A stored key in the form of the API. */
export function showKey(row: ConsumerKeyRow): z.output<typeof CONSUMER_KEY> {
  return {
    id: row.id,
    name: row.name === '' ? null : row.name,
    prefix: row.prefix,
    last4: row.last4,
    sha256: row.sha256,
    created_at: timeText(row.created_at),
    expires_at: orNever(row.expires_at),
    last_used_at: orNever(row.last_used_at),
    revoked_at: orNever(row.revoked_at),
  };
}

function orNever(at: number | null): string | null {
  return at === null ? null : timeText(at);
}

function timesOf(row: { readonly created_at: number; readonly updated_at: number }) {
  return { created_at: timeText(row.created_at), updated_at: timeText(row.updated_at) };
}
