/** Where accounts are reached: addresses, webhooks, preferences, and the accounts of operators. */
import { flags, one, type Session, statement } from '../database/statement.ts';
import type { ContactRow, PreferenceRow, WebhookRow } from '../tables/notifications.ts';

const decodePreference = flags<PreferenceRow>('enabled');

const list = statement((builder, p: { account_id: number }) =>
  builder
    .selectFrom('account_contacts')
    .selectAll()
    .where('account_id', '=', p.account_id)
    .orderBy('channel'),
);

const put = statement((builder, p: ContactRow) => {
  const values = {
    address: p.address,
    pending: p.pending,
    code_hash: p.code_hash,
    code_expires_at: p.code_expires_at,
    code_tries: p.code_tries,
    sends: p.sends,
    sends_since: p.sends_since,
    sent_at: p.sent_at,
  };
  return builder
    .insertInto('account_contacts')
    .values({ account_id: p.account_id, channel: p.channel, ...values })
    .onConflict((conflict) => conflict.columns(['account_id', 'channel']).doUpdateSet(values));
});

const remove = statement((builder, p: { account_id: number; channel: string }) =>
  builder
    .deleteFrom('account_contacts')
    .where('account_id', '=', p.account_id)
    .where('channel', '=', p.channel as ContactRow['channel'])
    .returning('account_id'),
);

const webhooks = statement((builder, p: { account_id: number }) =>
  builder.selectFrom('account_webhooks').selectAll().where('account_id', '=', p.account_id).orderBy('id'),
);

const insertWebhook = statement((builder, p: Omit<WebhookRow, 'id'>) =>
  builder
    .insertInto('account_webhooks')
    .values({ account_id: p.account_id, url: p.url, secret: p.secret, created_at: p.created_at })
    .returning('id'),
);

const removeWebhook = statement((builder, p: { account_id: number; id: number }) =>
  builder
    .deleteFrom('account_webhooks')
    .where('account_id', '=', p.account_id)
    .where('id', '=', p.id)
    .returning('id'),
);

const preferences = statement((builder, p: { account_id: number }) =>
  builder
    .selectFrom('notification_preferences')
    .selectAll()
    .where('account_id', '=', p.account_id)
    .orderBy('kind')
    .orderBy('channel'),
);

const putPreference = statement((builder, p: PreferenceRow) =>
  builder
    .insertInto('notification_preferences')
    .values({ account_id: p.account_id, kind: p.kind, channel: p.channel, enabled: p.enabled })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'kind', 'channel']).doUpdateSet({ enabled: p.enabled }),
    ),
);

const operators = statement((builder, _: object) =>
  builder.selectFrom('operator_accounts').select('account_id').orderBy('account_id'),
);

const addOperator = statement((builder, p: { account_id: number }) =>
  builder
    .insertInto('operator_accounts')
    .values({ account_id: p.account_id })
    .onConflict((conflict) => conflict.column('account_id').doNothing()),
);

const removeOperator = statement((builder, p: { account_id: number }) =>
  builder.deleteFrom('operator_accounts').where('account_id', '=', p.account_id),
);

/** Where an account is reached, and what it wants on which channel. */
export function contactReads(session: Session) {
  return {
    /** The e-mail address and the phone number, by channel. */
    list: (accountId: number): Promise<readonly ContactRow[]> => list(session, { account_id: accountId }),
    async get(accountId: number, channel: ContactRow['channel']): Promise<ContactRow | null> {
      return (await list(session, { account_id: accountId })).find((row) => row.channel === channel) ?? null;
    },
    /** By id. */
    webhooks: (accountId: number): Promise<readonly WebhookRow[]> =>
      webhooks(session, { account_id: accountId }),
    async webhook(accountId: number, id: number): Promise<WebhookRow | null> {
      return (await webhooks(session, { account_id: accountId })).find((row) => row.id === id) ?? null;
    },
    /** What differs from the defaults, by kind and channel. */
    async preferences(accountId: number): Promise<readonly PreferenceRow[]> {
      return (await preferences(session, { account_id: accountId })).map(decodePreference);
    },
    /** Accounts that receive what concerns operators, by id. */
    async operators(): Promise<readonly number[]> {
      return (await operators(session, {})).map(({ account_id }) => account_id);
    },
  };
}

/** Changes of contacts, webhooks and preferences. */
export function contactWrites(session: Session) {
  return {
    /** Replaces the contact of the account and channel. `missing` when there is no such account. */
    async put(contact: ContactRow): Promise<void> {
      await put(session, contact);
    },
    async remove(accountId: number, channel: ContactRow['channel']): Promise<boolean> {
      return (await one(session, remove, { account_id: accountId, channel })) !== null;
    },
    async insertWebhook(webhook: Omit<WebhookRow, 'id'>): Promise<WebhookRow> {
      const [row] = await insertWebhook(session, webhook);
      return { ...webhook, id: row!.id };
    },
    async removeWebhook(accountId: number, id: number): Promise<boolean> {
      return (await one(session, removeWebhook, { account_id: accountId, id })) !== null;
    },
    async putPreference(preference: PreferenceRow): Promise<void> {
      await putPreference(session, preference);
    },
    async setOperator(accountId: number, operator: boolean): Promise<void> {
      await (operator ? addOperator : removeOperator)(session, { account_id: accountId });
    },
  };
}
