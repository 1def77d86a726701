/** Certificates that the server obtains by ACME: orders, accounts, and what is due. */
import { sql } from 'kysely';
import { lockDomain } from '../database/lock-domain.ts';
import { idsIn, int, one, raw, type Session, statement } from '../database/statement.ts';
import type { AcmeAccountRow, CertificateOrderRow, ClaimedOrder } from '../tables/certificates.ts';

/** Which order, and by which claim. */
export type OrderClaim = Pick<ClaimedOrder, 'certificate_id' | 'claim'>;

/** A certificate whose renewal window is to be asked for. */
export interface WindowQuestion {
  readonly certificate_id: number;
  readonly domain_id: number;
  readonly chain: string;
  /** When it is to be renewed as planned now. */
  readonly due_at: number;
}

/** The orders that an account may make. All in milliseconds, but `burst`. */
export interface OrderAllowance {
  /** One order in this time. */
  readonly everyMs: number;
  /** Orders at once, at most. */
  readonly burst: number;
  /** No pause of the account is longer. */
  readonly longestPauseMs: number;
}

/** What a CA answers about a renewal window. */
export interface WindowAnswer
  extends Pick<CertificateOrderRow, 'certificate_id' | 'due_at' | 'window_asked_at'> {
  /** When the certificate was to be renewed at the question. */
  readonly planned: number;
}

/** An order to insert. */
export type NewOrder = Pick<
  CertificateOrderRow,
  'certificate_id' | 'domain_id' | 'names_json' | 'due_at' | 'failures'
>;

/** What follows the work on an order. */
export interface OrderEnd extends Pick<CertificateOrderRow, 'names_json' | 'due_at' | 'failures'> {
  /** The order under way is continued at `due_at`. */
  readonly continues: boolean;
}

/** What a claim of orders is bounded by. */
export interface OrderClaiming {
  readonly now: number;
  /** When the claim lapses. */
  readonly until: number;
  /** The new claim. */
  readonly claim: number;
  readonly limit: number;
  /** Orders of one account under way, those of other processes too. */
  readonly perAccount: number;
}

const ORDER = [
  'certificate_id',
  'domain_id',
  'names_json',
  'due_at',
  'failures',
  'url',
  'sealed_key',
  'window_asked_at',
] as const;

const list = statement<{ domain_id: number }, CertificateOrderRow>((builder, p) =>
  builder
    .selectFrom('certificate_orders')
    .select(ORDER)
    .where('domain_id', '=', p.domain_id)
    .orderBy('certificate_id'),
);

const account = statement<{ directory: string }, AcmeAccountRow>((builder, p) =>
  builder.selectFrom('acme_accounts').selectAll().where('directory', '=', p.directory),
);

/** Locks the row where the database locks rows: two processes take one after the other. */
const lockAccount = statement<{ directory: string }, AcmeAccountRow>((builder, p, { locking }) =>
  builder
    .selectFrom('acme_accounts')
    .selectAll()
    .where('directory', '=', p.directory)
    .$if(locking, (query) => query.forUpdate()),
);

const accounts = statement<object, AcmeAccountRow>((builder) =>
  builder.selectFrom('acme_accounts').selectAll().orderBy('directory'),
);

const withKeys = statement<{ after: number; limit: number }, CertificateOrderRow>((builder, p) =>
  builder
    .selectFrom('certificate_orders')
    .select(ORDER)
    .where('certificate_id', '>', p.after)
    .where('sealed_key', 'is not', null)
    .orderBy('certificate_id')
    .limit(p.limit),
);

const due = statement((builder, p: { now: number }) =>
  builder
    .selectFrom('certificate_orders')
    .select(({ fn }) => [fn.countAll<number>().as('orders'), fn.min<number | null>('due_at').as('since')])
    .where('due_at', '<=', p.now),
);

