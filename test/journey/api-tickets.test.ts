/** Support tickets of an account over real sockets: by the typed client, and every wrong request. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setAccountActive } from '../../src/control/accounts/keys.ts';
import { MAX_OPEN_TICKETS, MAX_TICKET_MESSAGE } from '../../src/control/billing/limits.ts';
import { answerTicket } from '../../src/control/billing/tickets.ts';
import { createClient, dataOf, ifMatch } from '../../src/control/client/index.ts';
import { addMember, type Person, send, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let made = 0;

    beforeAll(async () => {
      api = await startApi(database);
    });
    afterAll(() => api.close());

    const person = (): Promise<Person> => api.person(`person${++made}`);
    const ticket = { subject: 'Certificate', message: 'It has expired.' };
    const opened = async (of: Person, fields: object = {}): Promise<number> => {
      const { body, status, text } = await of.call('POST', '/tickets/', { ...ticket, ...fields });
      if (status !== 200) throw new Error(text);
      return body.id;
    };
    const answer = (id: number, body: string) =>
      api.store.write(async (tx) => answerTicket(tx, (await tx.tickets.get(id))!, { body, now: api.now() }));

    test('the typed client opens, reads, continues, lists and closes a ticket', async () => {
      const ann = await person();
      const client = createClient({ baseUrl: `${api.url}/`, key: ann.key });
      const first = await dataOf(client.POST('/tickets/', { body: ticket }));
      expect(first).toMatchObject({ subject: 'Certificate', domain: null, status: 'open', closed_at: null });
      expect(first.messages).toMatchObject([{ author: 'customer', body: 'It has expired.' }]);
      const params = { path: { ticketId: first.id } };
      await answer(first.id, 'A new one:\n\n  1. was issued');
      const read = await dataOf(client.GET('/tickets/{ticketId}', { params }));
      expect(read.status).toBe('answered');
      expect(read.messages[1]).toMatchObject({ author: 'operator', body: 'A new one:\n\n  1. was issued' });
      const body = { message: 'Thank you.' };
      const written = await dataOf(client.POST('/tickets/{ticketId}/messages', { params, body }));
      expect(written).toMatchObject({ status: 'open', messages: { length: 3 } });
      const closed = await dataOf(client.POST('/tickets/{ticketId}/close', { params }));
      expect(closed).toMatchObject({ id: first.id, status: 'closed', closed_at: expect.any(String) });
      expect(await dataOf(client.POST('/tickets/{ticketId}/close', { params }))).toEqual(closed);
      expect(await dataOf(client.GET('/tickets/', { params: { query: { status: 'closed' } } }))).toEqual([
        closed,
      ]);
      expect(await dataOf(client.GET('/tickets/', { params: { query: { status: 'open' } } }))).toEqual([]);
      const again = await dataOf(client.POST('/tickets/{ticketId}/messages', { params, body }));
      expect(again).toMatchObject({ status: 'open', closed_at: null });
      const headers = ifMatch('"stale"');
      const refused = await client.POST('/tickets/{ticketId}/close', { params, headers });
      expect([refused.response.status, refused.error?.error]).toEqual([
        412,
        'the object is not what `If-Match` says',
      ]);
    });

    test("another account's ticket is not found, whatever is asked of it", async () => {
      const [ann, eve] = [await person(), await person()];
      const id = await opened(ann);
      for (const wrong of [id, 'x', 0, 4_294_967_295, '99999999999', '1e1']) {
        const paths = [
          ['GET', `/tickets/${wrong}`, undefined],
          ['POST', `/tickets/${wrong}/messages`, { message: 'x' }],
          ['POST', `/tickets/${wrong}/close`, undefined],
        ] as const;
        for (const [method, path, body] of paths) {
          const { status, text } = await eve.call(method, path, body);
          expect([path, status, text]).toEqual([path, 404, '{"error":"not found"}']);
        }
      }
      expect((await eve.call('GET', '/tickets/')).body).toEqual([]);
      expect((await ann.call('GET', `/tickets/${id}`)).body).toMatchObject({
        status: 'open',
        messages: { length: 1 },
      });
    });

    test('a ticket is about a domain that the account sees, and remains when it sees the domain no more', async () => {
      const [ann, bob] = [await person(), await person()];
      const name = `shop${made}.example`;
      await ann.call('POST', '/domains/', { name });
      const unseen = await bob.call('POST', '/tickets/', { ...ticket, domain: name });
      const unknown = await bob.call('POST', '/tickets/', { ...ticket, domain: 'nobody.example' });
      const misspelt = await bob.call('POST', '/tickets/', { ...ticket, domain: '' });
      for (const refused of [unseen, unknown, misspelt])
        expect([refused.status, refused.text]).toEqual([
          400,
          '{"error":"domain: must be a domain that the account sees"}',
        ]);
      await addMember(ann, { member: bob, domain: name, role: 'viewer' });
      const mine = await opened(bob, { domain: name.toUpperCase() });
      const owners = await opened(ann, { domain: name });
      expect((await bob.call('GET', `/tickets/${mine}`)).body.domain).toBe(name);
      // The owner of the domain does not see what members write to support.
      expect((await ann.call('GET', `/tickets/${mine}`)).status).toBe(404);
      await ann.call('DELETE', `/domains/${name}/members/${bob.account.id}`);
      expect((await bob.call('POST', '/tickets/', { ...ticket, domain: name })).status).toBe(400);
      expect((await bob.call('POST', `/tickets/${mine}/messages`, { message: 'still' })).body).toMatchObject({
        domain: name,
      });
      await ann.call('DELETE', `/domains/${name}`);
      expect((await ann.call('GET', `/tickets/${owners}`)).body.domain).toBe(name);
      expect((await ann.call('POST', `/tickets/${owners}/close`)).body).toMatchObject({
        domain: name,
        status: 'closed',
      });
    });

    test('a read-only key reads and does not write; the keys of a disabled account do nothing', async () => {
      const ann = await person();
      const id = await opened(ann);
      const { key } = await ann.anotherKey({ readOnly: true });
      const headers = { authorization: `Bearer ${key}` };
      const call = (method: string, path: string, body?: unknown) =>
        send(api.port, { method, path, body, headers });
      expect((await call('GET', `/tickets/${id}`)).status).toBe(200);
      for (const [path, body] of [
        ['/tickets/', ticket],
        [`/tickets/${id}/messages`, { message: 'x' }],
        [`/tickets/${id}/close`, undefined],
      ] as const) {
        const { status, text } = await call('POST', path, body);
        expect([path, status, text]).toEqual([path, 403, '{"error":"read-only API key"}']);
      }
      await setAccountActive(api.store, { name: ann.account.name, active: false, now: api.now() });
      expect((await ann.call('GET', '/tickets/')).status).toBe(401);
      expect((await ann.call('POST', '/tickets/', ticket)).status).toBe(401);
      // The operator can still answer, and the account reads it once it is enabled.
      expect((await answer(id, 'answer')).ok).toBe(true);
      await setAccountActive(api.store, { name: ann.account.name, active: true, now: api.now() });
      expect((await ann.call('GET', `/tickets/${id}`)).body.status).toBe('answered');
    });

    test.each([
      ['no subject', { message: 'x' }, 'subject: '],
      ['an empty subject', { subject: '', message: 'x' }, 'subject: must not be empty'],
      ['a blank subject', { subject: ' \u00a0', message: 'x' }, 'subject: must not be blank'],
      [
        'a subject of two lines',
        { subject: 'a\r\nBcc: eve@evil.example', message: 'x' },
        'subject: must be one line of printable text',
      ],
      [
        'a subject with a terminal escape',
        { subject: 'a\u001b[2J', message: 'x' },
        'subject: must be one line of printable text',
      ],
      [
        'a subject that turns its direction',
        { subject: 'a\u202eb', message: 'x' },
        'subject: must be one line of printable text',
      ],
      [
        'a subject with half a character',
        { subject: 'a\ud800', message: 'x' },
        'subject: must be valid Unicode text',
      ],
      [
        'a long subject',
        { subject: 'x'.repeat(201), message: 'x' },
        'subject: must be at most 200 characters',
      ],
      ['a blank message', { subject: 'a', message: ' \n\t\n' }, 'message: must not be blank'],
      ['a NUL', { subject: 'a', message: 'a\0b' }, 'message: must not hold a NUL character'],
      [
        'a long message',
        { subject: 'a', message: 'x'.repeat(MAX_TICKET_MESSAGE + 1) },
        'message: must be at most 10000 characters',
      ],
      ['an unknown field', { ...ticket, priority: 'high' }, 'priority: '],
      ['a domain of another type', { ...ticket, domain: 7 }, 'domain: '],
    ])('%s is a 400 that names the field', async (_name, body, expected) => {
      const ann = await person();
      const { status, body: answered } = await ann.call('POST', '/tickets/', body);
      expect(status).toBe(400);
      expect(answered.error).toContain(expected);
      expect((await ann.call('GET', '/tickets/')).body).toEqual([]);
    });

    test('a message of 10,000 characters outside the BMP, with controls and markup, comes back as it was', async () => {
      const ann = await person();
      const message = `\u001b[31m</script>\u202e\r\n\t${'😀'.repeat(MAX_TICKET_MESSAGE - 19)}`;
      expect([...message].length).toBeLessThanOrEqual(MAX_TICKET_MESSAGE);
      const id = await opened(ann, { message });
      const read = await ann.call('GET', `/tickets/${id}`);
      expect(read.body.messages[0].body).toBe(message);
      expect(read.headers['content-type']).toBe('application/json; charset=utf-8');
    });

    test('unknown query parameters are a 400, and a write that is only validated changes nothing', async () => {
      const ann = await person();
      const id = await opened(ann);
      for (const query of [
        '?statsu=open',
        '?status=new',
        '?limit=0',
        '?limit=1001',
        '?before=x',
        '?limit=1&limit=2',
      ])
        expect([query, (await ann.call('GET', `/tickets/${query}`)).status]).toEqual([query, 400]);
      expect((await ann.call('GET', '/tickets/?statsu=open')).body.error).toContain('did you mean `status`?');
      expect((await ann.call('POST', '/tickets/?validate=true', ticket)).status).toBe(400);
      expect((await ann.call('GET', `/tickets/${id}?x=1`)).status).toBe(400);
      expect((await ann.call('GET', '/tickets')).status).toBe(404);
      const only = '?validate_only=true';
      expect((await ann.call('POST', `/tickets/${only}`, ticket)).status).toBe(200);
      expect((await ann.call('POST', `/tickets/${id}/messages${only}`, { message: 'x' })).status).toBe(200);
      expect((await ann.call('POST', `/tickets/${id}/close${only}`)).body.status).toBe('closed');
      expect((await ann.call('GET', '/tickets/')).body).toMatchObject([{ id, status: 'open' }]);
      expect((await ann.call('GET', `/tickets/${id}`)).body.messages).toHaveLength(1);
      expect((await ann.call('POST', `/tickets/${only}`, { ...ticket, subject: '' })).status).toBe(400);
    });

    test('a list and a ticket have an ETag; If-Match of a ticket refuses to write once the other side has', async () => {
      const ann = await person();
      const id = await opened(ann);
      const { etag = '' } = (await ann.call('GET', `/tickets/${id}`)).headers;
      expect((await ann.call('GET', `/tickets/${id}`, undefined, { 'if-none-match': etag })).status).toBe(
        304,
      );
      const listed = (await ann.call('GET', '/tickets/')).headers['etag'] ?? '';
      expect((await ann.call('GET', '/tickets/', undefined, { 'if-none-match': listed })).status).toBe(304);
      await answer(id, 'wait');
      expect((await ann.call('GET', '/tickets/', undefined, { 'if-none-match': listed })).status).toBe(200);
      const conditional = { 'if-match': etag };
      expect((await ann.call('POST', `/tickets/${id}/close`, undefined, conditional)).status).toBe(412);
      expect((await ann.call('POST', `/tickets/${id}/messages`, { message: 'x' }, conditional)).status).toBe(
        412,
      );
      const now = { 'if-match': (await ann.call('GET', `/tickets/${id}`)).headers['etag'] ?? '' };
      const written = await ann.call('POST', `/tickets/${id}/messages`, { message: 'x' }, now);
      expect([written.status, written.body.messages.length]).toEqual([200, 3]);
      const { headers: last } = await ann.call('GET', `/tickets/${id}`);
      const next = { 'if-match': last['etag'] ?? '' };
      expect((await ann.call('POST', `/tickets/${id}/close`, undefined, next)).status).toBe(200);
    });

    test('a list goes on page by page by its Link, newest first, also when tickets are opened meanwhile', async () => {
      const ann = await person();
      const ids: number[] = [];
      for (let at = 0; at < 7; at++) ids.push(await opened(ann));
      await ann.call('POST', `/tickets/${ids[3]}/close`);
      const seen: number[] = [];
      let path: string | undefined = '/tickets/?limit=2&status=open';
      while (path !== undefined) {
        const page = await ann.call('GET', path);
        seen.push(...page.body.map(({ id }: { id: number }) => id));
        path = /^<([^>]+)>; rel="next"$/.exec(page.headers['link'] ?? '')?.[1];
        await opened(ann);
      }
      expect(seen).toEqual(ids.filter((_id, at) => at !== 3).reverse());
    });

    test('beyond the bound of open tickets a new one is a 409 that says what to do', async () => {
      const ann = await person();
      const first = await opened(ann);
      for (let at = 1; at < MAX_OPEN_TICKETS; at++) await opened(ann);
      const refused = await ann.call('POST', '/tickets/', ticket);
      expect([refused.status, refused.body.error]).toEqual([
        409,
        'the account has 50 tickets that are not closed, and may not have more; close one first',
      ]);
      expect((await ann.call('POST', `/tickets/${first}/close`)).status).toBe(200);
      expect((await ann.call('POST', '/tickets/', ticket)).status).toBe(200);
      expect((await ann.call('POST', `/tickets/${first}/messages`, { message: 'x' })).status).toBe(409);
    });

    test('requests of several keys at once are all stored, and none fails', async () => {
      const ann = await person();
      const id = await opened(ann);
      const calls = Array.from({ length: 20 }, (_, at) => [
        ann.call('POST', `/tickets/${id}/messages`, { message: `m${at}` }),
        ann.call('POST', '/tickets/', ticket),
        answer(id, `a${at}`),
      ]).flat();
      const results = await Promise.all(calls);
      for (const result of results)
        expect('status' in result ? result.status : result.ok).toBe('status' in result ? 200 : true);
      expect((await ann.call('GET', `/tickets/${id}`)).body.messages).toHaveLength(41);
    });
  },
);
