/** Where accounts are reached: addresses, webhooks, preferences, and the accounts of operators. */
import type { ContactReads, ContactWrites } from '../../notify-repositories.ts';
import type { ContactRow, PreferenceRow, WebhookRow } from '../../tables/notifications.ts';
import { flags, one, type Session, statement } from '../statement.ts';

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

/** The repository of a session. */
export function contacts(session: Session): ContactReads & ContactWrites {
  const listOf = (accountId: number) => list(session, { account_id: accountId });
  const webhooksOf = (accountId: number) => webhooks(session, { account_id: accountId });
  return {
    list: listOf,
    async get(accountId, channel) {
      return (await listOf(accountId)).find((row) => row.channel === channel) ?? null;
    },
    webhooks: webhooksOf,
    async webhook(accountId, id) {
      return (await webhooksOf(accountId)).find((row) => row.id === id) ?? null;
    },
    async preferences(accountId) {
      return (await preferences(session, { account_id: accountId })).map(decodePreference);
    },
    async operators() {
      return (await operators(session, {})).map(({ account_id }) => account_id);
    },
    async put(contact) {
      await put(session, contact);
    },
    async remove(accountId, channel) {
      return (await one(session, remove, { account_id: accountId, channel })) !== null;
    },
    async insertWebhook(webhook) {
      const [row] = await insertWebhook(session, webhook);
      return { ...webhook, id: row!.id };
    },
    async removeWebhook(accountId, id) {
      return (await one(session, removeWebhook, { account_id: accountId, id })) !== null;
    },
    async putPreference(preference) {
      await putPreference(session, preference);
    },
    async setOperator(accountId, operator) {
      await (operator ? addOperator : removeOperator)(session, { account_id: accountId });
    },
  };
}
