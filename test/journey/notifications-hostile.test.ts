/** Notifications to receivers that hang, never end, send too much or lead elsewhere, and with text that is made to break a mail. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { confirmedContact, emptyContact } from '../../src/control/notices/contact.ts';
import { MAX_BEFORE_STRANGERS } from '../../src/control/notices/limits.ts';
import { notify } from '../../src/control/notices/notify.ts';
import { testDatabases } from '../support/databases.ts';
import { type NotifyRig, openNotifyRig } from '../support/notify-rig.ts';
import { startMailServer } from '../support/outlets.ts';
import { until } from '../support/until.ts';

/** A server that does what `onData` says with each connection, from its first octets on. */
interface RawServer {
  readonly port: number;
  readonly sockets: Set<Socket>;
  /** Connections so far. */
  count(): number;
  close(): Promise<void>;
}

async function startRaw(onConnection: (socket: Socket) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server: Server = createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    count: () => count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** The head of a mail: its lines before the first empty one, continuation lines joined. */
function headOf(raw: string): readonly string[] {
  const [head = ''] = raw.split('\r\n\r\n');
  return head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
}

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let rig: NotifyRig;
    const servers: RawServer[] = [];

    beforeAll(async () => {
      rig = await openNotifyRig(database);
    });
    afterEach(async () => {
      await rig.reset();
      await Promise.all(servers.splice(0).map((server) => server.close()));
    });
    afterAll(() => rig.close());

    async function raw(onConnection: (socket: Socket) => void): Promise<RawServer> {
      const server = await startRaw(onConnection);
      servers.push(server);
      return server;
    }

    test('receivers that never answer are left in time, their connections closed, and hold up nobody else', async () => {
      const silent = await raw((socket) => socket.resume());
      // A relay that greets octet by octet is never idle: only the time of the attempt ends it.
      const slow = await raw((socket) => {
        socket.resume();
        const timer = setInterval(() => socket.write('2'), 200);
        socket.on('close', () => clearInterval(timer));
      });
      const [ann, bob] = [await rig.subject(), await rig.subject()];
      await rig.hook(ann.accountId, `http://127.0.0.1:${silent.port}/`);
      await rig.hook(bob.accountId, `${rig.receiver.url}/bob`);
      const [lost] = await rig.ban(ann);
      rig.startWorker({ smtp: `smtp://127.0.0.1:${slow.port}` });
      await until(() => silent.count() > 0 && slow.count() > 0, 'both attempts');
      const [alive] = await rig.ban(bob);
      await until(
        async () => (await rig.deliveries(alive!.id)).some(({ state }) => state === 'delivered'),
        'the webhook of the other account',
      );
      // The attempts to the receivers that hang are still under way.
      expect((await rig.deliveries(lost!.id)).map(({ last_error }) => last_error)).toEqual(['', '']);
      const rows = await until(async () => {
        const found = await rig.deliveries(lost!.id);
        return found.every(({ last_error }) => last_error !== '') ? found : null;
      }, 'the end of both attempts');
      expect(rows.map(({ channel, state, last_error }) => [channel, state, last_error])).toEqual([
        ['email', 'waiting', 'no answer in time'],
        ['webhook', 'waiting', 'no answer in time'],
      ]);
      await until(() => silent.sockets.size === 0, 'the connection of the webhook to be closed');
      await rig.stopWorkers();
      await until(() => slow.sockets.size === 0, 'the connection to the relay to be closed');
    });

    test('a status counts although its body never ends', async () => {
      const endless = await raw((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          const timer = setInterval(() => socket.write('x'.repeat(1_024)), 50);
          socket.on('close', () => clearInterval(timer));
        });
      });
      const ann = await rig.subject();
      await rig.hook(ann.accountId, `http://127.0.0.1:${endless.port}/`);
      const [row] = await rig.ban(ann);
      rig.startWorker();
      await rig.settled(row!.id, 'delivered');
      await until(() => endless.sockets.size === 0, 'the connection to be closed');
      expect(endless.count()).toBe(1);
    });

    test('a body without an end and a head without an end are read up to a bound', async () => {
      let sent = 0;
      const flood = (head: string) => (socket: Socket) => {
        const chunk = 'x'.repeat(65_536);
        const more = (): void => {
          while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
          sent += chunk.length;
        };
        socket.once('data', () => {
          socket.write(head);
          more();
        });
        socket.on('drain', more);
      };
      const body = await raw(flood('HTTP/1.1 200 OK\r\n\r\n'));
      const head = await raw(flood('HTTP/1.1 200 OK\r\nX-Long: '));
      const [ann, bob] = [await rig.subject(), await rig.subject()];
      await rig.hook(ann.accountId, `http://127.0.0.1:${body.port}/`);
      await rig.hook(bob.accountId, `http://127.0.0.1:${head.port}/`);
      const [good] = await rig.ban(ann);
      const [bad] = await rig.ban(bob);
      rig.startWorker();
      await rig.settled(good!.id, 'delivered');
      const failed = await rig.failure(bad!.id);
      expect(failed).toMatchObject({
        channel: 'webhook',
        last_error: 'the endpoint: UND_ERR_HEADERS_OVERFLOW',
      });
      await until(() => body.sockets.size + head.sockets.size === 0, 'the connections to be closed');
      // What the sockets of this machine buffer, and not the gigabytes of the time of an attempt.
      expect(sent).toBeLessThan(64 * 1_048_576);
    });

    test('what is no HTTP, and a connection that breaks off, are attempted again', async () => {
      const odd = await raw((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')));
      const gone = await raw((socket) => socket.once('data', () => socket.resetAndDestroy()));
      const ann = await rig.subject();
      await rig.hook(ann.accountId, `http://127.0.0.1:${odd.port}/`);
      await rig.hook(ann.accountId, `http://127.0.0.1:${gone.port}/`);
      const [row] = await rig.ban(ann);
      rig.startWorker();
      const rows = await until(async () => {
        const found = (await rig.deliveries(row!.id)).filter(({ channel }) => channel === 'webhook');
        return found.every(({ last_error }) => last_error !== '') ? found : null;
      }, 'both failures');
      expect(rows.map(({ state, tries }) => [state, tries])).toEqual([
        ['waiting', 1],
        ['waiting', 1],
      ]);
      expect(rows.map(({ last_error }) => last_error)).toEqual([
        expect.stringMatching(/^the endpoint: Response does not match the HTTP/),
        'the endpoint: ECONNRESET',
      ]);
    });

    test('text of others adds no header and no recipient to a mail', async () => {
      const ann = await rig.subject();
      const evil = 'x\r\nBcc: eve@evil.example\r\n\r\n<script>alert(1)</script>';
      await rig.store.write(async (tx) => {
        const common = { data: { reason: evil }, now: rig.clock() };
        const domain = { ...ann.domain, name: `${ann.domain.name}${evil}` };
        await notify(tx, { ...common, kind: 'domain.banned', domain });
        const key = {
          key_id: 1,
          name: `=?utf-8?q?k=0D=0ABcc:_eve?=${evil}`,
          read_only: true,
          expires_at: null,
        };
        await notify(tx, {
          ...{ kind: 'key.created', data: key, domain: null },
          ...{ account_id: ann.accountId, now: rig.clock() },
        });
      });
      rig.startWorker();
      await until(() => rig.mail.mails.length === 2, 'both mails');
      for (const { to, raw } of rig.mail.mails) {
        expect(to).toEqual([ann.email]);
        const head = headOf(raw);
        expect(head.filter((line) => /^(?:bcc|cc):/i.test(line))).toEqual([]);
        expect(head.filter((line) => /^to:/i.test(line))).toEqual([`To: ${ann.email}`]);
        expect(head.filter((line) => /^subject:/i.test(line))).toHaveLength(1);
        const [, html = ''] = raw.replaceAll('=\r\n', '').split('<!DOCTYPE html>');
        expect(html).toContain('&lt;script&gt;');
        expect(html).not.toContain('<script>');
        // Nor does it make a line of its own in the text.
        expect(raw.slice(raw.indexOf('\r\n\r\n'))).not.toMatch(/^Bcc: eve@evil\.example\r$/m);
      }
    });

    test('an address goes to the server as it was confirmed, whatever its characters mean elsewhere', async () => {
      const addresses = ['=?utf-8?q?eve=40evil.example=2C?=@shop.example', "o'neil+{a}|b@shop.example"];
      const ids: number[] = [];
      for (const address of addresses) {
        const ann = await rig.subject();
        await rig.store.write((tx) =>
          tx.contacts.put(confirmedContact(emptyContact(ann.accountId, 'email'), address)),
        );
        ids.push((await rig.ban(ann))[0]!.id);
      }
      rig.startWorker();
      for (const id of ids) await rig.settled(id, 'delivered');
      // Two accounts' mails are sent at the same time.
      expect(rig.mail.mails.map(({ to }) => to).sort()).toEqual(addresses.map((address) => [address]).sort());
    });

    test('a mail that the server took without an answer is sent again under its Message-ID', async () => {
      const ids: string[] = [];
      const broken = await startMailServer({
        onData(stream, _session, done) {
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('end', () => {
            ids.push(/^Message-ID: (\S+)/im.exec(Buffer.concat(chunks).toString())![1]!);
            if (ids.length > 1) return done();
            // The message is accepted, and the answer is lost.
            return done(Object.assign(new Error('lost'), { responseCode: 421 }));
          });
        },
      });
      const ann = await rig.subject();
      const [row] = await rig.ban(ann);
      rig.startWorker({ smtp: broken.url });
      const failed = await rig.failure(row!.id);
      expect(failed).toMatchObject({ state: 'waiting', last_error: 'the mail server answered 421' });
      rig.ahead = failed.next_at - Date.now() + 1;
      await rig.settled(row!.id, 'delivered');
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(1);
      await rig.stopWorkers();
      await broken.close();
    });

    test('invitations of strangers leave places for what matters', async () => {
      const ann = await rig.subject();
      const ids: number[] = [];
      for (let at = 0; at < 12; at++) {
        const other = await rig.subject();
        const expires_at = new Date(rig.clock() + 60_000).toISOString();
        const invitation = { event: 'invited', role: 'editor', account: null } as const;
        const notice = {
          kind: 'domain.shared',
          domain: other.domain,
          most: MAX_BEFORE_STRANGERS,
          data: { ...invitation, invitation_id: at + 1, expires_at },
        } as const;
        const [row] = await rig.store.write((tx) =>
          notify(tx, { ...notice, account_id: ann.accountId, now: rig.clock() }),
        );
        ids.push(row!.id);
      }
      const states = await Promise.all(ids.map(async (id) => (await rig.deliveries(id))[0]!.state));
      expect(states.filter((state) => state === 'waiting')).toHaveLength(5);
      const [outage] = await rig.outage(ann);
      expect((await rig.deliveries(outage!.id))[0]).toMatchObject({ state: 'waiting' });
    });
  },
);