const windows = statement<{ before: number; limit: number }, WindowQuestion>((builder, p) =>
  builder
    .selectFrom('certificate_orders')
    .innerJoin('certificates', 'certificates.id', 'certificate_orders.certificate_id')
    .select([
      'certificates.id as certificate_id',
      'certificates.domain_id',
      sql<string>`certificates.chain`.as('chain'),
      'certificate_orders.due_at',
    ])
    .where('certificate_orders.window_asked_at', '<', p.before)
    .where('certificate_orders.failures', '=', int(0))
    .where('certificates.status', '=', 'active')
    .where('certificates.chain', 'is not', null)
    .orderBy('certificate_orders.window_asked_at')
    .orderBy('certificates.id')
    .limit(p.limit),
);

const insert = statement((builder, p: NewOrder) =>
  builder.insertInto('certificate_orders').values({
    certificate_id: p.certificate_id,
    domain_id: p.domain_id,
    names_json: p.names_json,
    due_at: p.due_at,
    failures: p.failures,
    url: null,
    sealed_key: null,
    window_asked_at: int(0),
  }),
);

/** Milliseconds added to two leases, as for the outbox. */
const LONGEST_LEASE_MS = 10_000;

// An order under way comes first among those of its account, so that it has one of the account's places. The second check of
// the claim is for PostgreSQL, where another process may have claimed the row between the choice and the update.
const claim = statement((builder, p: OrderClaiming & { readonly beyond: number }) => {
  const free = sql`(claimed_until <= ${int(p.now)} or claimed_until > ${int(p.beyond)})`;
  return raw<ClaimedOrder>(
    sql`update certificate_orders set claim = ${int(p.claim)}, claimed_until = ${int(p.until)}
      where certificate_id in (
        select certificate_id from (
          select certificate_orders.certificate_id, due_at, claimed_until, row_number() over (
            partition by domains.user_id
            order by case when ${free} then 1 else 0 end, due_at, certificate_orders.certificate_id
          ) as place
          from certificate_orders
          join domains on domains.id = certificate_orders.domain_id
          where due_at <= ${int(p.now)} and domains.status = 'active' and domains.suspended = 0
        ) as ranked
        where place <= ${int(p.perAccount)} and ${free}
        order by place, due_at, certificate_id
        limit ${int(p.limit)}
      ) and ${free}
      returning certificate_id, domain_id, names_json, due_at, failures, url, sealed_key, window_asked_at, claim`,
    builder,
  );
});

const renew = statement((builder, p: { certificates: string; claims: string; until: number }, flavour) =>
  builder
    .updateTable('certificate_orders')
    .set({ claimed_until: p.until })
    .where('certificate_id', 'in', idsIn(p.certificates, flavour))
    .where('claim', 'in', idsIn(p.claims, flavour)),
);

const begin = statement((builder, p: OrderClaim & { url: string; sealed_key: Uint8Array }) =>
  builder
    .updateTable('certificate_orders')
    .set({ url: p.url, sealed_key: p.sealed_key })
    .where('certificate_id', '=', p.certificate_id)
    .where('claim', '=', p.claim)
    .returning('certificate_id'),
);

const end = statement((builder, p: OrderClaim & Omit<OrderEnd, 'continues'>) =>
  builder
    .updateTable('certificate_orders')
    .set({
      names_json: p.names_json,
      due_at: p.due_at,
      failures: p.failures,
      claim: int(0),
      claimed_until: int(0),
    })
    .where('certificate_id', '=', p.certificate_id)
    .where('claim', '=', p.claim)
    .returning('certificate_id'),
);

const forget = statement((builder, p: { certificate_id: number }) =>
  builder
    .updateTable('certificate_orders')
    .set({ url: null, sealed_key: null, window_asked_at: int(0) })
    .where('certificate_id', '=', p.certificate_id),
);

const setNames = statement((builder, p: Pick<CertificateOrderRow, 'certificate_id' | 'names_json'>) =>
  builder
    .updateTable('certificate_orders')
    .set({ names_json: p.names_json })
    .where('certificate_id', '=', p.certificate_id),
);

const hasten = statement((builder, p: { certificate_id: number; due_at: number }) =>
  builder
    .updateTable('certificate_orders')
    .set({ due_at: p.due_at })
    .where('certificate_id', '=', p.certificate_id)
    .where('due_at', '>', p.due_at),
);

