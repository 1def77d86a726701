/**
 * Secrets of a server and a node are used, sent to wrong places and written wrongly. Afterwards no answer, log, metric, backup
 * or message of a command has one of them in any form.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BOX_KEY_HEADER } from '../../src/control/certificates/make-set.ts';
import { type Answer, send } from '../support/api.ts';
import { ask } from '../support/ask.ts';
import { builtCli, edgeplan, startEdgeplan } from '../support/built.ts';
import { keyTraces } from '../support/key-traces.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type MadeLeaf, makeAuthority } from '../support/make-chain.ts';
import { startReceiver } from '../support/outlets.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const HOST = 'shop.test';
/** Length, in characters, of the part of each form that the search finds: too long for a coincidence. */
const PART = 24;

/** Octets in the forms that a secret can be found in: as they are, in hex, in base64 at any of its three places. */
function formsOf(octets: Buffer): readonly Buffer[] {
  const forms = [octets, Buffer.from(octets.toString('hex').slice(0, 2 * PART))];
  for (let shift = 0; shift < 3; shift++) {
    const text = Buffer.concat([Buffer.alloc(shift), octets]).toString('base64');
    // Without the ends, which the neighbours of a secret change.
    const inner = text.slice(4, 4 + PART).replaceAll('=', '');
    forms.push(Buffer.from(inner), Buffer.from(inner.replaceAll('+', '-').replaceAll('/', '_')));
  }
  return forms;
}

/** What must not be found, by name. */
const secrets = new Map<string, (found: Buffer) => boolean>();

function addSecret(name: string, octets: Buffer | string): void {
  const forms = formsOf(Buffer.from(octets));
  secrets.set(name, (found) => forms.some((form) => found.includes(form)));
}

/** Names of the secrets that the octets have. */
function secretsIn(octets: Buffer | string, besides: readonly string[] = []): readonly string[] {
  const found = Buffer.from(octets);
  return [...secrets].flatMap(([name, isIn]) => (!besides.includes(name) && isIn(found) ? [name] : []));
}

