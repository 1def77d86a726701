/** Real DNS programs read zones from the hidden primary, and what broken or hostile ones get. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerAddress } from '../../src/control/dns/server-address.ts';
import { CONNECTIONS_PER_OTHER, FIRST_REQUEST_MS } from '../../src/control/zones/limits.ts';
import { createNotifier } from '../../src/control/zones/notify-queue.ts';
import { createZoneServer, type ZoneServer } from '../../src/control/zones/server.ts';
import {
  RCODES,
  readMessage,
  writeMessage,
  writeQuestion,
  type ZoneMessage,
} from '../../src/control/zones/wire/message.ts';
import { type ResourceRecord, TYPES } from '../../src/control/zones/wire/records.ts';
import { signMessage, verifyMessage } from '../../src/control/zones/wire/tsig.ts';
import { freePort } from '../support/free-ports.ts';
import { type KnotSecondary, startKnotSecondary } from '../support/knot-secondary.ts';
import { missingFile, missingProgram, requires } from '../support/requires.ts';
import { until } from '../support/until.ts';
import {
  aRecord,
  createMemoryLog,
  createMemoryZones,
  type MemoryLog,
  type MemoryZones,
  makeKey,
  nsRecord,
  output,
} from '../support/zone-memory.ts';

const ZONE = 'shop.example';
const good = makeKey('transfer.edge.test');
const long = makeKey('long.edge.test', 'hmac-sha512');
const unknown = makeKey('nobody.edge.test');
/** The name of a known key with another secret. */
const wrong = makeKey('transfer.edge.test');
const KEYS = new Map([good, long].map(({ key }) => [key.name, key]));

const hosts = (count: number): readonly ResourceRecord[] =>
  Array.from({ length: count }, (_, index) =>
    aRecord(`host-${index}.${ZONE}`, `198.18.${index >> 8}.${index & 255}`),
  );
const first = [nsRecord(ZONE, 'ns1.edge.test'), aRecord(ZONE, '192.0.2.1'), ...hosts(20)];
const second = [...first, aRecord(`*.${ZONE}`, '192.0.2.2')];
const third = second.map((one, index) => (index === 1 ? aRecord(ZONE, '192.0.2.7') : one));

interface Rig {
  readonly zones: MemoryZones;
  readonly server: ZoneServer;
  readonly at: ServerAddress;
  readonly log: MemoryLog;
}

async function startRig(secondaries: readonly ServerAddress[] = []): Promise<Rig> {
  const zones = createMemoryZones();
  const log = createMemoryLog();
  const server = createZoneServer({
    source: zones,
    keys: KEYS,
    secondaries: secondaries.map((one) => ({ server: one, key: good.key })),
    listen: { address: '127.0.0.1', port: 0 },
    log,
    clock: Date.now,
  });
  const at = await server.start();
  for (const [index, records] of [first, second, third].entries()) zones.set(ZONE, 11 + index, records);
  return { zones, server, at, log };
}

/** Lines of records, without spaces that programs add, comments and TSIG. */
function recordLines(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';') && !line.includes('TSIG'))
    .map((line) => line.split(/\s+/).join(' ').trim());
}

const SOA = (serial: number): string =>
  `${ZONE}. 300 IN SOA ns1.edge.test. hostmaster.${ZONE}. ${serial} 3600 600 1209600 300`;

/** A query as a secondary sends it. */
function query(type: number, name = ZONE, id = 77): Buffer {
  return writeMessage({ id, flags: 0, question: writeQuestion(name, type) });
}

function framed(octets: Buffer): Buffer {
  return Buffer.concat([Buffer.from([octets.length >> 8, octets.length & 255]), octets]);
}

const seconds = (): number => Math.floor(Date.now() / 1_000);

/** Sends octets over TCP and reads until the server closes. */
async function overTcp(at: ServerAddress, octets: Buffer, { half = true } = {}): Promise<readonly Buffer[]> {
  const socket = connect(at.port, at.address);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  if (half) socket.end(octets);
  else socket.write(octets);
  await once(socket, 'close');
  const all = Buffer.concat(chunks);
  const messages: Buffer[] = [];
  for (let at = 0; at < all.length; at += 2 + all.readUInt16BE(at)) {
    messages.push(all.subarray(at + 2, at + 2 + all.readUInt16BE(at)));
  }
  return messages;
}