const setWindow = statement((builder, p: WindowAnswer) =>
  builder
    .updateTable('certificate_orders')
    .set({ due_at: p.due_at, window_asked_at: p.window_asked_at })
    .where('certificate_id', '=', p.certificate_id)
    .where('due_at', '=', p.planned)
    .where('failures', '=', int(0))
    .returning('certificate_id'),
);

const drop = statement((builder, p: { certificate_id: number }) =>
  builder.deleteFrom('certificate_orders').where('certificate_id', '=', p.certificate_id),
);

const reseal = statement((builder, p: { certificate_id: number; before: Uint8Array; after: Uint8Array }) =>
  builder
    .updateTable('certificate_orders')
    .set({ sealed_key: p.after })
    .where('certificate_id', '=', p.certificate_id)
    .where('sealed_key', '=', p.before)
    .returning('certificate_id'),
);

const putAccount = statement(
  (builder, p: Pick<AcmeAccountRow, 'directory' | 'url' | 'sealed_key' | 'created_at'>) =>
    builder
      .insertInto('acme_accounts')
      .values({
        directory: p.directory,
        url: p.url,
        sealed_key: p.sealed_key,
        created_at: p.created_at,
      })
      .onConflict((conflict) =>
        conflict.column('directory').doUpdateSet((row) => ({
          url: row.ref('excluded.url'),
          sealed_key: row.ref('excluded.sealed_key'),
          created_at: row.ref('excluded.created_at'),
        })),
      ),
);

const resealAccount = statement((builder, p: { directory: string; before: Uint8Array; after: Uint8Array }) =>
  builder
    .updateTable('acme_accounts')
    .set({ sealed_key: p.after })
    .where('directory', '=', p.directory)
    .where('sealed_key', '=', p.before)
    .returning('directory'),
);

const setAllowance = statement((builder, p: Pick<AcmeAccountRow, 'directory' | 'spent_until'>) =>
  builder
    .updateTable('acme_accounts')
    .set({ spent_until: p.spent_until })
    .where('directory', '=', p.directory),
);

const pause = statement((builder, p: Pick<AcmeAccountRow, 'directory' | 'paused_until'>) =>
  builder
    .updateTable('acme_accounts')
    .set({ paused_until: p.paused_until })
    .where('directory', '=', p.directory),
);

/** Changes of orders and accounts. Claims lock no domain. Claims and accounts lock no domain. */
export function issuanceWrites(session: Session) {
  return {
    async insert(order: NewOrder): Promise<void> {
      await lockDomain(session, order.domain_id);
      session.note('certificates');
      await insert(session, order);
    },
    /**
     * Claims due orders of active domains. Accounts have turns: the first order of each comes before the second of any.
     * No other process claims them before `until`; a claim that ends later than a lease can was made by a clock that was
     * ahead, and is void.
     */
    async claim(claiming: OrderClaiming): Promise<readonly ClaimedOrder[]> {
      const { now, until } = claiming;
      const beyond = now + Math.max(2 * (until - now), LONGEST_LEASE_MS);
      return claim(session, { ...claiming, beyond });
    },
    /** Prolongs claims of this process. */
    async renew(claims: readonly OrderClaim[], until: number): Promise<void> {
      if (claims.length === 0) return;
      await renew(session, {
        certificates: JSON.stringify(claims.map((one) => one.certificate_id)),
        claims: JSON.stringify(claims.map((one) => one.claim)),
        until,
      });
    },
    /** Stores the order under way; false, and nothing is stored, if the claim has passed to another process. */
    async begin(
      { certificate_id, claim }: OrderClaim,
      order: { readonly url: string; readonly sealed_key: Uint8Array },
    ): Promise<boolean> {
      return (await begin(session, { certificate_id, claim, ...order })).length > 0;
    },
    /** Ends the claim; false, and nothing is stored, if it has passed to another process. */
    async end({ certificate_id, claim }: OrderClaim, { continues, ...next }: OrderEnd): Promise<boolean> {
      session.note('certificates');
      if ((await end(session, { certificate_id, claim, ...next })).length === 0) return false;
      if (!continues) await forget(session, { certificate_id });
      return true;
    },
    /** Sets the names of the next order. */
    async setNames(certificate_id: number, names_json: string): Promise<void> {
      await setNames(session, { certificate_id, names_json });
    },
    /** Makes an order due, unless it was earlier. */
    async hasten(certificate_id: number, due_at: number): Promise<void> {
      session.note('certificates');
      await hasten(session, { certificate_id, due_at });
    },
    /**
     * Stores when the certificate is renewed, as the CA says, and when it was asked. False, and nothing is stored, if the
     * order is not due at `planned` any more: the certificate was renewed meanwhile, and the window is that of the one before.
     */
    async setWindow(window: WindowAnswer): Promise<boolean> {
      return (await setWindow(session, window)).length > 0;
    },
    /** Removes the order: nothing renews its certificate any more. */
    async drop(certificate_id: number): Promise<void> {
      await drop(session, { certificate_id });
    },
    /** Replaces the encrypted key of an order, if it still is `before`. */
    async reseal(
      certificate_id: number,
      keys: { readonly before: Uint8Array; readonly after: Uint8Array },
    ): Promise<boolean> {
      return (await reseal(session, { certificate_id, ...keys })).length > 0;
    },
    ...acmeAccountWrites(session),
  };
}

