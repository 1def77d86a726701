import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHelloReader } from '../../../../src/edge/listeners/tls/listen.ts';
import { ja4, ja4Parts, readClientHello } from '../../../../src/engine/classification/ja4.ts';
import { readStreams } from '../../../support/captures.ts';
import { externalSuite } from '../../../support/external-suites.ts';
import { requires } from '../../../support/requires.ts';

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A list of the method's description: four hex digits, commas. */
function listed(text: string): Buffer {
  return Buffer.from(text.replaceAll(',', ''), 'hex');
}

function sized(octets: Buffer, length: 1 | 2 | 3): Buffer {
  const size = Buffer.alloc(length);
  size.writeUIntBE(octets.length, 0, length);
  return Buffer.concat([size, octets]);
}

interface Parts {
  readonly version?: string;
  readonly ciphers?: string;
  /** Types with the octets of what they hold, in hex. */
  readonly extensions?: readonly (readonly [string, string])[];
}

/** A whole handshake message. */
function helloOf({ version = '0303', ciphers = '1301', extensions = [] }: Parts): Buffer {
  const list = extensions.map(([type, content]) =>
    Buffer.concat([Buffer.from(type, 'hex'), sized(Buffer.from(content, 'hex'), 2)]),
  );
  const body = Buffer.concat([
    Buffer.from(version, 'hex'),
    Buffer.alloc(32, 7),
    sized(Buffer.alloc(32, 8), 1),
    sized(listed(ciphers), 2),
    Buffer.from('0100', 'hex'),
    sized(Buffer.concat(list), 2),
  ]);
  return Buffer.concat([Buffer.from([1]), sized(body, 3)]);
}

function hexOf(octets: Buffer): string {
  return octets.toString('hex');
}

function alpn(...protocols: readonly Buffer[]): readonly [string, string] {
  const list = Buffer.concat(protocols.map((one) => sized(one, 1)));
  return ['0010', hexOf(sized(list, 2))];
}

const NAME: readonly [string, string] = [
  '0000',
  hexOf(sized(Buffer.concat([Buffer.from([0]), sized(Buffer.from('shop.test'), 2)]), 2)),
];

/** The example of the method's description (technical_details/JA4.md), GREASE added where clients put it. */
const CIPHERS = '1301,1302,1303,c02b,c02f,c02c,c030,cca9,cca8,c013,c014,009c,009d,002f,0035';
const EXTENSIONS = '001b,0000,0033,0010,4469,0017,002d,000d,0005,0023,0012,002b,ff01,000b,000a,0015';
const ALGORITHMS = '0403,0804,0401,0503,0805,0501,0806,0601';

function described(): Buffer {
  const content: Readonly<Record<string, string>> = {
    '0000': NAME[1],
    '0010': alpn(Buffer.from('h2'), Buffer.from('http/1.1'))[1],
    '000d': hexOf(sized(listed(ALGORITHMS), 2)),
    '002b': hexOf(sized(listed('2a2a,0304,0303'), 1)),
  };
  const types = ['fafa', ...EXTENSIONS.split(','), '1a1a'];
  const extensions = types.map((type): readonly [string, string] => [type, content[type] ?? '']);
  return helloOf({ ciphers: `8a8a,${CIPHERS}`, extensions });
}