async function overUdp(at: ServerAddress, octets: Buffer): Promise<Buffer> {
  const socket = createSocket('udp4');
  socket.send(octets, at.port, at.address);
  const [answer] = await once(socket, 'message');
  socket.close();
  return answer;
}

function read(octets: Buffer | undefined): ZoneMessage {
  const message = readMessage(octets!);
  if (message?.kind !== 'message') throw new Error('the answer is malformed');
  return message;
}

describe('transfers to programs', requires(missingProgram('kdig', 'knot-dnsutils')), () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.server.stop());

  const kdig = (key: string | null, ...args: readonly string[]): Promise<string> => {
    const at = [`@${rig.at.address}`, '-p', String(rig.at.port), '+retry=0'];
    return output('kdig', [...at, ...(key === null ? [] : ['-y', key]), ...args]);
  };

  it('kdig gets the whole zone between two SOA records', async () => {
    const lines = recordLines(await kdig(good.text, ZONE, 'AXFR'));
    expect(lines).toHaveLength(third.length + 2);
    expect([lines[0], lines.at(-1)]).toEqual([SOA(13), SOA(13)]);
    expect(lines).toContain(`*.${ZONE}. 300 IN A 192.0.2.2`);
    expect(lines).toContain(`${ZONE}. 300 IN NS ns1.edge.test.`);
  });

  it('kdig gets the steps since its serial', async () => {
    expect(recordLines(await kdig(good.text, ZONE, 'IXFR=11'))).toEqual([
      SOA(13),
      SOA(11),
      SOA(12),
      `*.${ZONE}. 300 IN A 192.0.2.2`,
      SOA(12),
      `${ZONE}. 300 IN A 192.0.2.1`,
      SOA(13),
      `${ZONE}. 300 IN A 192.0.2.7`,
      SOA(13),
    ]);
  });

  it.each([13, 14])('IXFR from serial %i is answered with the current SOA alone', async (serial) => {
    expect(recordLines(await kdig(good.text, ZONE, `IXFR=${serial}`))).toEqual([SOA(13)]);
  });

  it('IXFR over UDP is answered with the current SOA alone', async () => {
    expect(recordLines(await kdig(good.text, ZONE, 'IXFR=11', '+notcp'))).toEqual([SOA(13)]);
  });

  it('IXFR from a serial before the history is answered with the whole zone', async () => {
    expect(recordLines(await kdig(good.text, ZONE, 'IXFR=5'))).toHaveLength(third.length + 2);
  });

  it('IXFR that would be larger than the zone is answered with the whole zone', async () => {
    rig.zones.set('small.example', 1, hosts(20));
    rig.zones.set('small.example', 2, [aRecord('small.example', '192.0.2.1')]);
    const lines = recordLines(await kdig(good.text, 'small.example', 'IXFR=1'));
    expect(lines).toHaveLength(3);
  });

  it.each([['+notcp'], ['+tcp']])('SOA is answered with %s', async (transport) => {
    const text = await kdig(good.text, ZONE, 'SOA', transport);
    expect(recordLines(text)).toEqual([SOA(13)]);
    expect(text).toContain('Flags: qr aa rd;');
  });

  it('the key with SHA-512 reads the zone', async () => {
    expect(recordLines(await kdig(long.text, ZONE, 'AXFR'))).toHaveLength(third.length + 2);
  });

  it.each([
    ['an unknown key', unknown.text, [ZONE, 'AXFR'], 'BADKEY'],
    ['a wrong secret', wrong.text, [ZONE, 'AXFR'], 'BADSIG'],
    ['no key', null, [ZONE, 'AXFR'], 'REFUSED'],
    ['a zone of others', good.text, ['other.example', 'AXFR'], 'NOTAUTH'],
    ['a name in the zone', good.text, [`www.${ZONE}`, 'SOA'], 'NOTAUTH'],
    ['AXFR over UDP', good.text, [ZONE, 'AXFR', '+notcp'], 'FORMERR'],
    ['another type', good.text, [ZONE, 'A'], 'REFUSED'],
    ['another class', good.text, [ZONE, 'SOA', 'CH'], 'REFUSED'],
    ['another opcode', good.text, [ZONE, 'NOTIFY'], 'NOTIMP'],
  ])('%s gets its error', async (_, key, args, error) => {
    expect(await kdig(key, ...args)).toMatch(new RegExp(`(status: |error ')${error}`));
  });

  it('the name of the question comes back as it was sent', async () => {
    const text = await kdig(good.text, 'sHop.eXAMple', 'AXFR');
    expect(recordLines(text)).toHaveLength(third.length + 2);
    const name = Buffer.from('\x04sHop\x07eXAMple\0', 'latin1');
    const signed = signMessage(
      writeMessage({ id: 5, flags: 0, question: Buffer.concat([name, Buffer.from([0, TYPES.SOA, 0, 1])]) }),
      good.key,
      { time: seconds() },
    );
    expect((await overUdp(rig.at, signed.octets)).includes(name)).toBe(true);
  });

  it(
    'dig, which sends EDNS, gets whole zone and steps',
    requires(missingProgram('dig', 'bind9-dnsutils')),
    async () => {
      const at = [`@${rig.at.address}`, '-p', String(rig.at.port), '-y', good.text, ZONE];
      expect(recordLines(await output('dig', [...at, 'AXFR']))).toHaveLength(third.length + 2);
      expect(recordLines(await output('dig', [...at, 'IXFR=12']))).toHaveLength(6);
      expect(await output('dig', [...at, 'SOA'])).toContain('EDNS: version: 0, flags:; udp: 1232');
    },
  );

  it('10,000 records arrive in several messages', async () => {
    rig.zones.set(
      'large.example',
      1,
      hosts(10_000).map((one) => ({ ...one, name: one.name.replace(ZONE, 'large.example') })),
    );
    const text = await kdig(good.text, 'large.example', 'AXFR');
    expect(new Set(recordLines(text)).size).toBe(10_001);
    expect(Number(/\((\d+) messages/.exec(text)?.[1])).toBeGreaterThan(10);
  });

  it('names of 255 octets arrive', async () => {
    const label = 'a'.repeat(63);
    const zone = `${label}.${label}.${'b'.repeat(63)}`;
    const name = `${'c'.repeat(253 - zone.length - 1)}.${zone}`;
    rig.zones.set(zone, 1, [aRecord(name, '192.0.2.1'), aRecord(zone, '192.0.2.2')]);
    const text = await kdig(good.text, zone, 'AXFR');
    expect(text).toContain(`${name}.`);
    expect(recordLines(text)).toHaveLength(4);
    // Its signed SOA record exceeds 512 octets, so kdig repeats the query over TCP.
    const soa = await kdig(good.text, zone, 'SOA');
    expect(recordLines(soa)).toHaveLength(1);
    expect(soa).toContain('(TCP)');
  });

  it('a source that fails causes SERVFAIL, and one line', async () => {
    rig.zones.fail(new Error('the disk is gone'));
    for (const type of ['SOA', 'AXFR', 'IXFR=11']) {
      expect(await kdig(good.text, ZONE, type)).toContain('SERVFAIL');
    }
    rig.zones.fail(null);
    expect(rig.log.entries.filter(({ fields }) => fields['subject'] === 'source')).toHaveLength(1);
    expect(recordLines(await kdig(good.text, ZONE, 'SOA'))).toEqual([SOA(13)]);
  });

  it('a record that fits no message causes SERVFAIL', async () => {
    const rdata = Buffer.alloc(65_400);
    rig.zones.set('huge.example', 1, [{ name: 'huge.example', type: TYPES.TXT, ttl: 300, rdata }]);
    expect(await kdig(good.text, 'huge.example', 'AXFR')).toMatch(/SERVFAIL|failed/);
    expect(recordLines(await kdig(good.text, ZONE, 'SOA'))).toEqual([SOA(13)]);
  });
});

