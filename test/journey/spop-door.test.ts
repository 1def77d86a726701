/** The SPOP door over real sockets, with frames made by hand from HAProxy's `doc/SPOE.txt`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { DecideForDoor, DoorAnswer } from '../../src/edge/doors/door.ts';
import { MAX_PENDING } from '../../src/edge/doors/spop/limits.ts';
import { sealedPlan, sealedSignatures } from '../support/embed.ts';
import { openTestSpopDoor, type TestSpopDoor, type TestSpopDoorOptions } from '../support/spop-door.ts';
import {
  argumentsOf,
  binary,
  bool,
  disconnectFrame,
  frameOf,
  HELLO,
  headersBinary,
  helloFrame,
  type Items,
  int,
  NULL,
  notifyFrame,
  type SpopClient,
  spopClient,
  text,
} from '../support/spop-frames.ts';
import { until } from '../support/until.ts';

const RULES = [
  { id: 1, type: 'drop', path_includes: ['/admin*'] },
  {
    id: 2,
    type: 'redirect',
    path_includes: ['/old'],
    target: 'https://shop.localhost/new',
    status_code: 308,
  },
  { id: 3, type: 'rewrite', path_includes: ['/item'], path_target: '/item/list' },
  {
    id: 4,
    type: 'origin_route',
    path_includes: ['/v6/*'],
    address: '2001:db8::5',
    port: 8_443,
    scheme: 'https',
  },
  { id: 5, type: 'rate_limit', path_includes: ['/busy'], limit: 1, window_sec: 60 },
  { id: 6, type: 'waf', path_includes: ['/form'], paranoia: 1, threshold: 5, body_cap_kb: 64 },
];

const opened: TestSpopDoor[] = [];
const clients: SpopClient[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  for (const { door } of opened.splice(0)) await door.stop(0);
});

async function open(options: TestSpopDoorOptions = {}): Promise<TestSpopDoor> {
  const agent = await openTestSpopDoor({
    plans: [sealedPlan({ rules: RULES })],
    signatures: sealedSignatures(),
    ...options,
  });
  opened.push(agent);
  return agent;
}

async function client({ door }: TestSpopDoor): Promise<SpopClient> {
  const made = await spopClient(door.address);
  clients.push(made);
  return made;
}

/** A client whose handshake is over. */
async function greeted(agent: TestSpopDoor, hello: Items = HELLO): Promise<SpopClient> {
  const made = await client(agent);
  made.send(helloFrame(hello));
  await until(() => made.frames.length === 1, 'AGENT-HELLO');
  expect(made.frames.shift()!.type).toBe(101);
  return made;
}

/** The variables of one request. */
async function asked(on: SpopClient, args: Items): Promise<Readonly<Record<string, unknown>>> {
  on.send(notifyFrame(args));
  await until(() => on.frames.length > 0, 'an ACK');
  const { type, values } = on.frames.shift()!;
  expect(type).toBe(103);
  return values;
}

