/**
 * Plans the changes of consumers, their keys, usage plans and token issuers: by name, before the gateways that name them are
 * written, and deletions after these are gone. The lock has none of them: their names identify them.
 */
import { isLive } from '../../rules/model/registry/consumer.ts';
import type { Consumer, ConsumerKey, TokenIssuer, UsagePlan } from '../../rules/model/types.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import {
  isInForce,
  type RegistryNoun,
  type RemoteConsumer,
  type RemoteKey,
} from '../remote/remote-registry.ts';
import { type ChangeSummary, created, differences, removed } from './change.ts';
import type { DesiredState } from './desired-state.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A consumer without keys, a usage plan or a token issuer. */
type RegistryObject = Consumer | UsagePlan | TokenIssuer;

/** The change of an object of a registry. */
export type RegistryChange =
  | (ChangeSummary & { readonly noun: RegistryNoun } & (
        | { readonly verb: 'create'; readonly after: RegistryObject }
        | {
            readonly verb: 'update';
            readonly of: number;
            readonly before: RegistryObject;
            readonly after: RegistryObject;
          }
        | { readonly verb: 'delete'; readonly of: number; readonly before: RegistryObject }
      ))
  | (ChangeSummary & { readonly noun: 'consumer_key' } & (
        | {
            readonly verb: 'create';
            readonly username: string;
            /** The id of the consumer on the server; `null`: this plan creates the consumer. */
            readonly consumer: number | null;
            readonly after: ConsumerKey;
          }
        | { readonly verb: 'delete'; readonly consumer: number; readonly of: number }
      ));

/** The changes of a registry, by when they are possible. */
export interface RegistryChanges {
  /** Before rules are written. */
  readonly first: readonly RegistryChange[];
  /** After rules are deleted. */
  readonly last: readonly RegistryChange[];
  /** Titles of objects that only the server has and that stay. */
  readonly leftAlone: readonly string[];
  /** What `apply` cannot change, as sentences. */
  readonly warnings: readonly string[];
}

/** Compares the registry of a file with that of a server. With `prune`, what the file does not have is deleted. */
export function changesOfRegistry(
  { registry }: DesiredState,
  { registry: remote }: RemoteDomain,
  { prune }: { readonly prune: boolean },
): RegistryChanges {
  const plans = compare('usage_plan', registry.usage_plans, remote.usage_plans);
  const issuers = compare('token_issuer', registry.token_issuers, remote.token_issuers);
  const withoutKeys = registry.consumers.map(({ keys: _, ...consumer }): Consumer => consumer);
  const consumers = compare('consumer', withoutKeys, remote.consumers);
  const known = new Map(remote.consumers.map((consumer) => [consumer.value.username, consumer]));
  const deleted = prune ? consumers.left : [];
  const holders = holdersOf(remote.consumers, deleted);
  const keys = registry.consumers.map((consumer) =>
    changesOfKeys(consumer, known.get(consumer.username), holders),
  );
  const deletedFirst = deleted.filter((change) => holdsName(change, registry.consumers));
  const gone = [
    ...issuers.left,
    ...consumers.left.filter((change) => !deletedFirst.includes(change)),
    ...plans.left,
  ];
  const revoked = keys.flatMap(({ left }) => left);
  return {
    first: [
      ...plans.changes,
      ...(prune ? revoked : []),
      ...deletedFirst,
      ...consumers.changes,
      ...keys.flatMap(({ changes }) => changes),
      ...issuers.changes,
    ],
    last: prune ? [...gone, ...keys.flatMap(({ moved }) => moved)] : [],
    leftAlone: prune ? [] : [...gone, ...revoked].map(({ title }) => title),
    warnings: keys.flatMap(({ warnings }) => warnings),
  };
}

interface Compared {
  /** Updates, then creations: an update may free what a new object takes. */
  readonly changes: readonly RegistryChange[];
  /** Deletions of what the file does not have. */
  readonly left: readonly RegistryChange[];
}

function compare(
  noun: RegistryNoun,
  desired: readonly RegistryObject[],
  remote: readonly { readonly id: number; readonly value: RegistryObject }[],
): Compared {
  const there = new Map(remote.map((one) => [nameOf(one.value), one]));
  const names = new Set(desired.map(nameOf));
  const changes = desired.flatMap((after): RegistryChange[] => {
    const title = titleOf(noun, after);
    const before = there.get(nameOf(after));
    if (before === undefined) return [{ noun, verb: 'create', title, fields: created(shown(after)), after }];
    const either = Object.keys({ ...before.value, ...after });
    const fields = differences({ ...before.value }, { ...after }, either);
    if (fields.length === 0) return [];
    return [{ noun, verb: 'update', title, fields, of: before.id, before: before.value, after }];
  });
  const left = remote
    .filter(({ value }) => !names.has(nameOf(value)))
    .map(({ id, value }): RegistryChange => {
      const fields = removed(shown(value));
      return { noun, verb: 'delete', title: titleOf(noun, value), fields, of: id, before: value };
    });
  const isNew = ({ verb }: RegistryChange): boolean => verb === 'create';
  return { changes: [...changes.filter((one) => !isNew(one)), ...changes.filter(isNew)], left };
}