describe('broken and hostile peers', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig([{ address: '127.0.0.1', port: 53 }]);
  });
  afterAll(() => rig.server.stop());

  it('a request of yesterday gets BADTIME with the time of this server, signed', async () => {
    const request = signMessage(query(TYPES.SOA), good.key, { time: seconds() - 86_400 });
    const message = read(await overUdp(rig.at, request.octets));
    const { tsig } = message;
    expect(message.rcode).toBe(RCODES.NOTAUTH);
    expect(tsig!.error).toBe(RCODES.BADTIME);
    expect(Math.abs(tsig!.other.readUIntBE(0, 6) - seconds())).toBeLessThan(60);
    const keys = KEYS;
    const time = seconds() - 86_400;
    expect(verifyMessage(message, tsig!, { keys, time, prior: request.mac }).kind).toBe('valid');
  });

  it('requests sent ahead are answered in order', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => index);
    const frames = ids.map((id) =>
      framed(signMessage(query(TYPES.SOA, ZONE, id), good.key, { time: seconds() }).octets),
    );
    const answers = await overTcp(rig.at, Buffer.concat(frames));
    expect(answers.map((one) => one.readUInt16BE(0))).toEqual(ids);
  });

  it('each message of a transfer is signed with the MAC of the one before', async () => {
    rig.zones.set('large.example', 1, hosts(2_000));
    const request = signMessage(query(TYPES.AXFR, 'large.example'), good.key, { time: seconds() });
    const messages = (await overTcp(rig.at, framed(request.octets))).map(read);
    expect(messages.length).toBeGreaterThan(2);
    let prior = request.mac;
    for (const [index, message] of messages.entries()) {
      const options = { keys: KEYS, time: seconds(), prior, later: index > 0 };
      const verdict = verifyMessage(message, message.tsig!, options);
      expect(verdict.kind).toBe('valid');
      prior = message.tsig!.mac;
    }
  });

  it('a request in single octets is answered', async () => {
    const socket = connect(rig.at.port, rig.at.address);
    const octets = framed(signMessage(query(TYPES.SOA), good.key, { time: seconds() }).octets);
    for (const octet of octets) socket.write(Buffer.from([octet]));
    const [answer] = await once(socket, 'data');
    expect(read(answer.subarray(2)).rcode).toBe(RCODES.NOERROR);
    socket.destroy();
  });

  it.each([
    ['no octets', Buffer.alloc(0)],
    ['a length below a header', Buffer.from([0, 3, 1, 2, 3])],
    ['a length above every request', Buffer.alloc(9_000, 0xff)],
    ['half a message', Buffer.from([0, 40, 1, 2, 3])],
    ['a response', framed(writeMessage({ id: 1, flags: 0x8000, question: writeQuestion(ZONE, TYPES.SOA) }))],
  ])('%s gets no answer and the end of the connection', async (_, octets) => {
    expect(await overTcp(rig.at, octets)).toEqual([]);
  });

  it('a malformed message gets FORMERR without a question', async () => {
    const octets = Buffer.concat([query(TYPES.SOA), Buffer.from([1])]);
    const answer = await overUdp(rig.at, octets);
    expect(answer.length).toBe(12);
    expect(answer[3]! & 15).toBe(RCODES.FORMERR);
  });

  it('a request without signature ends the connection', async () => {
    const answers = await overTcp(rig.at, framed(query(TYPES.AXFR)), { half: false });
    expect(answers.map((one) => one[3]! & 15)).toEqual([RCODES.REFUSED]);
  });

  it('a connection that sends nothing is closed', async () => {
    const socket = connect(rig.at.port, rig.at.address);
    socket.resume();
    const start = Date.now();
    await once(socket, 'close');
    expect(Date.now() - start).toBeGreaterThan(FIRST_REQUEST_MS - 100);
  });

  it('a stranger gets few connections, and the secondary others at the same time', async () => {
    const sockets: Socket[] = [];
    for (let index = 0; index < CONNECTIONS_PER_OTHER + 1; index++) {
      sockets.push(connect({ port: rig.at.port, host: rig.at.address, localAddress: '127.0.0.2' }));
    }
    await once(
      sockets
        .at(-1)!
        .on('error', () => undefined)
        .resume(),
      'close',
    );
    expect(sockets.filter((one) => one.destroyed)).toHaveLength(1);
    const request = signMessage(query(TYPES.SOA), good.key, { time: seconds() });
    expect(await overTcp(rig.at, framed(request.octets))).toHaveLength(1);
    for (const socket of sockets) socket.destroy();
  });

  it('a client that goes away during a transfer does no harm', async () => {
    const request = signMessage(query(TYPES.AXFR, 'large.example'), good.key, { time: seconds() });
    for (let index = 0; index < 20; index++) {
      const socket = connect(rig.at.port, rig.at.address);
      socket.write(framed(request.octets));
      await once(socket, 'data');
      socket.resetAndDestroy();
    }
    expect(await overTcp(rig.at, framed(request.octets))).not.toEqual([]);
  });

  it('a thousand refusals are one line', async () => {
    const before = rig.log.entries.length;
    for (let index = 0; index < 1_000; index++) await overUdp(rig.at, query(TYPES.SOA));
    const lines = rig.log.entries.slice(before).filter(({ fields }) => fields['subject'] === '127.0.0.1');
    expect(lines.length).toBeLessThanOrEqual(1);
  });

  it('a server that stops closes connections and frees its port', async () => {
    const other = await startRig();
    const socket = connect(other.at.port, other.at.address);
    await once(socket, 'connect');
    socket.resume();
    const closed = once(socket, 'close');
    await other.server.stop();
    await closed;
    const listen = other.at;
    const again = createZoneServer({
      source: other.zones,
      keys: KEYS,
      secondaries: [],
      listen,
      log: other.log,
      clock: Date.now,
    });
    await again.start();
    await again.stop();
  });

  it('an address in use is an error of the start', async () => {
    const { zones, log, at } = rig;
    const options = { source: zones, keys: KEYS, secondaries: [], listen: at, log, clock: Date.now };
    await expect(createZoneServer(options).start()).rejects.toThrow('EADDRINUSE');
  });
});