describe('JA4', () => {
  test('the fingerprint of JA4.md’s example is the published one', () => {
    const hello = readClientHello(described())!;
    expect(hello.serverName).toBe('shop.test');
    const { head, ciphers, rest } = ja4Parts(hello);
    expect(`${head}_${ciphers}_${rest}`).toBe(
      't13d1516h2_002f,0035,009c,009d,1301,1302,1303,c013,c014,c02b,c02c,c02f,c030,cca8,cca9_' +
        `0005,000a,000b,000d,0012,0015,0017,001b,0023,002b,002d,0033,4469,ff01_${ALGORITHMS}`,
    );
    expect(ja4(hello, sha256)).toBe('t13d1516h2_8daaf6152771_e5627efa2ab1');
  });

  test('ends without an underscore where there are no signature algorithms', () => {
    const extensions = EXTENSIONS.split(',')
      .filter((type) => type !== '000d' && type !== '0000' && type !== '0010' && type !== '002b')
      .map((type): readonly [string, string] => [type, '']);
    const { rest } = ja4Parts(readClientHello(helloOf({ extensions }))!);
    expect(rest).toBe('0005,000a,000b,0012,0015,0017,001b,0023,002d,0033,4469,ff01');
  });

  test('a part without values is twelve zeros', () => {
    const hello = readClientHello(helloOf({ ciphers: '' }))!;
    expect(ja4(hello, sha256)).toBe('t12i000000_000000000000_000000000000');
  });

  // The examples of "ALPN Extension Value" in the description.
  test.each([
    ['h2', Buffer.from('h2'), 'h2'],
    ['http/1.1', Buffer.from('http/1.1'), 'h1'],
    ['one character', Buffer.from('x'), 'xx'],
    ['ab', Buffer.from('ab', 'hex'), 'ab'],
    ['20', Buffer.from('20', 'hex'), '20'],
    ['abcd', Buffer.from('abcd', 'hex'), 'ad'],
    ['2061', Buffer.from('2061', 'hex'), '21'],
    ['30ab', Buffer.from('30ab', 'hex'), '3b'],
    ['6120', Buffer.from('6120', 'hex'), '60'],
    ['3031abcd', Buffer.from('3031abcd', 'hex'), '3d'],
    ['30abcd31', Buffer.from('30abcd31', 'hex'), '01'],
    ['an empty value', Buffer.alloc(0), '00'],
  ])('writes the ALPN value %s as first and last', (_what, value, expected) => {
    const hello = readClientHello(helloOf({ extensions: [alpn(value, Buffer.from('zz'))] }))!;
    expect(ja4Parts(hello).head.slice(-2)).toBe(expected);
  });

  test.each([
    ['0304', '13'],
    ['0303', '12'],
    ['0302', '11'],
    ['0301', '10'],
    ['0300', 's3'],
    ['0002', 's2'],
    ['7f1c', '00'],
  ])('writes the version %s as %s, from the extension first', (version, expected) => {
    expect(ja4Parts(readClientHello(helloOf({ version }))!).head.slice(1, 3)).toBe(expected);
    const extensions = [['002b', hexOf(sized(listed(`0a0a,${version}`), 1))] as const];
    expect(ja4Parts(readClientHello(helloOf({ version: '0301', extensions }))!).head.slice(1, 3)).toBe(
      expected,
    );
  });

  test('counts to 99', () => {
    const ciphers = Array.from({ length: 150 }, (_, index) => (0x1000 + index).toString(16)).join(',');
    expect(ja4Parts(readClientHello(helloOf({ ciphers }))!).head).toBe('t12i990000');
  });
});

describe('a ClientHello', () => {
  test('a ClientHello cut at any octet is rejected', () => {
    const whole = described();
    for (let length = 0; length < whole.length; length++) {
      expect(readClientHello(whole.subarray(0, length))).toBeNull();
      // The header's length adjusted: what is cut is then inside.
      if (length < 5) continue;
      const cut = Buffer.concat([Buffer.from([1]), sized(whole.subarray(4, length), 3)]);
      const read = readClientHello(cut);
      if (read !== null) expect(read.extensions).toEqual([]);
    }
  });

  test('arbitrary octets are parsed or rejected without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
        const hello = readClientHello(Buffer.concat([Buffer.from([1]), sized(Buffer.from(octets), 3)]));
        if (hello !== null) expect(ja4(hello, sha256)).toMatch(/^t..[di]\d{4}.._[0-9a-f]{12}_[0-9a-f]{12}$/);
      }),
    );
  });

  test('is put together from records however it is cut', () => {
    const whole = described();
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 90 }),
        (sizes, step) => {
          const records: Buffer[] = [];
          for (let at = 0, i = 0; at < whole.length; i++) {
            const part = whole.subarray(at, at + sizes[i % sizes.length]!);
            records.push(Buffer.from([22, 3, 1]), sized(part, 2));
            at += part.length;
          }
          const stream = Buffer.concat([...records, Buffer.from('after')]);
          const read = createHelloReader();
          let seen = 0;
          let outcome: ReturnType<typeof read> = 'more';
          while (outcome === 'more' && seen < stream.length) {
            seen += step;
            outcome = read(Buffer.from(stream.subarray(0, seen)));
          }
          expect(outcome).toMatchObject({ ok: true, used: 0 });
          if (outcome !== 'more' && outcome.ok) expect(Buffer.from(outcome.value).equals(whole)).toBe(true);
        },
      ),
    );
  });
});

