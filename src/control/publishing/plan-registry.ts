/**
 * The registry of a domain as plans refer to it (semantics §15): its consumers with the keys in force, usage plans and token issuers
 * with the keys that were fetched. In: a snapshot of the store. Out: the registry, and its sealed form.
 */
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { timeText } from '../../base/text/time.ts';
import { MAX_REGISTRY_KEYS } from '../../base/vocabulary/limits.ts';
import type { PublicJwk } from '../../base/vocabulary/vocabulary.ts';
import {
  type Exhausted,
  type ExhaustedQuota,
  RegistryTooLarge,
  sealRegistry,
} from '../../engine/compiler/seal-registry.ts';
import { openRegistry } from '../../engine/evaluator/index.ts';
import type { ConsumerSettings } from '../../rules/model/registry/consumer.ts';
import type { Registry } from '../../rules/model/registry/registry.ts';
import type { Consumer, ConsumerKey, TokenIssuer, UsagePlan } from '../../rules/model/types.ts';
import type { RulesOf } from '../store/repositories/list-uses.ts';
import type { ReadTransaction } from '../store/store.ts';
import type {
  ConsumerKeyRow,
  ConsumerRow,
  RegistryRow,
  TokenIssuerRow,
  UsagePlanRow,
} from '../store/tables/registry.ts';
import { PublishFault } from './fault.ts';

/** The repositories that a registry is read from. */
type Registries = Pick<
  ReadTransaction,
  'consumers' | 'consumerKeys' | 'usagePlans' | 'tokenIssuers' | 'registries' | 'exhaustedQuotas'
>;

/** Where the gateways of a domain are. */
type Gateways = Pick<ReadTransaction, 'rules' | 'drafts'>;

/** The keys that `jwks_url` of a token issuer has, and how the last fetch ended. Times are milliseconds since the epoch. */
export interface FetchedKeys {
  /** Those in force, from the last good fetch. */
  readonly keys: readonly PublicJwk[];
  /** Members of the key set that cannot be used. */
  readonly left_out: readonly { readonly kid: string | null; readonly reason: string }[];
  /** The last good fetch; `null`: there was none. */
  readonly fetched_at: number | null;
  readonly next_at: number;
  /** Fetches since then that failed. */
  readonly failures: number;
  readonly etag?: string;
  readonly last_modified?: string;
  /** Why the last fetch failed; absent: it succeeded, or no fetch has ended yet. */
  readonly error?: { readonly reason: string; readonly at: number };
  /** The people of the domain were notified of these failures. */
  readonly noticed?: true;
}

/**
 * The registry that the plan of a domain refers to: that of a domain with gateways among these rules. `null`: it refers to none,
 * also where gateways are and the domain never had an object of a registry.
 */
export async function registryOfDomain(
  tx: Registries & Gateways,
  domainId: number,
  rules: RulesOf = 'published',
): Promise<RegistryRow | null> {
  const hasGateways =
    rules === 'published'
      ? await tx.drafts.publishes(domainId, 'gateway')
      : (await tx.rules.count(domainId, 'gateway')) > 0;
  return hasGateways ? tx.registries.get(domainId) : null;
}

/** The same with its content, for plans that are analysed and not published; `undefined`: the domain has no registry. */
export async function registryWithContent(
  tx: Registries & Gateways,
  domainId: number,
  rules: RulesOf,
): Promise<Registry | undefined> {
  const row = await registryOfDomain(tx, domainId, rules);
  return row === null ? undefined : readRegistry(tx, domainId);
}

/**
 * The registry of a domain as its rows have it. Of expired keys it has the newest, as far as there is room beside those in force: nodes
 * log that such a key has expired. @throws PublishFault `stored_rows`
 */
export async function readRegistry(tx: Registries, domainId: number): Promise<Registry> {
  const consumers = await tx.consumers.list(domainId);
  const keys = new Map<number, ConsumerKeyRow[]>();
  for (const key of await tx.consumerKeys.ofDomain(domainId, MAX_REGISTRY_KEYS)) {
    const others = keys.get(key.consumer_id);
    if (others === undefined) keys.set(key.consumer_id, [key]);
    else others.push(key);
  }
  return {
    consumers: consumers.map((row) => withKeys(consumerOf(row), keys.get(row.id) ?? [])),
    usage_plans: (await tx.usagePlans.list(domainId)).map(usagePlanOf),
    token_issuers: (await tx.tokenIssuers.list(domainId)).map((row) => {
      const fetched = fetchedKeysOf(row);
      return fetched === null ? tokenIssuerOf(row) : { ...tokenIssuerOf(row), keys: fetched.keys };
    }),
  };
}