describe(
  'Knot as a secondary',
  requires(missingFile('/usr/sbin/knotd', 'knot'), missingProgram('kdig', 'knot-dnsutils')),
  () => {
    it('transfers a zone, and its next versions as steps after NOTIFY', async () => {
      const listen = { address: '127.0.0.1', port: await freePort('127.0.0.1') };
      const rig = await startRig([listen]);
      const notifier = createNotifier({
        secondaries: [{ server: listen, key: good.key }],
        log: rig.log,
        clock: Date.now,
      });
      let knot: KnotSecondary | null = null;
      try {
        // Knot is not there yet, so the first datagrams are lost.
        notifier.notify({ name: ZONE, serial: 13, primary: 'ns1.edge.test' });
        expect(notifier.status()).toEqual([{ server: listen, waiting: 1, silent: false }]);
        knot = startKnotSecondary({ listen, primary: rig.at, key: good.text, zones: [ZONE] });
        const asks = (...args: readonly string[]): Promise<string> =>
          output('kdig', [`@${listen.address}`, '-p', String(listen.port), '+timeout=1', ...args]);
        await until(async () => (await asks(ZONE, 'SOA')).includes(' 13 3600'), 'the first transfer');
        await until(() => notifier.status()[0]!.waiting === 0, 'NOTIFY to be accepted');

        for (const [serial, address] of [
          [14, '192.0.2.14'],
          [15, '192.0.2.15'],
        ] as const) {
          notifier.notify(rig.zones.set(ZONE, serial, [...third, aRecord(`new.${ZONE}`, address)]));
          await until(async () => (await asks(`new.${ZONE}`, 'A')).includes(address), `version ${serial}`);
        }
        await until(() => notifier.status()[0]!.waiting === 0, 'NOTIFY to be accepted');
        const transfers = knot.log().match(/[AI]XFR, incoming.* finished/g) ?? [];
        expect(transfers.map((one) => one.slice(0, 4))).toEqual(['AXFR', 'IXFR', 'IXFR']);
        expect(rig.log.entries.flatMap(({ fields }) => fields['kind'] ?? [])).toEqual([
          'axfr',
          'ixfr',
          'ixfr',
        ]);
        expect(knot.log()).not.toMatch(/(error|warning): .*(TSIG|IXFR|AXFR)/i);
      } catch (error) {
        throw new Error(`the log of knotd: ${knot?.log()}`, { cause: error });
      } finally {
        notifier.stop();
        await knot?.stop();
        await rig.server.stop();
      }
    });
  },
);
