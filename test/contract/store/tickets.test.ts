/** Support tickets, on both databases: the repository, the transitions against a naive model, both sides at once. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  CLOSED_TICKET_MS,
  MAX_ALERTING_MESSAGES,
  MAX_ANSWERED_MESSAGES,
  MAX_MESSAGES_PER_DAY,
  MAX_OPEN_TICKETS,
  MAX_TICKET_MESSAGES,
  MESSAGES_PERIOD_MS,
  PRUNED_TICKETS,
} from '../../../src/control/billing/limits.ts';
import {
  answerTicket,
  closeTicket,
  openTicket,
  writeToTicket,
} from '../../../src/control/billing/tickets.ts';
import { confirmedContact, emptyContact } from '../../../src/control/notices/contact.ts';
import { MAX_BEFORE_TICKETS } from '../../../src/control/notices/limits.ts';
import { notify } from '../../../src/control/notices/notify.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { TicketAuthor, TicketStatus } from '../../../src/control/store/tables/billing.ts';
import { seeded } from '../../support/generate-random.ts';
import { seed, T } from '../../support/sample-rows.ts';
import { kinds, openForAll } from './databases.ts';

/** A ticket as the naive model has it: the messages, and whether the last act closed it. */
interface Model {
  readonly texts: { readonly author: TicketAuthor; readonly body: string }[];
  closed: boolean;
}

