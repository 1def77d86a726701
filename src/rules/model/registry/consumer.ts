/**
 * The form of consumers: who calls the APIs of a domain, with which keys, and what they may call (semantics §15). The API has
 * keys as objects of their own; files list their hashes.
 */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import {
  MAX_ACL_ENTRIES,
  MAX_CONSUMER_KEYS,
  MAX_CONSUMER_LABELS,
  MAX_CONSUMER_SCOPES,
  MAX_CUSTOM_ID_CHARACTERS,
  MAX_LIVE_KEYS,
  MAX_METADATA,
  MAX_METADATA_CHARACTERS,
  MAX_REGISTRY_NAME,
} from '../../../base/vocabulary/limits.ts';
import { checked, filledText, flag, list, shownAs, text, textList, time } from '../fields.ts';
import { type CrossCheck, crossCheck, form, type Stored } from '../form.ts';
import type { Problem } from '../report.ts';
import { KEY_PREFIX } from './key-text.ts';
import { ANSWERED, registryName, username } from './names.ts';

/** Values by name. */
function metadata(): z.ZodType<Record<string, string>> {
  const values = z.record(z.string(), text(MAX_METADATA_CHARACTERS));
  const read = checked(values, (given) => {
    const names = Object.keys(given);
    if (names.length > MAX_METADATA)
      return {
        code: 'too_many',
        message: `must have at most ${MAX_METADATA} values`,
        found: `${names.length}`,
      };
    const wrong = names.find((name) => name === '' || name.length > MAX_REGISTRY_NAME);
    if (wrong === undefined) return null;
    const message = `must have names of 1 to ${MAX_REGISTRY_NAME} characters`;
    return { code: 'invalid_name', message, found: quoteValue(wrong) };
  });
  return shownAs(read, () => values.meta({ maxProperties: MAX_METADATA }));
}

/** The fields of a consumer that the API and files have. */
export const CONSUMER_FIELDS = {
  username: username()
    .describe('name of the consumer, in logs and towards the origin')
    .meta({ examples: ['acme-mobile'] }),
  custom_id: filledText(MAX_CUSTOM_ID_CHARACTERS)
    .nullable()
    .default(null)
    .describe(
      'what tokens name the consumer by: `consumer_prefix` of the issuer and the value of `consumer_claim`; null: the username',
    )
    .meta({ examples: ['auth0|5f7c8ec7c33c6c004bbafe82'] }),
  group: filledText(MAX_REGISTRY_NAME)
    .nullable()
    .default(null)
    .describe('group of the consumer; a note for people and reports')
    .meta({ examples: ['partners'] }),
  labels: list(filledText(MAX_REGISTRY_NAME), MAX_CONSUMER_LABELS)
    .default([])
    .describe('labels of the consumer; notes for people and reports')
    .meta({ examples: [['eu', 'beta']] }),
  enabled: flag(true)
    .describe('`false`: requests of the consumer are answered 403')
    .meta({ examples: [false] }),
  usage_plan: registryName()
    .nullable()
    .default(null)
    .describe('name of the usage plan of the consumer; null: `default_plan` of the gateway')
    .meta({ examples: ['gold'] }),
  acl: textList(MAX_ACL_ENTRIES)
    .default([])
    .describe('ids and tags of the operations that the consumer may call; empty: all')
    .meta({ examples: [['listOrders', 'catalogue']] }),
  scopes: list(filledText(MAX_REGISTRY_NAME), MAX_CONSUMER_SCOPES)
    .default([])
    .describe('scopes that the consumer has with any credential, beside those of its token')
    .meta({ examples: [['orders:read']] }),
  metadata: metadata()
    .default({})
    .describe('values by name; notes for people and programs of the customer')
    .meta({ examples: [{ contract: '2026-117' }] }),
  expires_at: time()
    .nullable()
    .default(null)
    .describe('time from which on no credential of the consumer is valid (RFC 3339); null: never')
    .meta({ examples: ['2027-12-31T23:59:59Z'] }),
};

