/** NOTIFY to secondaries that lose, refuse, forge and do not answer. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerAddress } from '../../src/control/dns/server-address.ts';
import { NOTIFY_CONCURRENCY } from '../../src/control/zones/limits.ts';
import { createNotifier, type ZoneNotifier } from '../../src/control/zones/notify-queue.ts';
import {
  OPCODES,
  RCODES,
  readMessage,
  responseFlags,
  writeMessage,
  type ZoneMessage,
} from '../../src/control/zones/wire/message.ts';
import { signMessage, verifyMessage, writeTsigError } from '../../src/control/zones/wire/tsig.ts';
import { SOA_TIMERS, type ZoneHead } from '../../src/control/zones/zone-source.ts';
import { until } from '../support/until.ts';
import { createMemoryLog, type MemoryLog, makeKey } from '../support/zone-memory.ts';

const { key } = makeKey('notify.edge.test');
const KEYS = new Map([[key.name, key]]);
const head = (name: string, serial: number): ZoneHead => ({ name, serial, primary: 'ns1.edge.test' });
const seconds = (): number => Math.floor(Date.now() / 1_000);

/** Answers that a secondary may give to one NOTIFY; the last one is the usual. */
type Reply = (request: ZoneMessage) => readonly Buffer[];

function response(
  request: ZoneMessage,
  rcode: number,
  change: Partial<{ id: number; question: Buffer }> = {},
): Buffer {
  const flags = responseFlags(request, rcode);
  return writeMessage({ id: request.id, flags, question: request.question.octets, ...change });
}

const signed =
  (rcode: number): Reply =>
  (request) => [
    signMessage(response(request, rcode), key, { time: seconds(), prior: request.tsig!.mac }).octets,
  ];
const nothing: Reply = () => [];

interface Secondary {
  readonly server: ServerAddress;
  readonly requests: readonly ZoneMessage[];
  reply: Reply;
  stop(): Promise<void>;
}

const open = new Set<() => unknown>();
afterEach(async () => {
  for (const stop of open) await stop();
  open.clear();
});