describe('the handshake', () => {
  test('AGENT-HELLO is one write of its own, with the smaller frame size', async () => {
    const on = await client(await open());
    on.send(helloFrame({ ...HELLO, 'max-frame-size': int(4_096) }), notifyFrame(argumentsOf()));
    await until(() => on.frames.length === 2, 'HELLO and ACK');
    expect(on.frames[0]).toEqual({
      type: 101,
      stream: 0n,
      frame: 0n,
      values: { version: '2.0', 'max-frame-size': 4_096, capabilities: 'pipelining' },
    });
    expect(on.chunks[0]![4]).toBe(101);
  });

  test('a health check is answered, and the connection ends', async () => {
    const agent = await open();
    const on = await client(agent);
    on.send(helloFrame({ ...HELLO, healthcheck: bool(true) }));
    await on.closed;
    expect(on.frames.map(({ type }) => type)).toEqual([101]);
    expect(agent.door.counts()).toMatchObject({ healthChecks: 1, protocolErrors: {} });
  });

  test('a plain TCP check leaves no trace', async () => {
    const agent = await open();
    const on = await client(agent);
    on.socket.end();
    await on.closed;
    await until(() => agent.door.counts().open === 0, 'the end');
    expect(agent.door.counts().protocolErrors).toEqual({});
    expect(agent.logged).toEqual([]);
  });

  const without = (name: string): Items =>
    Object.fromEntries(Object.entries(HELLO).filter(([one]) => one !== name));
  test.each<readonly [string, number, Uint8Array]>([
    ['no version', 5, helloFrame(without('supported-versions'))],
    ['no frame size', 6, helloFrame(without('max-frame-size'))],
    ['no capabilities', 7, helloFrame(without('capabilities'))],
    ['another version', 8, helloFrame({ ...HELLO, 'supported-versions': text('1.0, 3.1') })],
    ['a frame size below 256', 9, helloFrame({ ...HELLO, 'max-frame-size': int(255) })],
    ['a version of another type', 5, helloFrame({ ...HELLO, 'supported-versions': int(2) })],
    ['NOTIFY first', 4, notifyFrame(argumentsOf())],
    ['a frame of an unknown type', 4, frameOf({ type: 77, payload: Buffer.alloc(0) })],
    ['a frame that is too long', 3, Buffer.from([0, 1, 0, 0, 1])],
    ['HTTP', 3, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    ['a cut frame', 4, Buffer.from([0, 0, 0, 2, 1, 0])],
  ])('%s ends with AGENT-DISCONNECT of the status %d', async (_, status, octets) => {
    const agent = await open();
    const on = await client(agent);
    on.send(octets);
    await on.closed;
    expect(on.frames).toMatchObject([{ type: 102, values: { 'status-code': status } }]);
    expect(Object.values(agent.door.counts().protocolErrors)).toEqual([1]);
    expect(agent.logged).toHaveLength(1);
  });

  test('versions may have spaces, and a minor version of 2 is enough', async () => {
    await greeted(await open(), { ...HELLO, 'supported-versions': text(' 3.0 , 2.1 ') });
  });
});

describe('the end of a connection', () => {
  test('HAPROXY-DISCONNECT is answered by AGENT-DISCONNECT', async () => {
    const agent = await open();
    const on = await greeted(agent);
    on.send(disconnectFrame(2, 'a timeout'));
    await on.closed;
    expect(on.frames).toMatchObject([{ type: 102, values: { 'status-code': 0 } }]);
    expect(agent.door.counts().protocolErrors).toEqual({});
    expect(agent.logged.join()).toContain('`a timeout`');
  });

  test.each([
    ['a NOTIFY without FIN', 10, notifyFrame(argumentsOf(), { flags: 0 })],
    ['an aborted NOTIFY', 10, notifyFrame(argumentsOf(), { flags: 3 })],
    ['a continued frame', 10, frameOf({ type: 0, payload: Buffer.alloc(0) })],
    ['a second HELLO', 4, helloFrame()],
    ['a frame longer than agreed on', 3, Buffer.from([0, 0, 0x40, 0, 3])],
    ['a NOTIFY that ends early', 4, frameOf({ type: 3, payload: Buffer.from([7, 1, 2]) })],
  ])('%s ends with AGENT-DISCONNECT of the status %d', async (_, status, octets) => {
    const on = await greeted(await open());
    on.send(octets);
    await on.closed;
    expect(on.frames).toMatchObject([{ type: 102, values: { 'status-code': status } }]);
  });

  test('a door that stops waits for the decisions under way, and ends the connection in order', async () => {
    let settle: (() => void) | null = null;
    const agent = await open({
      decide: (real) => async (request) => {
        await new Promise<void>((resolve) => {
          settle = resolve;
        });
        return real(request);
      },
    });
    const on = await greeted(agent);
    on.send(notifyFrame(argumentsOf()));
    await until(() => settle !== null, 'the request');
    const stopped = agent.door.stop(60_000);
    await expect(spopClient(agent.door.address)).rejects.toThrow(/ECONNREFUSED/);
    settle!();
    await stopped;
    await on.closed;
    expect(on.frames.map(({ type }) => type)).toEqual([103, 102]);
  });
});

describe('decisions', () => {
  test('a forwarded request has its origin, and no changes where rules make none', async () => {
    const values = await asked(await greeted(await open()), argumentsOf());
    expect(values).toEqual({
      action: 'forward',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      domain: 'shop.localhost',
      origin_addr: '127.0.0.1',
      origin_scheme: 'http',
      origin_port: 80,
      origin_host: 'shop.localhost',
      origin_source: 'record',
    });
  });

  test('redirects, rewrites, origins, cookies', async () => {
    const on = await greeted(await open());
    expect(await asked(on, argumentsOf({ uri: text('/old') }))).toMatchObject({
      action: 'redirect',
      status: 308,
      location: 'https://shop.localhost/new',
      rule: 'redirect/2',
    });
    expect(await asked(on, argumentsOf({ uri: text('/item?a=1') }))).toMatchObject({
      uri: '/item/list?a=1',
      path: '/item/list',
      query: 'a=1',
    });
    expect(await asked(on, argumentsOf({ uri: text('/v6/x') }))).toMatchObject({
      origin_addr: '20010db8000000000000000000000005',
      origin_scheme: 'https',
      origin_port: 8_443,
      origin_source: 'origin_route',
    });
    const hdrs = binary(
      headersBinary([
        ['host', 'shop.localhost'],
        ['cookie', 'edgeplan_clear_captcha_1=x'],
        ['cookie', 'a=b'],
      ]),
    );
    expect(await asked(on, argumentsOf({ hdrs }))).toMatchObject({ cookies_changed: true, cookies: 'a=b' });
  });

  test('a page is a ticket, for one use', async () => {
    const agent = await open();
    const on = await greeted(agent);
    const { action, status, ticket, id } = await asked(on, argumentsOf({ uri: text('/admin') }));
    expect({ action, status }).toEqual({ action: 'page', status: 403 });
    expect(agent.tickets.redeem(String(ticket))!.headers).toContain(id);
    expect(agent.tickets.redeem(String(ticket))).toBeNull();
    await asked(on, argumentsOf({ uri: text('/busy') }));
    const limited = await asked(on, argumentsOf({ uri: text('/busy') }));
    expect(limited).toMatchObject({
      action: 'page',
      status: 429,
      retry_after: expect.stringMatching(/^\d+$/),
    });
  });

  test('a host that is not served is a page with the status 421', async () => {
    const args = argumentsOf({ host: text('other.test') });
    expect(await asked(await greeted(await open()), args)).toMatchObject({ action: 'page', status: 421 });
  });

  test.each<readonly [string, Items, string | null]>([
    ['a whole body', { body_len: int(8), body_size: int(8), body_end: bool(true) }, null],
    ['a body that goes on', { body_len: int(8), body_size: int(99), body_end: bool(false) }, 'body'],
    ['a body whose end is unknown', { body_len: int(8), body_size: int(8), body_end: NULL }, 'body'],
  ])('%s is inspected as far as it goes', async (_, sizes, unenforced) => {
    const on = await greeted(await open());
    const hdrs = binary(
      headersBinary([
        ['host', 'shop.localhost'],
        ['content-type', 'application/x-www-form-urlencoded'],
      ]),
    );
    const post = { ...argumentsOf({ uri: text('/form'), hdrs }), method: text('POST'), ...sizes };
    expect(await asked(on, { ...post, body: binary(Buffer.from('a=attack')) })).toMatchObject({
      status: 403,
    });
    const fine = await asked(on, { ...post, body: binary(Buffer.from('a=benign')) });
    expect(fine['unenforced'] ?? null).toBe(unenforced);
  });

  test.each<readonly [string, Items]>([
    ['method missing', { method: NULL }],
    ['uri wrong type', { uri: int(1) }],
    ['uri wrong type', { uri: text('http://other.test/') }],
    ['version missing', { version: NULL }],
    ['src wrong type', { src: text('nowhere') }],
    ['port wrong type', { port: int(65_536) }],
    ['port wrong type', { port: int(-1) }],
    ['hdrs missing', { hdrs: NULL }],
    ['hdrs wrong type', { hdrs: binary(Buffer.from([1, 97])) }],
    ['ssl wrong type', { ssl: text('yes') }],
    ['scheme wrong type', { scheme: text('ftp') }],
    ['body_size wrong type', { body_size: int(-1) }],
    ['country wrong type', { country: int(1) }],
    ['asn wrong type', { asn: text('none') }],
    ['asn wrong type', { asn: int(-1) }],
  ])('an argument that cannot be used (%s) is counted, logged once, and closes', async (reason, change) => {
    const agent = await open();
    const on = await greeted(agent);
    for (let time = 0; time < 2; time++) expect(await asked(on, argumentsOf(change))).toEqual({ err: 355 });
    expect(agent.door.counts()).toMatchObject({ decisions: 0, arguments: { [reason]: 2 } });
    expect(agent.logged).toHaveLength(1);
    expect(agent.logged[0]).toContain(`\`${reason.split(' ')[0]}\``);
  });

  test('an answer that is longer than a frame closes', async () => {
    const agent = await open();
    const on = await greeted(agent, { ...HELLO, 'max-frame-size': int(256) });
    const value = `edgeplan_clear_x=1; a=${'b'.repeat(60)}`;
    const hdrs = binary(
      headersBinary([
        ['host', 'shop.localhost'],
        ['cookie', value],
      ]),
    );
    const short = {
      method: text('GET'),
      ssl: bool(false),
      uri: text('/'),
      version: text('1.1'),
      src: NULL,
      port: int(80),
      hdrs,
    };
    expect(await asked(on, short)).toEqual({ err: 355 });
    expect(agent.door.counts().longAnswers).toBe(1);
  });
});

describe('pipelining', () => {
  /** A decider whose answers a test lets go one by one. */
  function gated(): {
    readonly waiting: Map<string, () => void>;
    readonly decide: NonNullable<TestSpopDoorOptions['decide']>;
  } {
    const waiting = new Map<string, () => void>();
    const decide =
      (real: DecideForDoor): DecideForDoor =>
      (request) => {
        if (!request.target.startsWith('/slow')) return real(request);
        return new Promise<DoorAnswer>((resolve) => {
          waiting.set(request.target, () => resolve(real(request)));
        });
      };
    return { waiting, decide };
  }

  test('ACKs come in the order in which decisions finish, with the ids of their requests', async () => {
    const { waiting, decide } = gated();
    const on = await greeted(await open({ decide }));
    const big = 2n ** 32n - 1n;
    on.send(
      notifyFrame(argumentsOf({ uri: text('/slow/1') }), { stream: big, frame: 1n }),
      notifyFrame(argumentsOf({ uri: text('/slow/2') }), { stream: 300n, frame: 2n }),
      notifyFrame(argumentsOf(), { stream: 7n, frame: 3n }),
      notifyFrame(argumentsOf({ uri: text('/old') }), { stream: 7n, frame: 4n }),
    );
    const seen = (): readonly string[] => on.frames.map(({ stream, frame }) => `${stream}/${frame}`);
    await until(() => on.frames.length === 2, 'two ACKs');
    expect(seen()).toEqual(['7/3', '7/4']);
    waiting.get('/slow/2')!();
    await until(() => on.frames.length === 3, 'the third ACK');
    waiting.get('/slow/1')!();
    await until(() => on.frames.length === 4, 'the fourth ACK');
    expect(seen().slice(2)).toEqual(['300/2', `${big}/1`]);
  });

  test('beyond the bound of decisions under way a connection waits, and another one does not', async () => {
    const { waiting, decide } = gated();
    const agent = await open({ decide });
    const on = await greeted(agent);
    const count = MAX_PENDING + 500;
    for (let index = 0; index < count; index++) {
      on.send(notifyFrame(argumentsOf({ uri: text(`/slow/${index}`) }), { stream: BigInt(index) }));
    }
    await until(() => agent.door.counts().pending === MAX_PENDING, 'the bound');
    const other = await greeted(agent);
    expect(await asked(other, argumentsOf())).toMatchObject({ action: 'forward' });
    expect(agent.door.counts().pending).toBe(MAX_PENDING);
    await until(() => {
      for (const [target, go] of waiting) {
        waiting.delete(target);
        go();
      }
      return on.frames.length === count;
    }, 'all ACKs');
    expect(new Set(on.frames.map(({ stream }) => stream)).size).toBe(count);
  });

  test('a peer that does not read is not read either, and gets all ACKs once it reads', async () => {
    const agent = await open();
    const on = await greeted(agent);
    on.socket.pause();
    const count = 60_000;
    const frames = Buffer.concat(Array<Buffer>(1_000).fill(notifyFrame(argumentsOf())));
    for (let sent = 0; sent < count; sent += 1_000) on.send(frames);
    let before = -1;
    await until(() => {
      const { decisions } = agent.door.counts();
      const isStill = decisions === before && decisions > 0;
      before = decisions;
      return isStill && on.socket.writableLength > 0;
    }, 'the door to stop reading');
    expect(before).toBeLessThan(count);
    on.socket.resume();
    await until(() => on.frames.length === count, 'all ACKs');
  });
});

describe('a unix socket', () => {
  test('has the mode 0660, replaces a stale file, and leaves others alone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-spop-'));
    const path = join(folder, 'spop.sock');
    const program =
      'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';
    await once(spawn(process.execPath, ['-e', program, path]), 'exit');
    expect(statSync(path).isSocket()).toBe(true);
    try {
      const agent = await open({ address: { path } });
      expect(agent.door.address).toBe(`unix:${path}`);
      expect(statSync(path).mode & 0o777).toBe(0o660);
      expect(await asked(await greeted(agent), argumentsOf())).toMatchObject({ action: 'forward' });
      await expect(open({ address: { path } })).rejects.toThrow(/served by another process/);
      writeFileSync(join(folder, 'file'), '');
      await expect(open({ address: { path: join(folder, 'file') } })).rejects.toThrow(/no socket/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
