/** Reads the registry of a domain over the API: consumers with their keys, usage plans and token issuers. */
import { describeDiagnostic } from '../../base/diagnostics/diagnostic.ts';
import { MAX_CONSUMERS } from '../../base/vocabulary/limits.ts';
import type { Parsed } from '../../rules/model/parse.ts';
import { parseConsumer, parseTokenIssuer, parseUsagePlan } from '../../rules/model/parse-registry.ts';
import { isLive } from '../../rules/model/registry/consumer.ts';
import type { Consumer, ConsumerKey, Registry, TokenIssuer, UsagePlan } from '../../rules/model/types.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { callPages, type ServerAccess, ServerRefusal } from './call-api.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An object of a registry with its id on the server. */
export interface RemoteObject<T> {
  readonly id: number;
  readonly value: T;
}

/** A key as the server stores it. */
export interface RemoteKey extends ConsumerKey {
  readonly id: number;
  readonly isRevoked: boolean;
}

/** A consumer with all of its keys. `value` has no keys. */
export interface RemoteConsumer extends RemoteObject<Consumer> {
  readonly keys: readonly RemoteKey[];
}

/** The registry of a domain as the server stores it. */
export interface RemoteRegistry {
  readonly consumers: readonly RemoteConsumer[];
  readonly usage_plans: readonly RemoteObject<UsagePlan>[];
  readonly token_issuers: readonly RemoteObject<TokenIssuer>[];
}

/** The kinds of objects, by the API's paths. */
export const REGISTRY_PATHS = {
  consumer: 'consumers',
  usage_plan: 'usage-plans',
  token_issuer: 'token-issuers',
} as const;

/** One of `REGISTRY_PATHS`. */
export type RegistryNoun = keyof typeof REGISTRY_PATHS;

/** Consumers in one answer. */
const CONSUMERS_PAGE = 1_000;

/** Reads the registry of the domain whose path is given. @throws CommandFault */
export async function readRemoteRegistry(domain: string, access: ServerAccess): Promise<RemoteRegistry> {
  const listed = async (noun: RegistryNoun, query = ''): Promise<readonly Fields[]> => {
    const path = `${domain}/${REGISTRY_PATHS[noun]}/${query}`;
    try {
      return (await callPages(access, { path, most: MAX_CONSUMERS })).entries as readonly Fields[];
    } catch (error) {
      // An earlier server has no registries.
      if (error instanceof ServerRefusal && error.status === 404) return [];
      throw error;
    }
  };
  const consumers: RemoteConsumer[] = [];
  for (const { keys, ...shown } of await listed('consumer', `?include=keys&limit=${CONSUMERS_PAGE}`)) {
    consumers.push({
      id: Number(shown['id']),
      value: readObject('consumer', shown) as Consumer,
      keys: (keys as readonly Fields[]).map(readKey),
    });
  }
  const of = <T>(noun: RegistryNoun, shown: Fields): RemoteObject<T> => ({
    id: Number(shown['id']),
    value: readObject(noun, shown) as T,
  });
  return {
    consumers: consumers.sort((one, other) => (one.value.username < other.value.username ? -1 : 1)),
    usage_plans: (await listed('usage_plan')).map((shown) => of<UsagePlan>('usage_plan', shown)),
    token_issuers: (await listed('token_issuer')).map((shown) => of<TokenIssuer>('token_issuer', shown)),
  };
}

/** The registry as an edge file has it: with the keys that are in force. */
export function registryOf({ consumers, usage_plans, token_issuers }: RemoteRegistry): Registry {
  return {
    consumers: consumers.map(({ value, keys }) => {
      const live = keys
        .filter(isInForce)
        .map(({ name, sha256, expires_at }) => ({ name, sha256, expires_at }));
      return live.length === 0 ? value : { ...value, keys: live };
    }),
    usage_plans: usage_plans.map(({ value }) => value),
    token_issuers: token_issuers.map(({ value }) => value),
  };
}

/** Whether a key is neither revoked nor past its end. */
export function isInForce(key: RemoteKey): boolean {
  return !key.isRevoked && isLive(key, Date.now());
}

function readKey(shown: Fields): RemoteKey {
  const { id, name, sha256, expires_at: expires, revoked_at: revoked } = shown;
  return {
    id: Number(id),
    name: typeof name === 'string' ? name : null,
    sha256: String(sha256),
    expires_at: typeof expires === 'string' ? expires : null,
    isRevoked: typeof revoked === 'string',
  };
}

/** Parses an object of the API. @throws CommandFault when this version cannot read it */
export function readObject(noun: RegistryNoun, shown: Fields): Consumer | UsagePlan | TokenIssuer {
  // What was fetched is no setting.
  const { keys_status: _, ...fields } = shown;
  if (noun === 'consumer') return parsedValue(noun, parseConsumer(fields, { stored: true }), 'consumer');
  if (noun === 'usage_plan') return parsedValue(noun, parseUsagePlan(fields, { stored: true }), 'plan');
  return parsedValue(noun, parseTokenIssuer(fields, { stored: true }), 'issuer');
}

function parsedValue<Key extends string, T>(noun: RegistryNoun, parsed: Parsed<Key, T>, key: Key): T {
  if (parsed.ok) return parsed[key];
  const [first] = parsed.diagnostics;
  const why = first === undefined ? '' : `: ${describeDiagnostic(first)}`;
  const what = noun.replace('_', ' ');
  throw new CommandFault(EXIT.server, `the server has a ${what} that this version cannot read${why}`, {
    remedy: 'use the version of edgeplan that the server runs',
  });
}