describe('a server and a node', requires(OPENSSL_MISSING), () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-private-'));
  const path = (name: string): string => join(folder, name);
  /** Answers and outputs by what asked for them. */
  const said: [string, Buffer | string][] = [];
  let [leaf, other]: MadeLeaf[] = [];
  let server: Served;
  let node: WorkerNode;
  let token: string;
  let webhookSecret: string;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;

  const put = (name: string, text: string): string => {
    writeFileSync(path(name), text, { mode: 0o600 });
    return path(name);
  };

  async function call(method: string, at: string, body?: unknown): Promise<Answer> {
    const answer = await server.call(method, at, body);
    said.push([`${method} ${at}`, answer.text], [`head of ${at}`, JSON.stringify(answer.headers)]);
    return answer;
  }

  async function run(args: readonly string[], input?: string) {
    const found = await server.run(args, input);
    said.push([`edgeplan ${args[0]} ${args[1]}`, `${found.out}\n${found.err}`]);
    return found;
  }

  beforeAll(async () => {
    await builtCli();
    receiver = await startReceiver();
    const authority = makeAuthority(path('ca'));
    [leaf, other] = [authority.leaf({ names: [HOST] }), authority.leaf({ names: [`other.${HOST}`] })];
    for (const [name, { key }] of [
      ['key of a certificate', leaf!],
      ['key of another one', other!],
    ] as const) {
      const traces = keyTraces(key);
      secrets.set(name, (found) => traces.in(found).length > 0);
    }
    const octets = randomBytes(32);
    const [tsig, password, smsToken] = [randomBytes(32), randomBytes(24), randomBytes(24)].map((one) =>
      one.toString('base64'),
    ) as [string, string, string];
    addSecret('secrets key', octets);
    for (const [name, text] of Object.entries({ tsig, password, smsToken })) addSecret(name, text);
    addSecret('octets of the TSIG key', Buffer.from(tsig, 'base64'));
    server = await serve({
      args: [
        ...['--log-level', 'trace', '--secrets-key', put('secrets.key', `${octets.toString('base64')}\n`)],
        ...['--zones', '127.0.0.1:0', '--tsig-keys', put('tsig.keys', `hmac-sha256:ns1.example:${tsig}\n`)],
        ...['--ns-set', 'ns1.example,ns2.example', '--edge-addresses', '198.51.100.9'],
        ...['--secondaries', '127.0.0.1:1#ns1.example'],
        ...['--smtp', 'smtp://user@127.0.0.1:1', '--smtp-password-file', put('smtp', `${password}\n`)],
        ...['--mail-from', 'a@edge.example', '--sms-gateway', `${receiver.url}/sms`],
        ...['--sms-token-file', put('sms', `${smsToken}\n`)],
      ],
    });
    addSecret('API key', server.key.slice(8));
    await server.domain(HOST);
    const env = await server.node('eu-1');
    token = env['EDGEPLAN_NODE_TOKEN']!;
    addSecret('node token', token.slice(8));
    node = await startWorkerNode(
      ['--data', 'node', '--log', '-', '--log-rate', '1', '--log-level', 'trace', '--tls-port', '0'],
      {
        cwd: server.folder,
        env: { ...env, EDGEPLAN_CONTROL: server.url },
      },
    );
    const box = join(server.folder, 'node/box.key');
    addSecret('key of the boxes', Buffer.from(readFileSync(box, 'utf8').trim(), 'base64'));
    addSecret('text of the key of the boxes', readFileSync(box, 'utf8').trim());
  }, 180_000);
  afterAll(async () => {
    node?.signal('SIGTERM');
    await node?.ended;
    await server?.stop();
    await receiver?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('uses of each secret, right and wrong, show none', { timeout: 180_000 }, async () => {
    const record = { name: '@', type: 'A', destination: '127.0.0.1', port: 1, scheme: 'Http', proxied: true };
    await call('POST', `/domains/${HOST}/records/`, record);
    const hook = await server.call('POST', '/webhooks/', { url: `${receiver.url}/hook` });
    webhookSecret = hook.body.secret;
    addSecret('secret of a webhook', webhookSecret.slice(10));
    addSecret('octets of the secret of a webhook', Buffer.from(webhookSecret.slice(6), 'base64'));
    await call('POST', '/notifications/test');
    await until(() => receiver.calls.length > 0, 'the webhook');
    said.push(['webhook', JSON.stringify(receiver.calls.filter(({ path: at }) => at === '/hook'))]);

    const ssl = `/domains/${HOST}/ssl/`;
    const { chain, key } = leaf!;
    const lines = key.split('\n');
    const damaged = [lines[0], `${lines[1]}!`, ...lines.slice(2)].join('\n');
    let refused = 0;
    for (const body of [
      { certificate: chain, key: other!.key },
      { certificate: chain, key: key.slice(0, -60) },
      { certificate: chain, key: damaged },
      { certificate: key, key: chain },
      { certificate: `${chain}${key}`, key },
      { certificate: chain, key: [key] },
      { certificate: chain, key: { pem: key } },
      { certificate: chain, private_key: key },
      { certificate: chain, key, [key]: key },
      { certificate: chain, key: `${key}${other!.key}` },
      { certificate: chain, key: key.replaceAll('\n', '\\n') },
      [key],
      key,
    ]) {
      const upload = await call('POST', ssl, body);
      if (upload.status >= 400) refused++;
      await call('POST', `${ssl}parse`, body);
    }
    // A key beside the chain, or with \n for its line ends, may be read.
    expect(refused).toBeGreaterThanOrEqual(11);
    // No JSON: the parser's message has a part of the text in many programs.
    const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
    for (const text of [key, `{"certificate":"a","key":"${key}"}`, `${JSON.stringify({ key })},`]) {
      const answer = await fetch(`${server.url}${ssl}`, { method: 'POST', body: text, headers });
      expect(answer.status).toBe(400);
      said.push(['no JSON', await answer.text()]);
    }
    const uploaded = await call('POST', ssl, { certificate: chain, key });
    expect(uploaded.status, uploaded.text).toBe(200);
    await until(
      () => readdirSync(join(server.folder, 'node/certificates')).length > 0,
      'the set on the node',
    );

    // Keys and tokens where they do not belong.
    for (const secret of [server.key, token, webhookSecret]) {
      // The answer to its sender may repeat the path; the log may not.
      for (const at of [
        `/domains/${secret}`,
        `/domains/?name=${secret}`,
        `/${secret}`,
        `/domains/${HOST}/ssl/${secret}`,
      ])
        await server.call('GET', at);
      for (const authorization of [`Basic ${secret}`, secret, `Bearer ${secret}x`, `Bearer x${secret}`]) {
        const answer = await send(server.port, {
          method: 'GET',
          path: '/domains/',
          headers: { authorization },
        });
        said.push(['authorization', answer.text]);
      }
      const feed = await fetch(`${server.url}/nodes/manifest?since=0&wait=0&token=${secret}`, {
        headers: { authorization: `Bearer ${secret}x` },
      });
      said.push(['feed', await feed.text()]);
      await ask(node.port, `/?token=${secret}`, {
        host: HOST,
        headers: { authorization: `Bearer ${secret}` },
      });
    }
    for (const at of ['', '/ssl/', '/audit/', '/records/', '/zone'])
      await call('GET', `/domains/${HOST}${at}`);
    for (const at of [
      '/webhooks/',
      '/notifications/',
      '/notifications/contact',
      '/openapi.json',
      '/domains/',
    ])
      await call('GET', at);

    const made = await server.run(['node-token', 'create', 'us-1', '--group', 'us', ...server.data]);
    const strange = /EDGEPLAN_NODE_TOKEN=(\S+)/.exec(made.out)![1]!;
    for (const at of ['manifest?since=0&wait=0', `certificates/${HOST}`]) {
      const response = await fetch(`${server.url}/nodes/${at}`, {
        headers: { authorization: `Bearer ${strange}`, [BOX_KEY_HEADER]: randomBytes(32).toString('base64') },
      });
      said.push([`feed of another group: ${at}`, Buffer.from(await response.arrayBuffer())]);
    }
    for (const at of [server.operations, node.operations])
      said.push([`metrics of ${at}`, await (await fetch(`${at}/metrics`)).text()]);

    const copy = path('backup.db');
    await run(['backup', '--to', copy, ...server.data]);
    await run(['doctor', ...server.data]);
    await run(['ssl', 'list', HOST, '--json']);
    await run(['logs', HOST, '--json']);
    await run(['notifications', 'webhooks', 'list']);
    said.push(['out of the server', server.said()], ['log of the server', server.logged()]);
    said.push(['out of the node', node.out()], ['log of the node', node.err()]);
    expect(server.logged()).toContain('"level":');
    for (const [name, text] of said) expect(secretsIn(text), name).toEqual([]);
    // Documented: webhooks are signed with secrets that the store has in the clear.
    const signing = ['secret of a webhook', 'octets of the secret of a webhook'];
    expect(secretsIn(readFileSync(copy), signing), 'the backup').toEqual([]);
    expect(secretsIn(readFileSync(copy)), 'the search finds what is there').not.toEqual([]);
    const stored = readdirSync(server.folder, { recursive: true, encoding: 'utf8' });
    const own = [...signing, 'key of the boxes', 'text of the key of the boxes'];
    for (const name of stored) {
      const file = join(server.folder, name);
      if (statSync(file).isFile()) expect(secretsIn(readFileSync(file), own), name).toEqual([]);
    }
  });

  const PASSWORD = 'a-S3cret-pass-word';
  const address = `postgres://plans:${PASSWORD}@127.0.0.1:1/plans`;
  const nodeArgs = ['node', '--control', 'http://127.0.0.1:1', '--data', 'other-node'];
  test.each([
    ['serve', '--smtp', `smtp://user:${PASSWORD}@mail.example`],
    ['serve', '--sms-gateway', `https://user:${PASSWORD}@sms.example/`],
    ['serve', '--otlp', `https://user:${PASSWORD}@otlp.example/`],
    ['serve', '--database', address],
    ['serve', '--database', `postgres://plans:${PASSWORD}/#@127.0.0.1:1/plans`],
    ['serve', '--database', `mysql://plans:${PASSWORD}@127.0.0.1:1/plans`],
    ['doctor', '--database', address],
    ['doctor', '--database', `postgres://plans@127.0.0.1:1/plans?password=${PASSWORD}`],
    ['doctor', '--database', `postgres://plans:${PASSWORD}/#@127.0.0.1:1/plans`],
    ['key', 'list', '--database', address],
    ['backup', '--to', 'x.db', '--database', address],
    ['restore', '--database', address],
    ['logs', HOST, '--server', `http://user:${PASSWORD}@127.0.0.1:1`, '--key', PASSWORD],
    [...nodeArgs, '--token', PASSWORD],
    [...nodeArgs, '--trust', PASSWORD],
  ])('%s %s %s names no password in what it prints', { timeout: 240_000 }, async (...args) => {
    const child = startEdgeplan(args, { cwd: folder, env: { EDGEPLAN_DEBUG: '1' } });
    const ended = new Promise((resolve) => child.on('close', resolve));
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
    await ended;
    expect(printed).not.toContain('S3cret');
    expect(printed).not.toContain('this is a bug');
    expect(printed).not.toBe('');
  });

  test('files of keys that cannot be read are refused without their text', { timeout: 300_000 }, async () => {
    const secret = 'a-S3cret-pass-word-that-is-long';
    for (const text of [secret, `hmac-sha256:ns1:${secret}`, `${secret}:ns1:QUJD`, `ns1:${secret}:x:y`]) {
      const file = put('bad.keys', `${text}\n`);
      for (const args of [
        [
          ...['serve', '--data', 'd', '--zones', '127.0.0.1:0', '--ns-set', 'a.example,b.example'],
          ...['--edge-addresses', '198.51.100.9', '--tsig-keys', file],
        ],
        ['serve', '--data', 'd', '--secrets-key', file],
        ['secrets-key', 'rotate', '--data', 'd', '--secrets-key', file],
        ['doctor', '--data', 'd', '--secrets-key', file],
        ['node', '--control', 'http://127.0.0.1:1', '--data', 'n', '--token-file', file],
      ]) {
        const child = await edgeplan([...args], { cwd: folder, env: { EDGEPLAN_DEBUG: '1' } });
        expect([args[0], `${child.out}${child.err}`]).toEqual([
          args[0],
          expect.not.stringContaining('S3cret'),
        ]);
        expect(`${child.out}${child.err}`).not.toContain('this is a bug');
      }
    }
  });
});
