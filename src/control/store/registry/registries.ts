/**
 * Usage plans and token issuers of a domain, and the version of its registry, which each change of them, of a consumer or of a key
 * raises.
 */
import { lockDomain } from '../database/lock-domain.ts';
import { int, one, type Session, statement } from '../database/statement.ts';
import { putListBlob } from '../repositories/list-blobs.ts';
import type { RegistryRow, TokenIssuerRow, UsagePlanRow } from '../tables/registry.ts';

/** A sealed registry to store. */
export interface SealedRegistryForm {
  /** The version of the registry that was sealed. */
  readonly version: number;
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly at: number;
}

const registry = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('registries').selectAll().where('domain_id', '=', p.domain_id),
);

const raise = statement((builder, p: { domain_id: number }) =>
  builder
    .insertInto('registries')
    .values({ domain_id: p.domain_id, version: int(1), digest: null, sealed_version: null })
    .onConflict((conflict) =>
      conflict
        .column('domain_id')
        .doUpdateSet((row) => ({ version: row('registries.version', '+', int(1)) })),
    ),
);

const markSealed = statement((builder, p: { domain_id: number; version: number; digest: string }) =>
  builder
    .updateTable('registries')
    .set({ digest: p.digest, sealed_version: p.version })
    .where('domain_id', '=', p.domain_id)
    .where('version', '=', p.version)
    .returning('domain_id'),
);

/** Raises the version of the registry of a domain, which is locked. */
export async function raiseRegistry(session: Session, domainId: number): Promise<void> {
  await lockDomain(session, domainId);
  await raise(session, { domain_id: domainId });
}

/** The versions of registries. */
export function registryReads(session: Session) {
  return {
    /** `null`: the domain never had a consumer, usage plan or token issuer. */
    async get(domainId: number): Promise<RegistryRow | null> {
      await lockDomain(session, domainId);
      return one(session, registry, { domain_id: domainId });
    },
  };
}

/** What is sealed of registries. */
export function registryWrites(session: Session) {
  return {
    /** Stores the sealed form. False, and the registry is as before: it has another version now, or the domain is gone. */
    async putSealed(domainId: number, { version, digest, bytes, at }: SealedRegistryForm): Promise<boolean> {
      await putListBlob(session, { digest, bytes, at });
      return (await one(session, markSealed, { domain_id: domainId, version, digest })) !== null;
    },
  };
}

/** An object of a domain. */
interface OfDomain {
  readonly domain_id: number;
  readonly id: number;
}

const plans = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('usage_plans').selectAll().where('domain_id', '=', p.domain_id).orderBy('name'),
);

const insertPlan = statement((builder, p: Omit<UsagePlanRow, 'id'>) =>
  builder
    .insertInto('usage_plans')
    .values({
      domain_id: p.domain_id,
      name: p.name,
      body: p.body,
      created_at: p.created_at,
      updated_at: p.updated_at,
      quota_period: p.quota_period,
    })
    .returningAll(),
);

const updatePlan = statement((builder, p: Omit<UsagePlanRow, 'created_at'>) =>
  builder
    .updateTable('usage_plans')
    .set({ name: p.name, body: p.body, updated_at: p.updated_at, quota_period: p.quota_period })
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returningAll(),
);

const removePlan = statement((builder, p: OfDomain) =>
  builder
    .deleteFrom('usage_plans')
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returning('id'),
);

/** Usage plans. In a write, accesses lock the domain. */
export function usagePlanReads(session: Session) {
  return {
    /** All of a domain, by name. */
    async list(domainId: number): Promise<readonly UsagePlanRow[]> {
      await lockDomain(session, domainId);
      return plans(session, { domain_id: domainId });
    },
  };
}