function nameOf(object: RegistryObject): string {
  return 'username' in object ? object.username : object.name;
}

/** `usage plan gold`. */
function titleOf(noun: RegistryNoun, object: RegistryObject): string {
  return `${noun.replace('_', ' ')} ${nameOf(object)}`;
}

/** The fields that say something. */
function shown(object: object): Fields {
  return Object.fromEntries(
    Object.entries(object).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/** Whether a deleted consumer has the `custom_id` or username of a desired one, which the server takes once it is gone. */
function holdsName(gone: RegistryChange, desired: readonly Consumer[]): boolean {
  if (gone.noun !== 'consumer' || gone.verb !== 'delete') return false;
  const { username, custom_id } = gone.before as Consumer;
  const names = [username, custom_id].filter((name) => name !== null);
  return desired.some(
    (one) => names.includes(one.username) || (one.custom_id !== null && names.includes(one.custom_id)),
  );
}

/** The consumer that has a key on the server. */
interface KeyHolder {
  readonly username: string;
  /** It is deleted, and its keys with it. */
  readonly isDeleted: boolean;
}

/** The holders of all keys of the server, by hash. */
function holdersOf(
  consumers: readonly RemoteConsumer[],
  deleted: readonly RegistryChange[],
): ReadonlyMap<string, KeyHolder> {
  const ids = new Set(deleted.map((change) => (change.verb === 'delete' ? change.of : null)));
  return new Map(
    consumers.flatMap(({ id, value: { username }, keys }) =>
      keys.map(({ sha256 }) => [sha256, { username, isDeleted: ids.has(id) }] as const),
    ),
  );
}

interface ComparedKeys extends Compared {
  /** Creations that are possible once their holder is deleted: a hash is of one key of the domain. */
  readonly moved: readonly RegistryChange[];
  readonly warnings: readonly string[];
}

/** Keys never change: one that differs is another one. */
function changesOfKeys(
  { username, keys = [] }: Consumer,
  remote: RemoteConsumer | undefined,
  holders: ReadonlyMap<string, KeyHolder>,
): ComparedKeys {
  const there = new Map((remote?.keys ?? []).map((key) => [key.sha256, key]));
  const hashes = new Set(keys.map(({ sha256 }) => sha256));
  const now = Date.now();
  const open = keys.filter((key) => !there.has(key.sha256) && isLive(key, now));
  const create = (after: ConsumerKey): RegistryChange => {
    const fields = created(shown(after));
    const title = keyTitle(after, username);
    const consumer = remote?.id ?? null;
    return { noun: 'consumer_key', verb: 'create', title, fields, username, consumer, after };
  };
  const holderOf = ({ sha256 }: ConsumerKey): KeyHolder | undefined => holders.get(sha256);
  const left = (remote?.keys ?? [])
    .filter((key) => isInForce(key) && !hashes.has(key.sha256))
    .map((key): RegistryChange => {
      const title = keyTitle(key, username);
      const fields = [{ name: 'sha256', before: key.sha256 }];
      return { noun: 'consumer_key', verb: 'delete', title, fields, consumer: remote!.id, of: key.id };
    });
  const warnings = keys.flatMap((key) => {
    const why = conflictOf(key, there.get(key.sha256));
    return why === null ? [] : [`${keyTitle(key, username)} ${why}`];
  });
  const elsewhere = open.flatMap((key) => {
    const holder = holderOf(key);
    if (holder === undefined || holder.isDeleted) return [];
    return [
      `${keyTitle(key, username)} is one of consumer ${holder.username} on the server, until that is deleted`,
    ];
  });
  return {
    changes: open.filter((key) => holderOf(key) === undefined).map(create),
    moved: open.filter((key) => holderOf(key)?.isDeleted === true).map(create),
    left,
    warnings: [...warnings, ...elsewhere],
  };
}

/** Why a key of the file cannot be as the file has it; `null`: it is. */
function conflictOf(key: ConsumerKey, there: RemoteKey | undefined): string | null {
  if (there === undefined) return null;
  if (there.isRevoked) return 'was revoked on the server; remove it from the file';
  const at = (text: string | null): number | null => (text === null ? null : Date.parse(text.toUpperCase()));
  if (at(key.expires_at) === at(there.expires_at) && key.name === there.name) return null;
  return 'has another name or expiry on the server, which no change of a key alters';
}

/** `key 2c26b46b of consumer acme`. */
function keyTitle({ sha256 }: Pick<ConsumerKey, 'sha256'>, username: string): string {
  return `key ${sha256.slice(0, 8)} of consumer ${username}`;
}