/** The fields of a key, as files list it. */
const KEY_FIELDS = {
  name: filledText(MAX_REGISTRY_NAME)
    .nullable()
    .default(null)
    .describe('what the key is for; a note')
    .meta({ examples: ['ci'] }),
  sha256: checked(text(), judgeHash)
    .describe('SHA-256 of the key: 64 lower-case hex digits, as `edgeplan consumer-key` prints them')
    .meta({
      pattern: '^[0-9a-f]{64}$',
      examples: ['2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'],
    }),
  expires_at: time()
    .nullable()
    .default(null)
    .describe('time from which on the key is not valid (RFC 3339); null: never')
    .meta({ examples: ['2027-06-30T00:00:00Z'] }),
};

/** Refuses what is no hash. The value may be a key, so no message quotes it. */
function judgeHash(value: string): Problem | null {
  if (/^[0-9a-f]{64}$/.test(value)) return null;
  const remedy = 'write the line that `edgeplan consumer-key` prints';
  if (!value.startsWith(KEY_PREFIX))
    return { code: 'key_hash', message: 'must be 64 lower-case hex digits', found: null, remedy };
  const message = 'must be the hash of a key, not the key itself';
  return {
    code: 'key_hash',
    message,
    found: null,
    remedy: `${remedy}; replace this key, which was disclosed`,
  };
}

/** A key of a consumer: its hash. */
export type ConsumerKey = Stored<typeof KEY_FIELDS>;

/** A consumer as it is stored. */
export interface Consumer extends Stored<typeof CONSUMER_FIELDS> {
  /** At most `MAX_LIVE_KEYS` of them have not expired; absent: none. */
  readonly keys?: readonly ConsumerKey[] | undefined;
}

/** A consumer without its keys, which the API has as objects of their own. */
export type ConsumerSettings = Omit<Consumer, 'keys'>;

/** Whether a key has not expired. @param now milliseconds since the epoch */
export function isLive(key: Pick<ConsumerKey, 'expires_at'>, now: number): boolean {
  return key.expires_at === null || Date.parse(key.expires_at.toUpperCase()) > now;
}

/** Refuses a third key that has not expired. */
const liveKeys: CrossCheck = crossCheck<Pick<Consumer, 'keys'>>(['keys'], ({ keys = [] }, scope) => {
  const now = Date.now();
  const live = keys.filter((key) => isLive(key, now));
  if (live.length <= MAX_LIVE_KEYS) return;
  const message = `must have at most ${MAX_LIVE_KEYS} keys that have not expired`;
  const remedy = 'remove the oldest, or set its `expires_at`';
  scope.error(['keys'], { code: 'live_keys', message, found: String(live.length), remedy });
});

/** The form of a consumer in the API. */
export const consumerForm = form({
  fields: CONSUMER_FIELDS,
  ignored: [...ANSWERED, 'keys'],
  finish: (values): ConsumerSettings => values,
});

/** The fields of a consumer in a file. */
export const LISTED_CONSUMER_FIELDS = {
  ...CONSUMER_FIELDS,
  keys: list(z.strictObject(KEY_FIELDS), MAX_CONSUMER_KEYS)
    .optional()
    .describe(`keys of the consumer by their hashes, at most ${MAX_LIVE_KEYS} of which have not expired`)
    .meta({
      examples: [[{ sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae' }]],
    }),
};

/** The form of a consumer in a file, with its keys. */
export const listedConsumerForm = form({
  fields: LISTED_CONSUMER_FIELDS,
  ignored: ANSWERED,
  nested: { keys: Object.keys(KEY_FIELDS) },
  checks: [liveKeys],
  finish: ({ keys, ...values }): Consumer =>
    keys === undefined || keys.length === 0 ? values : { ...values, keys },
});