/** Changes of usage plans. Each raises the version of the registry. */
export function usagePlanWrites(session: Session) {
  return {
    /** `conflict` on `usage_plans.domain_id`: the domain has one of that name. */
    async insert(plan: Omit<UsagePlanRow, 'id'>): Promise<UsagePlanRow> {
      await raiseRegistry(session, plan.domain_id);
      return (await one(session, insertPlan, plan))!;
    },
    /** Replaces name and fields. `null`: it is gone. */
    async update(plan: Omit<UsagePlanRow, 'created_at'>): Promise<UsagePlanRow | null> {
      await raiseRegistry(session, plan.domain_id);
      return one(session, updatePlan, plan);
    },
    async remove(domainId: number, id: number): Promise<boolean> {
      await raiseRegistry(session, domainId);
      return (await one(session, removePlan, { domain_id: domainId, id })) !== null;
    },
  };
}

const issuers = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('token_issuers').selectAll().where('domain_id', '=', p.domain_id).orderBy('name'),
);

const issuerById = statement((builder, p: { id: number }) =>
  builder.selectFrom('token_issuers').selectAll().where('id', '=', p.id),
);

const insertIssuer = statement((builder, p: Omit<TokenIssuerRow, 'id'>) =>
  builder
    .insertInto('token_issuers')
    .values({
      domain_id: p.domain_id,
      name: p.name,
      default_consumer: p.default_consumer,
      body: p.body,
      keys_state: p.keys_state,
      created_at: p.created_at,
      updated_at: p.updated_at,
    })
    .returningAll(),
);

const updateIssuer = statement((builder, p: Omit<TokenIssuerRow, 'created_at'>) =>
  builder
    .updateTable('token_issuers')
    .set({
      name: p.name,
      default_consumer: p.default_consumer,
      body: p.body,
      keys_state: p.keys_state,
      updated_at: p.updated_at,
    })
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returningAll(),
);

const setKeys = statement((builder, p: { domain_id: number; id: number; keys_state: string }) =>
  builder
    .updateTable('token_issuers')
    .set({ keys_state: p.keys_state })
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returning('id'),
);

const removeIssuer = statement((builder, p: OfDomain) =>
  builder
    .deleteFrom('token_issuers')
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returning('id'),
);

/** Token issuers. In a write, `list` locks the domain. */
export function tokenIssuerReads(session: Session) {
  return {
    /** All of a domain, by name. */
    async list(domainId: number): Promise<readonly TokenIssuerRow[]> {
      await lockDomain(session, domainId);
      return issuers(session, { domain_id: domainId });
    },
    /** Of any domain. */
    byId: (id: number): Promise<TokenIssuerRow | null> => one(session, issuerById, { id }),
  };
}

/** Changes of token issuers. Each raises the version of the registry. */
export function tokenIssuerWrites(session: Session) {
  return {
    /** `conflict` on `token_issuers.domain_id`: the domain has one of that name. */
    async insert(issuer: Omit<TokenIssuerRow, 'id'>): Promise<TokenIssuerRow> {
      await raiseRegistry(session, issuer.domain_id);
      return (await one(session, insertIssuer, issuer))!;
    },
    /** Replaces every field but `id`, `domain_id` and `created_at`. `null`: it is gone. */
    async update(issuer: Omit<TokenIssuerRow, 'created_at'>): Promise<TokenIssuerRow | null> {
      await raiseRegistry(session, issuer.domain_id);
      return one(session, updateIssuer, issuer);
    },
    /** Stores how a fetch of keys ended; the version rises only if `changed`: the registry has the keys, not the state. */
    async setKeys(
      { domain_id, id }: Pick<TokenIssuerRow, 'domain_id' | 'id'>,
      { keys_state, changed }: { readonly keys_state: string; readonly changed: boolean },
    ): Promise<boolean> {
      await (changed ? raiseRegistry : lockDomain)(session, domain_id);
      return (await one(session, setKeys, { domain_id, id, keys_state })) !== null;
    },
    /** Removes an issuer with its fetches. */
    async remove(domainId: number, id: number): Promise<boolean> {
      await raiseRegistry(session, domainId);
      return (await one(session, removeIssuer, { domain_id: domainId, id })) !== null;
    },
  };
}