// PERF: the fields of rows are what a form has read before they were stored; to read 10,000 of them by a form again takes half a second
// of each publication. `sealRegistry` checks what nodes rely on.

/** The fields of a consumer. @throws PublishFault `stored_rows` */
export function consumerOf({ id, body }: Pick<ConsumerRow, 'id' | 'body'>): ConsumerSettings {
  return readBody<ConsumerSettings>(body, `consumer ${id}`);
}

/** The fields of a usage plan. @throws PublishFault `stored_rows` */
export function usagePlanOf({ id, body }: Pick<UsagePlanRow, 'id' | 'body'>): UsagePlan {
  // Rows of earlier releases have no quota, and no concurrency.
  return {
    quota: null,
    concurrency: null,
    ...readBody<Omit<UsagePlan, 'quota' | 'concurrency'> & Partial<UsagePlan>>(body, `usage plan ${id}`),
  };
}

/** The fields of a token issuer, without keys that were fetched. @throws PublishFault `stored_rows` */
export function tokenIssuerOf({ id, body }: Pick<TokenIssuerRow, 'id' | 'body'>): TokenIssuer {
  return {
    // Rows of earlier releases lack the field.
    consumer_prefix: null,
    ...readBody<Omit<TokenIssuer, 'consumer_prefix'> & Partial<TokenIssuer>>(body, `token issuer ${id}`),
  };
}

/** What was fetched for a token issuer; `null`: it has no URL. @throws PublishFault `stored_rows` */
export function fetchedKeysOf({
  id,
  keys_state,
}: Pick<TokenIssuerRow, 'id' | 'keys_state'>): FetchedKeys | null {
  return keys_state === null ? null : readBody<FetchedKeys>(keys_state, `token issuer ${id}`);
}

function readBody<T>(text: string, name: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new PublishFault('stored_rows', `${name} is not JSON in the store`, { cause });
  }
}

function withKeys(consumer: ConsumerSettings, rows: readonly ConsumerKeyRow[]): Consumer {
  return rows.length === 0 ? consumer : { ...consumer, keys: rows.map(keyOf) };
}

function keyOf({ name, sha256, expires_at }: ConsumerKeyRow): ConsumerKey {
  return {
    name: name === '' ? null : name,
    sha256,
    expires_at: expires_at === null ? null : timeText(expires_at),
  };
}

/** The exhausted quotas of a domain. */
async function exhaustedOf(tx: Registries, domainId: number): Promise<Exhausted> {
  const rows = await tx.exhaustedQuotas.list(domainId);
  const found = new Map<string, ExhaustedQuota[]>();
  for (const { username, usage_plan: plan, until } of rows) {
    const others = found.get(username);
    if (others === undefined) found.set(username, [{ plan, until }]);
    else others.push({ plan, until });
  }
  return found;
}

/** A registry to seal: the newest version when it is read. */
export interface RegistrySubject {
  readonly domain_id: number;
  readonly domain: string;
}

/** A sealed registry. */
export interface SealedRegistryContent {
  /** The version of the registry that it is. */
  readonly version: number;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** Reads a registry, seals it and opens the result as a test; `null`: the domain is gone. @throws PublishFault, PlanFault */
export async function sealRegistryContent(
  tx: Registries,
  { domain_id, domain }: RegistrySubject,
): Promise<SealedRegistryContent | null> {
  const row = await tx.registries.get(domain_id);
  if (row === null) return null;
  try {
    const bytes = sealRegistry(await readRegistry(tx, domain_id), await exhaustedOf(tx, domain_id));
    openRegistry(bytes);
    return { version: row.version, digest: sha256Hex(bytes), bytes };
  } catch (error) {
    if (!(error instanceof RegistryTooLarge)) throw error;
    throw new PublishFault('compile', `the registry of \`${domain}\` ${error.message}`, { cause: error });
  }
}