/**
 * The fingerprint again, from the hex digits of a hello that a real client sent, by another road: text and splitting,
 * no cursor.
 */
function ja4ByText(message: Buffer): string {
  const hex = message.toString('hex').slice(8);
  const pairs = (text: string): string[] => text.match(/..../g) ?? [];
  const grease = (value: string): boolean => /^(.)a\1a$/.test(value);
  const session = Number.parseInt(hex.slice(68, 70), 16) * 2;
  let rest = hex.slice(70 + session);
  const cipherEnd = 4 + Number.parseInt(rest.slice(0, 4), 16) * 2;
  const ciphers = pairs(rest.slice(4, cipherEnd)).filter((value) => !grease(value));
  rest = rest.slice(cipherEnd);
  rest = rest.slice(2 + Number.parseInt(rest.slice(0, 2), 16) * 2 + 4);
  const extensions = new Map<string, string>();
  while (rest !== '') {
    const size = Number.parseInt(rest.slice(4, 8), 16) * 2;
    if (!grease(rest.slice(0, 4))) extensions.set(rest.slice(0, 4), rest.slice(8, 8 + size));
    rest = rest.slice(8 + size);
  }
  const versions = pairs((extensions.get('002b') ?? '').slice(2)).filter((value) => !grease(value));
  const version = { '0304': '13', '0303': '12', '0302': '11', '0301': '10' }[
    versions.sort().at(-1) ?? hex.slice(0, 4)
  ];
  const protocols = Buffer.from((extensions.get('0010') ?? '').slice(4), 'hex');
  const first = protocols.toString('latin1', 1, 1 + (protocols[0] ?? 0));
  const algorithms = pairs((extensions.get('000d') ?? '').slice(4)).filter((value) => !grease(value));
  const two = (count: number): string => `0${count}`.slice(-2);
  const head = `t${version}${extensions.has('0000') ? 'd' : 'i'}${two(ciphers.length)}${two(extensions.size)}`;
  const kept = [...extensions.keys()].filter((type) => type !== '0000' && type !== '0010').sort();
  const last = `${kept.join(',')}${algorithms.length > 0 ? `_${algorithms.join(',')}` : ''}`;
  const digest = (text: string): string => sha256(text).slice(0, 12);
  return `${head}${first === '' ? '00' : first[0]! + first.at(-1)!}_${digest(ciphers.sort().join(','))}_${digest(last)}`;
}

/** Takes the first message of every client that connects. */
async function captureHellos(): Promise<{ port: number; hellos: Buffer[]; close(): void }> {
  const hellos: Buffer[] = [];
  const server = createServer((socket: Socket) => {
    let octets = Buffer.alloc(0);
    const read = createHelloReader();
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      octets = Buffer.concat([octets, chunk]);
      const step = read(octets);
      if (step === 'more') return;
      if (step.ok) hellos.push(Buffer.from(step.value));
      socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as { port: number }).port, hellos, close: () => void server.close() };
}

function run(command: string, args: readonly string[]): Promise<void> {
  // Every client fails: its connection ends after its hello.
  return new Promise((resolve) => {
    execFile(command, args, { timeout: 20_000 }, () => resolve()).stdin?.end();
  });
}

const CHROMIUM = '/usr/bin/chromium';
const profile = mkdtempSync(join(tmpdir(), 'edgeplan-ja4-'));

type Client = (port: number) => Promise<void>;

const CLIENTS: readonly (readonly [string, string | null, RegExp, Client])[] = [
  [
    'curl, HTTP/2',
    '/usr/bin/curl',
    /^t13d\d\d\d\dh2_/,
    (port) =>
      run('curl', [
        '-sk',
        '--http2',
        '--resolve',
        `shop.test:${port}:127.0.0.1`,
        `https://shop.test:${port}/`,
      ]),
  ],
  [
    'curl, HTTP/1.1, TLS 1.2, by address',
    '/usr/bin/curl',
    /^t12i\d\d\d\dh1_/,
    (port) => run('curl', ['-sk', '--http1.1', '--tls-max', '1.2', `https://127.0.0.1:${port}/`]),
  ],
  [
    'openssl s_client',
    '/usr/bin/openssl',
    /^t13d\d\d\d\d00_/,
    (port) => run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', 'shop.test']),
  ],
  [
    'node',
    null,
    /^t13d\d\d\d\d00_/,
    async (port) => {
      const socket = connectTls({ port, host: '127.0.0.1', servername: 'shop.test' });
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.on('close', resolve));
    },
  ],
  [
    'chromium',
    CHROMIUM,
    /^t13d\d\d\d\dh2_/,
    (port) =>
      run(CHROMIUM, [
        ...['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`, '--dump-dom'],
        ...['--host-resolver-rules=MAP shop.test 127.0.0.1', '--timeout=3000', `https://shop.test:${port}/`],
      ]),
  ],
];