/** The status by the definition: of the last act. */
const statusOf = ({ texts, closed }: Model): TicketStatus => {
  if (closed) return 'closed';
  return texts.at(-1)!.author === 'customer' ? 'open' : 'answered';
};

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let account: number;
  let made = 0;

  openForAll(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    account = await newAccount();
  });

  const newAccount = async (): Promise<number> => {
    made += 1;
    return (await store.write((tx) => seed(tx, `t${made}.example`))).account.id;
  };

  const open = (message = 'help', now = T, account_id = account) =>
    store.write((tx) => openTicket(tx, { account_id, subject: 'Sübject', message, domain: null, now }));
  const opened = async (message?: string, now?: number, account_id?: number): Promise<number> => {
    const outcome = await open(message, now, account_id);
    if (!outcome.ok) throw new Error(outcome.reason);
    return outcome.value.ticket.id;
  };
  const written = (id: number, body: string, now = T) =>
    store.write(async (tx) => {
      const ticket = (await tx.tickets.get(id))!;
      const whole = { ticket, messages: await tx.tickets.messages(id) };
      return writeToTicket(tx, whole, { account_id: ticket.account_id, body, now });
    });
  const answered = (id: number, body: string, now = T) =>
    store.write(async (tx) => answerTicket(tx, (await tx.tickets.get(id))!, { body, now }));
  const closed = (id: number, by: TicketAuthor, now = T) =>
    store.write(async (tx) => closeTicket(tx, (await tx.tickets.get(id))!, { by, now }));
  const messages = (id: number) => store.latest.tickets.messages(id);
  const ticket = async (id: number) => (await store.latest.tickets.get(id))!;

  /** Adds messages without the bounds. */
  const fill = (id: number, count: number, at = T) =>
    store.write(async (tx) => {
      const row = { ticket_id: id, account_id: account, author: 'customer', created_at: at } as const;
      for (let one = 0; one < count; one++) await tx.tickets.addMessage({ ...row, body: `${one}` });
    });

  test('tickets are listed newest first, by account and status, page by page', async () => {
    const other = await newAccount();
    const ids = [await opened(), await opened('b', T + 1, other), await opened(), await opened()];
    await closed(ids[2]!, 'customer', T + 2);
    const page = (
      accountId: number | null,
      options: { before?: number; status?: TicketStatus; limit?: number },
    ) =>
      store.latest.tickets
        .page(accountId, { limit: 10, status: null, ...options })
        .then((rows) => rows.map(({ id }) => id));
    expect(await page(account, {})).toEqual([ids[3], ids[2], ids[0]]);
    expect(await page(account, { limit: 2 })).toEqual([ids[3], ids[2]]);
    expect(await page(account, { before: ids[2]! })).toEqual([ids[0]]);
    expect(await page(account, { status: 'closed' })).toEqual([ids[2]]);
    expect((await page(null, {})).slice(0, 4)).toEqual([...ids].reverse());
    expect((await ticket(ids[1]!)).account).toBe(`owner of t${made}.example`);
    expect(await store.latest.tickets.get(4_000_000_000)).toBeNull();
  });

  test('texts of any Unicode, lines and control characters but NUL come back as they were', async () => {
    const body = 'a\r\n\tb\u001b[31m \u202e👩‍👩‍👧 \u0301 \u{10ffff} \u2028';
    const id = await opened(body);
    expect(await messages(id)).toMatchObject([
      { body, author: 'customer', account_id: account, created_at: T },
    ]);
    await answered(id, body, T + 1);
    expect((await messages(id))[1]).toMatchObject({ body, author: 'operator', account_id: null });
  });

  test('random sequences of both sides give the status, the messages and the order of a naive model', async () => {
    const random = seeded(20_261_125 + made);
    const models = new Map<number, Model>();
    let now = T;
    for (let step = 0; step < 160; step++) {
      // A clock may not advance, or go back: the other side is on another machine.
      now += random.int(3) - 1;
      const ids = [...models.keys()];
      const act = ids.length === 0 ? 0 : random.int(8);
      if (act === 0) {
        models.set(await opened(`first ${step}`, now), {
          texts: [{ author: 'customer', body: `first ${step}` }],
          closed: false,
        });
        continue;
      }
      const id = ids[random.int(ids.length)]!;
      const model = models.get(id)!;
      if (act <= 2) {
        expect((await written(id, `c ${step}`, now)).ok).toBe(true);
        model.texts.push({ author: 'customer', body: `c ${step}` });
        model.closed = false;
      } else if (act <= 5) {
        expect((await answered(id, `o ${step}`, now)).ok).toBe(true);
        model.texts.push({ author: 'operator', body: `o ${step}` });
        model.closed = false;
      } else {
        await closed(id, act === 6 ? 'customer' : 'operator', now);
        model.closed = true;
      }
    }
    for (const [id, model] of models) {
      const row = await ticket(id);
      const rows = await messages(id);
      expect([row.status, row.closed_at !== null]).toEqual([statusOf(model), model.closed]);
      expect(rows.map(({ author, body }) => ({ author, body }))).toEqual(model.texts);
      const times = rows.map(({ created_at }) => created_at);
      expect(times).toEqual([...times].sort((left, right) => left - right));
      expect(row.updated_at).toBeGreaterThanOrEqual(times.at(-1)!);
    }
    const all = [...models.values()];
    expect(await store.latest.tickets.countOpen(account)).toBe(all.filter((model) => !model.closed).length);
    const mine = all.flatMap(({ texts }) => texts).filter(({ author }) => author === 'customer');
    expect(await store.latest.tickets.countWritten(account, T - 1_000)).toBe(mine.length);
  });

  test('writes, answers and closings at once are all stored, one after the other', async () => {
    const ids = [await opened(), await opened(), await opened()];
    const acts = ids.flatMap((id) =>
      Array.from({ length: 8 }, (_, at) => [
        written(id, `c${at}`, T + at),
        answered(id, `o${at}`, T + at),
        closed(id, at % 2 === 0 ? 'customer' : 'operator', T + at),
      ]).flat(),
    );
    await Promise.all([...acts, ...Array.from({ length: 8 }, () => open())]);
    for (const id of ids) {
      const rows = await messages(id);
      expect(rows).toHaveLength(17);
      const times = rows.map(({ created_at }) => created_at);
      expect(times).toEqual([...times].sort((left, right) => left - right));
      // Whatever came last, the status is that of the last act: of the last message, or closed.
      const { status } = await ticket(id);
      expect([rows.at(-1)!.author === 'customer' ? 'open' : 'answered', 'closed']).toContain(status);
    }
  });

  test('an account has a bounded number of tickets that are not closed, also by opening closed ones again', async () => {
    const first = await opened();
    for (let at = 1; at < MAX_OPEN_TICKETS; at++) await opened();
    expect(await open()).toMatchObject({ ok: false, reason: expect.stringContaining('close one first') });
    await closed(first, 'customer');
    const last = await opened();
    expect(await written(first, 'again')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('close one first'),
    });
    expect((await ticket(first)).status).toBe('closed');
    expect((await written(last, 'more')).ok).toBe(true);
    const other = await newAccount();
    expect((await open('x', T, other)).ok).toBe(true);
  });

  test('an account writes a bounded number of messages a day, and again a day later', async () => {
    const id = await opened();
    await fill(await opened(), MAX_MESSAGES_PER_DAY - 3);
    expect((await written(id, 'last')).ok).toBe(true);
    for (const refused of [await written(id, 'more'), await open()])
      expect(refused).toMatchObject({ ok: false, reason: expect.stringContaining('write again later') });
    expect((await written(id, 'a day later', T + MESSAGES_PERIOD_MS)).ok).toBe(true);
  });

  test('a ticket has a bounded number of messages, and the operator can still answer the last one', async () => {
    const id = await opened();
    await fill(id, MAX_TICKET_MESSAGES - 2, T - 2 * MESSAGES_PERIOD_MS);
    expect((await written(id, 'last')).ok).toBe(true);
    expect(await written(id, 'more')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('open a new one'),
    });
    for (let at = MAX_TICKET_MESSAGES; at < MAX_ANSWERED_MESSAGES; at++)
      expect((await answered(id, `answer ${at}`)).ok).toBe(true);
    expect(await answered(id, 'more')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('close it'),
    });
    expect(await messages(id)).toHaveLength(MAX_ANSWERED_MESSAGES);
  });

  test('tickets that were closed two years ago are removed with their messages, a few at a time', async () => {
    // Before the tickets of the other tests, which stay.
    const old = T - 2 * CLOSED_TICKET_MS;
    const ids: number[] = [];
    for (let at = 0; at < PRUNED_TICKETS + 2; at++) ids.push(await opened('x', old));
    for (const id of ids.slice(1)) await closed(id, 'customer', old);
    await opened('x', old + CLOSED_TICKET_MS);
    expect(await ticket(ids[1]!)).not.toBeNull();
    await opened('x', old + CLOSED_TICKET_MS + 1);
    const rows = await Promise.all(ids.map((id) => store.latest.tickets.get(id)));
    expect(rows.filter((row) => row !== null)).toHaveLength(2);
    expect(rows[0]).not.toBeNull();
    const removed = ids[rows.indexOf(null)]!;
    expect(await messages(removed)).toEqual([]);
  });

  test('operators are notified when a ticket begins to wait, the account of answers and closings by the operator', async () => {
    const operator = await newAccount();
    await store.write((tx) => tx.contacts.setOperator(operator, true));
    const feed = async (id: number) =>
      (await store.latest.notifications.list(id, { limit: 50, unread: false }))
        .map((row) => row.kind)
        .reverse();
    const id = await opened();
    await written(id, 'more');
    await answered(id, 'answer');
    await answered(id, 'second answer');
    await written(id, 'thanks');
    await closed(id, 'customer');
    await written(id, 'one more');
    await closed(id, 'operator');
    await closed(id, 'operator');
    expect(await feed(operator)).toEqual(['ticket.opened', 'ticket.opened', 'ticket.opened']);
    expect(await feed(account)).toEqual(['ticket.answered', 'ticket.answered', 'ticket.closed']);
    await store.write((tx) => tx.contacts.setOperator(operator, false));
  });

  test('tickets of one account, and of many, leave e-mails for other tickets and for what else operators get', async () => {
    const operator = await newAccount();
    await store.write(async (tx) => {
      await tx.contacts.setOperator(operator, true);
      await tx.contacts.put(confirmedContact(emptyContact(operator, 'email'), 'ops@example.net'));
    });
    const waiting = async (): Promise<number> => {
      const rows = await store.latest.notifications.list(operator, { limit: 500, unread: false });
      const deliveries = await store.latest.notifications.deliveriesOf(rows.map(({ id }) => id));
      return deliveries.filter(({ state }) => state === 'waiting').length;
    };
    for (let at = 0; at < 20; at++) await opened();
    expect(await waiting()).toBe(MAX_ALERTING_MESSAGES);
    // The feed has all of them.
    expect(await store.latest.notifications.countUnread(operator)).toBe(20);
    const quiet = await newAccount();
    await opened('a real question', T, quiet);
    expect(await waiting()).toBe(MAX_ALERTING_MESSAGES + 1);
    for (let many = 0; many < 5; many++) {
      const flooding = await newAccount();
      for (let at = 0; at < 6; at++) await opened('x', T, flooding);
    }
    expect(await waiting()).toBe(MAX_BEFORE_TICKETS.email);
    const lost = { node: 'eu-1', node_groups: ['eu'], last_seen_at: new Date(T).toISOString() };
    await store.write((tx) => notify(tx, { kind: 'node.lost', data: lost, domain: null, now: T }));
    expect(await waiting()).toBe(MAX_BEFORE_TICKETS.email + 1);
    await store.write((tx) => tx.contacts.setOperator(operator, false));
  });
});
