/** Notifications of `edgeplan serve` as a process: its options, the commands, and kill -9 between commit and delivery. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { edgeplan } from '../support/built.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type MailServer, type Receiver, startMailServer, startReceiver } from '../support/outlets.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';

/** The text of a mail, with its lines as they were before they were encoded. */
const textOf = (raw: string): string => raw.replaceAll('=\r\n', '').replaceAll('=3D', '=');

describe('edgeplan serve', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-notify-'));
  const passwordFile = join(folder, 'smtp-password');
  const tokenFile = join(folder, 'sms-token');
  let mail: MailServer;
  let receiver: Receiver;

  beforeAll(async () => {
    writeFileSync(passwordFile, 'opensesame\n');
    writeFileSync(tokenFile, 'token-of-the-gateway\n');
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await mail.close();
  });
  afterAll(async () => {
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const options = (): readonly string[] => [
    ...['--smtp', mail.url.replace('smtp://', 'smtp://edge@'), '--smtp-password-file', passwordFile],
    ...['--mail-from', 'Edge <alerts@edge.example>', '--public-url', 'https://panel.example/{domain}'],
    ...['--sms-gateway', `${receiver.url}/sms`, '--sms-token-file', tokenFile],
  ];

  test('the commands set where notifications go, and each arrives there', async () => {
    const logins: string[] = [];
    mail = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        logins.push(`${username}:${password}`);
        done(null, { user: username });
      },
    });
    const served = await serve({ args: [...options(), '--allow-origins', '127.0.0.0/8'] });
    try {
      const asked = await served.run(['notifications', 'contact', '--email', 'ann@shop.example']);
      expect([asked.code, asked.out]).toEqual([
        0,
        'email  none (ann@shop.example waits for its code)\nphone  none\n',
      ]);
      const code = await until(
        () => /(\d{8}) is your confirmation code/.exec(mail.mails[0]?.raw ?? ''),
        'it',
      );
      expect(logins).toEqual(['edge:opensesame']);
      expect(textOf(mail.mails[0]!.raw)).toContain('<!DOCTYPE html>');
      const confirmed = await served.run(['notifications', 'contact', '--confirm-email', code[1]!]);
      expect(confirmed.out).toBe('email  ann@shop.example\nphone  none\n');

      const added = await served.run(['notifications', 'webhooks', 'add', `${receiver.url}/hook`]);
      expect(added.out).toMatch(/^whsec_\S+\n$/);
      const listed = await served.run(['notifications', 'webhooks', 'list', '--json']);
      expect(JSON.parse(listed.out)).toMatchObject({
        format: 'edgeplan.notification-webhooks/v1',
        webhooks: [{ id: 1, url: `${receiver.url}/hook` }],
      });

      const off = ['notifications', 'preferences', 'domain.activated', '--email', 'off'];
      expect((await served.run(off)).out).toMatch(/domain\.activated +off +never +on /);
      const shown = await served.run(['notifications', 'preferences']);
      expect(shown.out).toContain('publication.failed');
      expect(shown.out).toContain('quota.reached');
      expect(shown.out).toContain('certificate.expiring');
      expect(shown.out).toContain('certificate.issued');
      expect((await served.run(['notifications', 'preferences', '--email', 'off'])).code).toBe(2);
      expect(
        (await served.run(['notifications', 'preferences', 'certificate.other', '--email', 'on'])).code,
      ).not.toBe(0);

      const tested = await served.run(['notifications', 'test']);
      expect(tested.out).toBe('test is on its way\n  email: waiting\n  webhook 1: waiting\n');
      const call = await until(() => receiver.calls.find(({ path }) => path === '/hook'), 'the webhook');
      const headers = call.headers as Record<string, string>;
      expect(new Webhook(added.out.trim()).verify(call.body, headers)).toMatchObject({
        type: 'account.test',
      });
      await until(() => mail.mails.find(({ raw }) => raw.includes('Subject: Test:')), 'the mail');
      const delivered = await until(async () => {
        const { out } = await served.run(['notifications', 'list', '--unread']);
        return /email: delivered\n +webhook 1: delivered/.exec(out) && out;
      }, 'the feed to show both');
      expect(delivered).toContain('Test: your notifications arrive');
      expect((await served.run(['notifications', 'list', '--unread', '--read'])).out).toBe(delivered);
      expect((await served.run(['notifications', 'list', '--unread'])).out).toBe('');
      expect((await served.run(['notifications', 'webhooks', 'remove', '1'])).out).toBe(
        'webhook 1 removed\n',
      );
      expect((await served.run(['notifications', 'contact', '--email', 'none'])).out).toMatch(
        /^email {2}none\n/,
      );
    } finally {
      await served.stop();
    }
  });

  test('what was committed before kill -9 is delivered by the next process, under the same id', async () => {
    const held: string[] = [];
    let hold = true;
    mail = await startMailServer({
      onData(stream, _session, done) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const raw = Buffer.concat(chunks).toString();
          if (raw.includes('Subject: Test:')) held.push(/^Message-ID: (\S+)/im.exec(raw)![1]!);
          // The first process is killed before it gets an answer.
          if (!hold) done();
        });
      },
    });
    const database = join(folder, 'killed');
    const first = await serve({ database, args: options() });
    const contact = ['account', 'contact', 'owner', '--email', 'ann@shop.example', '--data', database];
    expect((await edgeplan(contact, { cwd: folder })).code).toBe(0);
    expect((await first.call('POST', '/notifications/test')).status).toBe(202);
    await until(() => held.length === 1, 'the mail to reach its server');
    process.kill(first.pid, 'SIGKILL');
    hold = false;
    await first.stop();
    const second: Served = await serve({ database, args: options() });
    try {
      // The claim of the killed process ends first.
      await until(() => held.length === 2, 'the second attempt', 110_000);
      expect(held[1]).toBe(held[0]);
      const delivery = await until(async () => {
        const { body } = await second.call('GET', '/notifications/');
        const { deliveries } = body.notifications.find(
          ({ kind }: { kind: string }) => kind === 'account.test',
        );
        return deliveries[0].state === 'delivered' && deliveries[0];
      }, 'the delivery to be stored');
      expect(delivery).toMatchObject({ channel: 'email', tries: 2, error: null });
      expect(held).toHaveLength(2);
    } finally {
      await second.stop();
    }
  });

  test(
    'a relay gets the password over TLS that is verified, and not otherwise',
    requires(OPENSSL_MISSING),
    async () => {
      const [cert, key] = [join(folder, 'relay.crt'), join(folder, 'relay.key')];
      await makeCertificate({ names: ['localhost'], cert, key });
      for (const [scheme, secure] of [
        ['smtps', true],
        ['smtp', false],
      ] as const) {
        const logins: string[] = [];
        mail = await startMailServer({
          ...{ secure, authOptional: false, disabledCommands: [] },
          ...{ key: readFileSync(key), cert: readFileSync(cert) },
          onAuth({ username, password }, session, done) {
            logins.push(`${username}:${password}:${session.secure}`);
            done(null, { user: username });
          },
        });
        const relay = `${scheme}://edge@localhost:${new URL(mail.url).port}`;
        const args = ['--smtp', relay, '--smtp-password-file', passwordFile, '--mail-from', 'a@edge.example'];
        for (const trusted of [false, true]) {
          const served = await serve({ args, ...(trusted && { env: { NODE_EXTRA_CA_CERTS: cert } }) });
          const email = 'ann@shop.example';
          const { status } = await served.call('PUT', '/notifications/contact', { email });
          await served.stop();
          expect([scheme, status]).toEqual([scheme, trusted ? 200 : 503]);
          expect(logins).toEqual(trusted ? ['edge:opensesame:true'] : []);
        }
        expect(mail.mails).toHaveLength(1);
        await mail.close();
      }
      mail = await startMailServer();
    },
  );

  test('a password in an address, or an outlet without its sender, is refused at the start', async () => {
    mail = await startMailServer();
    for (const args of [
      ['--smtp', 'smtp://edge:secret@mail.example.net', '--mail-from', 'a@edge.example'],
      ['--smtp', 'smtp://mail.example.net'],
      ['--smtp', 'http://mail.example.net', '--mail-from', 'a@edge.example'],
      ['--smtp', 'smtp://mail.example.net', '--mail-from', 'Edge'],
      ['--sms-gateway', 'https://user:secret@sms.example.net/'],
      ['--public-url', 'javascript:alert(1)'],
    ]) {
      const { code, err } = await edgeplan(['serve', '--data', join(folder, 'refused'), ...args], {
        cwd: folder,
      });
      expect([code, args]).toEqual([2, args]);
      expect(err).not.toContain('at file:');
    }
  });
});