describe('real clients', () => {
  for (const [name, program, shape, connect] of CLIENTS) {
    const missing = program === null || existsSync(program) ? null : `${program} is not installed`;
    test(name, requires(missing), async () => {
      const { port, hellos, close } = await captureHellos();
      await connect(port);
      await connect(port);
      close();
      if (program === CHROMIUM) rmSync(profile, { recursive: true, force: true });
      expect(hellos.length).toBeGreaterThanOrEqual(2);
      const seen = hellos.map((message) => ja4(readClientHello(message)!, sha256));
      expect(seen).toEqual(hellos.map(ja4ByText));
      expect(seen[0]).toMatch(shape);
      expect(new Set(seen).size).toBe(1);
    });
  }
});

// FoxIO's own captures and the fingerprints published for them (github.com/FoxIO-LLC/ja4). `EDGEPLAN_SUITES` has a checkout.

const { folder: CHECKOUT, missing: ABSENT } = externalSuite('ja4');
const SNAPSHOTS = join(CHECKOUT, 'rust/ja4/src/snapshots');

/**
 * Its snapshot says `99` for an ALPN value of octets that are not ASCII, as the programs of 2024 did; the method's text
 * says since that such a value counts by its hex digits.
 */
const OLDER_THAN_THE_TEXT = ['tls-non-ascii-alpn.pcapng'];

interface Published {
  readonly ports: string;
  readonly ja4: string;
}

/** The TCP streams with a fingerprint, out of a snapshot's lines. */
function readSnapshot(text: string): readonly Published[] {
  return text
    .split('\n- stream:')
    .map((block) => new Map(block.split('\n').map((line) => splitOnce(line.trim(), ': '))))
    .filter((fields) => fields.get('transport') === 'tcp' && fields.has('ja4'))
    .map((fields) => ({
      ports: `${fields.get('src_port')} ${fields.get('dst_port')}`,
      ja4: fields.get('ja4')!,
    }));
}

function splitOnce(line: string, mark: string): [string, string] {
  const at = line.indexOf(mark);
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + mark.length)];
}

/** The first ClientHello anywhere in a stream: some follow the greeting of a proxy. */
function firstJa4(octets: Buffer): string | null {
  for (let at = octets.indexOf(22); at >= 0; at = octets.indexOf(22, at + 1)) {
    const step = createHelloReader()(octets.subarray(at));
    const hello = step !== 'more' && step.ok ? readClientHello(step.value) : null;
    if (hello !== null) return ja4(hello, (text) => createHash('sha256').update(text).digest('hex'));
  }
  return null;
}

const captures =
  ABSENT === null
    ? readdirSync(SNAPSHOTS).map((name) => name.slice('ja4__insta@'.length, -'.snap'.length))
    : [];

describe('published fingerprints', requires(ABSENT), () => {
  test('our fingerprints equal the published ones', () => {
    const compared: string[] = [];
    for (const capture of captures) {
      const file = join(CHECKOUT, 'pcap', capture);
      if (!existsSync(file) || OLDER_THAN_THE_TEXT.includes(capture)) continue;
      const published = readSnapshot(readFileSync(join(SNAPSHOTS, `ja4__insta@${capture}.snap`), 'utf8'));
      if (published.length === 0) continue;
      const ours = readStreams(readFileSync(file)).flatMap(({ sourcePort, destinationPort, octets }) => {
        const found = firstJa4(octets);
        return found === null ? [] : [`${sourcePort} ${destinationPort} ${found}`];
      });
      for (const one of published) {
        expect(ours, `${capture} ${one.ports}`).toContain(`${one.ports} ${one.ja4}`);
        compared.push(one.ja4);
      }
    }
    expect(compared.length).toBeGreaterThan(100);
    expect(new Set(compared).size).toBeGreaterThan(10);
  });
});