async function startSecondary(reply: Reply, { address = '127.0.0.1', port = 0 } = {}): Promise<Secondary> {
  const socket: Socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.bind(port, address);
  await once(socket, 'listening');
  const requests: ZoneMessage[] = [];
  const secondary: Secondary = {
    server: { address, port: socket.address().port },
    requests,
    reply,
    async stop() {
      open.delete(secondary.stop);
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (octets, from) => {
    const message = readMessage(octets);
    if (message?.kind !== 'message') throw new Error('NOTIFY is malformed');
    requests.push(message);
    for (const answer of secondary.reply(message)) socket.send(answer, from.port, from.address);
  });
  open.add(secondary.stop);
  return secondary;
}

function startNotifier(
  secondaries: readonly Secondary[],
  clock: () => number = Date.now,
): { readonly notifier: ZoneNotifier; readonly log: MemoryLog } {
  const log = createMemoryLog();
  const notifier = createNotifier({
    secondaries: secondaries.map(({ server }) => ({ server, key })),
    log,
    clock,
  });
  open.add(() => notifier.stop());
  return { notifier, log };
}

const settled = (notifier: ZoneNotifier): Promise<unknown> =>
  until(() => notifier.status().every(({ waiting }) => waiting === 0), 'every NOTIFY to be accepted');

describe('NOTIFY', () => {
  it.each(['127.0.0.1', '::1'])(
    'it is a signed question for the SOA with the SOA as its answer (%s)',
    async (address) => {
      const secondary = await startSecondary(signed(RCODES.NOERROR), { address });
      const { notifier, log } = startNotifier([secondary]);
      notifier.notify(head('shop.example', 7));
      await settled(notifier);
      const [request] = secondary.requests;
      expect(request).toMatchObject({
        opcode: OPCODES.NOTIFY,
        isResponse: false,
        question: { name: 'shop.example', type: 6 },
      });
      expect(request!.octets.readUInt16BE(2)).toBe(0x2400);
      expect(request!.octets.readUInt16BE(6)).toBe(1);
      expect(request!.octets.includes(Buffer.from([0, 0, 0, 7, 0, 0, 14, 16]))).toBe(true);
      expect(verifyMessage(request!, request!.tsig!, { keys: KEYS, time: seconds() }).kind).toBe('valid');
      expect(secondary.requests).toHaveLength(1);
      expect(log.entries).toEqual([]);
    },
  );

  it('names that are too long for a datagram with the SOA are sent without it', async () => {
    const secondary = await startSecondary(signed(RCODES.NOERROR));
    const { notifier } = startNotifier([secondary]);
    const name = Array(3).fill('a'.repeat(60)).join('.');
    notifier.notify(head(name, 7));
    notifier.notify({ name: 'shop.example', serial: 1, primary: `${name}.${'b'.repeat(50)}` });
    await settled(notifier);
    for (const { octets } of secondary.requests) expect(octets.length).toBeLessThanOrEqual(512);
  });

  it('lost datagrams are repeated with other ids', async () => {
    const secondary = await startSecondary(nothing);
    const { notifier, log } = startNotifier([secondary]);
    notifier.notify(head('shop.example', 7));
    await until(() => secondary.requests.length === 2, 'the second attempt');
    expect(notifier.waiting('shop.example')).toMatchObject([{ serial: 7, failures: 1, refusal: null }]);
    secondary.reply = signed(RCODES.NOERROR);
    await settled(notifier);
    expect(secondary.requests).toHaveLength(3);
    expect(new Set(secondary.requests.map(({ id }) => id)).size).toBeGreaterThan(1);
    expect(log.entries).toEqual([]);
  });

  it('a newer version replaces one that waits, and an older one does not', async () => {
    const secondary = await startSecondary(nothing);
    const { notifier } = startNotifier([secondary]);
    for (const serial of [7, 9, 8, 9]) notifier.notify(head('shop.example', serial));
    await until(() => secondary.requests.length === 2, 'both versions');
    expect(notifier.waiting('shop.example')).toMatchObject([{ serial: 9, failures: 0 }]);
    expect(notifier.status()).toMatchObject([{ waiting: 1 }]);
    secondary.reply = signed(RCODES.NOERROR);
    await settled(notifier);
  });

  it('a refusal is repeated, and many are one line', async () => {
    const secondary = await startSecondary(signed(RCODES.NOTAUTH));
    const { notifier, log } = startNotifier([secondary]);
    for (let index = 0; index < 100; index++) notifier.notify(head(`z${index}.example`, 1));
    await until(() => secondary.requests.length >= 100, 'all zones');
    await until(() => notifier.waiting('z99.example')[0]?.refusal === 'NOTAUTH', 'the refusal');
    secondary.reply = signed(RCODES.NOERROR);
    await settled(notifier);
    expect(log.entries).toMatchObject([{ fields: { zone: 'z0.example', reason: 'NOTAUTH' } }]);
  });

  it('a secondary that does not know the key is refused with its reason', async () => {
    const secondary = await startSecondary((request) => [
      writeTsigError(
        response(request, RCODES.NOTAUTH),
        { kind: 'refused', error: RCODES.BADKEY },
        { tsig: request.tsig!, time: seconds() },
      ),
    ]);
    const { notifier } = startNotifier([secondary]);
    notifier.notify(head('shop.example', 1));
    await until(() => notifier.waiting('shop.example')[0]?.refusal === 'BADKEY', 'the refusal');
  });

  it('forged, foreign and malformed responses count for nothing', async () => {
    const other = makeKey(key.name).key;
    const secondary = await startSecondary((request) => [
      response(request, RCODES.NOERROR, { id: request.id ^ 1 }),
      response(request, RCODES.NOERROR, { question: Buffer.from('\x05other\0\0\x06\0\x01', 'latin1') }),
      signMessage(response(request, RCODES.NOERROR), other, { time: seconds(), prior: request.tsig!.mac })
        .octets,
      signMessage(response(request, RCODES.NOERROR), key, { time: seconds() }).octets,
      request.octets,
      Buffer.alloc(3),
      Buffer.concat([response(request, RCODES.NOERROR), Buffer.alloc(1)]),
    ]);
    const { notifier } = startNotifier([secondary]);
    notifier.notify(head('shop.example', 1));
    await until(() => secondary.requests.length === 2, 'the second attempt');
    expect(notifier.waiting('shop.example')).toMatchObject([{ failures: 1, refusal: null }]);
    secondary.reply = (request) => [response(request, RCODES.NOERROR)];
    await settled(notifier);
  });

  it('a bounded number is unanswered at once, and every zone has its turn', async () => {
    const secondary = await startSecondary(nothing);
    const { notifier } = startNotifier([secondary]);
    const start = Date.now();
    for (let index = 0; index < 1_000; index++) notifier.notify(head(`z${index}.example`, 1));
    await until(() => secondary.requests.length >= NOTIFY_CONCURRENCY, 'the first messages');
    // The first attempts free their places after a second.
    const rounds = 1 + Math.floor((Date.now() - start + 100) / 1_000);
    expect(secondary.requests.length).toBeLessThanOrEqual(NOTIFY_CONCURRENCY * rounds);
    expect(notifier.status()).toMatchObject([{ waiting: 1_000, silent: false }]);
    secondary.reply = signed(RCODES.NOERROR);
    await settled(notifier);
    expect(new Set(secondary.requests.map(({ question }) => question.name)).size).toBe(1_000);
  });

  it('a dead secondary causes one line, its return another, and the other one is not delayed', async () => {
    const dead = await startSecondary(nothing);
    const alive = await startSecondary(signed(RCODES.NOERROR));
    const { notifier, log } = startNotifier([dead, alive]);
    await dead.stop();
    for (let index = 0; index < 500; index++) notifier.notify(head(`z${index}.example`, 1));
    await until(() => notifier.status()[1]!.waiting === 0, 'the other secondary');
    await until(() => notifier.status()[0]!.silent, 'the silence');
    expect(log.entries).toMatchObject([
      { fields: { error: 'ECONNREFUSED' }, message: 'a secondary does not answer NOTIFY' },
    ]);
    await startSecondary(signed(RCODES.NOERROR), dead.server);
    await settled(notifier);
    expect(log.entries.slice(1)).toMatchObject([
      { fields: { gaveUp: 0 }, message: 'a secondary answers NOTIFY again' },
    ]);
  });

  it('a version is given up after the refresh time', async () => {
    let now = Date.now();
    const refusing = await startSecondary(signed(RCODES.REFUSED));
    const dead = await startSecondary(nothing);
    const { notifier, log } = startNotifier([refusing, dead], () => now);
    notifier.notify(head('shop.example', 1));
    await until(() => refusing.requests.length === 1 && dead.requests.length === 1, 'the first attempts');
    now += SOA_TIMERS.refresh * 1_000;
    await settled(notifier);
    expect(log.entries.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'a secondary refuses NOTIFY',
        'gave up NOTIFY: the refresh time of the zone has passed',
        'a secondary does not answer NOTIFY',
      ]),
    );
    // Only refusals have a second line: an hour has passed since the first.
    expect(log.entries.filter(({ message }) => !message.includes('refuses'))).toHaveLength(2);
  });

  it('an address without a route is repeated like a lost datagram', async () => {
    const secondary = { server: { address: '2001:db8::53', port: 53 } } as Secondary;
    const { notifier } = startNotifier([secondary]);
    notifier.notify(head('shop.example', 1));
    await until(() => notifier.waiting('shop.example')[0]?.failures === 1, 'the first failure');
  });

  it('a zone that is removed is sent no more, and a stopped notifier sends nothing', async () => {
    const secondary = await startSecondary(nothing);
    const { notifier } = startNotifier([secondary]);
    notifier.notify(head('shop.example', 1));
    notifier.forget('shop.example');
    expect(notifier.status()).toMatchObject([{ waiting: 0 }]);
    notifier.stop();
    notifier.notify(head('shop.example', 2));
    expect(notifier.status()).toMatchObject([{ waiting: 0 }]);
  });
});