/** Orders and accounts. */
export function issuanceReads(session: Session) {
  return {
    /** The orders of a domain by certificate. */
    async list(domainId: number): Promise<readonly CertificateOrderRow[]> {
      await lockDomain(session, domainId);
      return list(session, { domain_id: domainId });
    },
    account: (directory: string): Promise<AcmeAccountRow | null> => one(session, account, { directory }),
    /** All accounts, by directory. */
    accounts: (): Promise<readonly AcmeAccountRow[]> => accounts(session, {}),
    /** Orders under way with an encrypted key, of certificates above `after`, by certificate. */
    withKeys: (after: number, limit: number): Promise<readonly CertificateOrderRow[]> =>
      withKeys(session, { after, limit }),
    /** Orders that are due, and the earliest of them: for metrics. */
    async due(now: number): Promise<{ readonly orders: number; readonly since: number | null }> {
      return (await one(session, due, { now }))!;
    },
    /** Active certificates whose window was asked for before `before`, the longest ago first; none whose renewal fails. */
    windows: (ask: { readonly before: number; readonly limit: number }): Promise<readonly WindowQuestion[]> =>
      windows(session, ask),
  };
}

function acmeAccountWrites(session: Session) {
  return {
    /** Adds or replaces the account of a directory. */
    async putAccount(
      row: Pick<AcmeAccountRow, 'directory' | 'url' | 'sealed_key' | 'created_at'>,
    ): Promise<void> {
      await putAccount(session, row);
    },
    /** Replaces the encrypted key of an account, if it still is `before`. */
    async resealAccount(
      directory: string,
      keys: { readonly before: Uint8Array; readonly after: Uint8Array },
    ): Promise<boolean> {
      return (await resealAccount(session, { directory, ...keys })).length > 0;
    },
    /**
     * Takes one order from the allowance of an account. `null`: taken; else the time from which there is one. Times that a
     * clock which was ahead has stored do not delay orders. `reserved`: orders of the burst that are not taken.
     */
    async spend(
      directory: string,
      {
        now,
        everyMs,
        burst,
        reserved,
        longestPauseMs,
      }: OrderAllowance & { readonly now: number; readonly reserved: number },
    ): Promise<number | null> {
      const row = await one(session, lockAccount, { directory });
      if (row === null) return null;
      // A later end was stored by a clock that was ahead.
      if (row.paused_until > now && row.paused_until <= now + longestPauseMs) return row.paused_until;
      // As a leaky bucket: the allowance is full where `spent_until` is not after now, and empty a burst later. What a
      // clock that was ahead has stored counts as empty: without the bound, orders would wait until that time.
      const empty = now + burst * everyMs;
      const spent = Math.max(Math.min(row.spent_until, empty), now) + everyMs;
      const free = spent - (burst - reserved) * everyMs;
      if (free <= now) await setAllowance(session, { directory, spent_until: spent });
      else if (row.spent_until > empty) await setAllowance(session, { directory, spent_until: empty });
      return free <= now ? null : free;
    },
    async pause(directory: string, paused_until: number): Promise<void> {
      await pause(session, { directory, paused_until });
    },
  };
}
