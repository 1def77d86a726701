/** What servers write to their logs, readers read back: requests with any octets, written as each server escapes them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AccessFormat } from '../../src/workbench/access-logs/format.ts';
import { readOne, requestOf } from '../support/access-log.ts';

/** A request as the server saw it. */
interface Seen {
  readonly method: string;
  readonly target: string;
  readonly agent: string;
  readonly ip: string;
  readonly host: string;
  readonly time: number;
  readonly status: number;
}

// Any characters but those that no request line can have; names of headers with odd characters of every format.
const odd = fc.stringMatching(/^[!-~€é"\\#%{}|\t'[\]-]{1,24}$/u);
const seen: fc.Arbitrary<Seen> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'DELETE', 'M-SEARCH'),
  target: odd.map((text) => `/${text.replaceAll('\t', '')}`),
  agent: odd.filter((text) => text !== '-' && text.trim() === text),
  ip: fc.oneof(
    fc.ipV4(),
    fc.ipV6().filter((text) => text !== '::' && !text.includes('.')),
  ),
  host: fc.constantFrom('shop.example', 'a.shop.example:8443'),
  time: fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => seconds * 1_000),
  status: fc.integer({ min: 100, max: 599 }),
});

/** Each octet that a test is true of, as an escape. */
function escaped(text: string, needs: (octet: number) => boolean, written: (hex: string) => string): string {
  return [...Buffer.from(text)]
    .map((octet) =>
      needs(octet) ? written(octet.toString(16).toUpperCase().padStart(2, '0')) : String.fromCharCode(octet),
    )
    .join('');
}

const isPlain = (octet: number): boolean => octet >= 0x20 && octet < 0x7f;
/** As nginx's default `escape`. */
const nginx = (text: string): string =>
  escaped(
    text,
    (octet) => !isPlain(octet) || octet === 0x22 || octet === 0x5c,
    (hex) => `\\x${hex}`,
  );
/** As Apache's `%r` and `%i`. */
const apache = (text: string): string =>
  escaped(
    text,
    (octet) => !isPlain(octet),
    (hex) => `\\x${hex.toLowerCase()}`,
  )
    .replaceAll(/\\(?!x[0-9a-f]{2})/g, '\\\\')
    .replaceAll('"', '\\"');
const haproxy = (text: string): string =>
  escaped(
    text,
    (octet) => !isPlain(octet) || '"#{|}'.includes(String.fromCharCode(octet)),
    (hex) => `#${hex}`,
  );
const percent = (text: string): string =>
  escaped(
    text,
    (octet) => !isPlain(octet) || octet === 0x20 || octet === 0x25,
    (hex) => `%${hex}`,
  );

function clf(time: number): string {
  const [, day, month, year, clock] = new Date(time).toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock}`;
}

const WRITERS: Readonly<Record<string, readonly [AccessFormat, (request: Seen) => string]>> = {
  nginx: [
    'combined',
    ({ method, target, agent, ip, host, time, status }) =>
      `${host} ${ip} - - [${clf(time)} +0000] "${nginx(`${method} ${target} HTTP/1.1`)}" ${status} 5 "-" "${nginx(agent)}"`,
  ],
  apache: [
    'combined',
    ({ method, target, agent, ip, host, time, status }) =>
      `${host} ${ip} - - [${clf(time)} +0000] "${apache(`${method} ${target.replaceAll('\\', '')} HTTP/1.1`)}" ${status} 5 "-" "${apache(agent.replaceAll('\\', ''))}"`,
  ],
  'nginx-json': [
    'nginx-json',
    ({ method, target, agent, ip, host, time, status }) =>
      JSON.stringify({
        msec: (time / 1_000).toFixed(3),
        remote_addr: ip,
        host,
        request: `${method} ${target} HTTP/1.1`,
        status: String(status),
        http_user_agent: agent,
      }),
  ],
  caddy: [
    'caddy',
    ({ method, target, agent, ip, host, time, status }) =>
      JSON.stringify({
        ts: time / 1_000,
        request: {
          client_ip: ip,
          method,
          host,
          uri: target,
          proto: 'HTTP/1.1',
          headers: { 'User-Agent': [agent] },
        },
        status,
      }),
  ],
  haproxy: [
    'haproxy',
    ({ method, target, agent, ip, host, time, status }) =>
      `${ip}:4711 [${clf(time)}.000] in be/one 10/0/30/69/109 ${status} 2750 - - ---- 1/1/1/1/0 0/0 {${host}|${haproxy(agent)}} "${haproxy(`${method} ${target} HTTP/1.1`)}"`,
  ],
  cloudflare: [
    'cloudflare',
    ({ method, target, agent, ip, host, time, status }) =>
      JSON.stringify({
        ClientIP: ip,
        ClientRequestHost: host,
        ClientRequestMethod: method,
        ClientRequestURI: target,
        ClientRequestUserAgent: agent,
        EdgeStartTimestamp: time * 1_000_000,
        EdgeResponseStatus: status,
      }),
  ],
  cloudfront: [
    'cloudfront',
    ({ method, target, agent, ip, host, time, status }) => {
      const [date, clock] = new Date(time).toISOString().split(/[T.]/);
      return `${date}\t${clock}\tLAX1\t1\t${ip}\t${method}\td1.cloudfront.net\t${target}\t${status}\t-\t${percent(agent)}${'\t-'.repeat(4)}\t${host}${'\t-'.repeat(17)}`;
    },
  ],
};

test.each(Object.entries(WRITERS))('%s: what is written is read back', (name, [format, write]) => {
  fc.assert(
    fc.property(seen, (request) => {
      // A time of 1970 in another unit cannot be distinguished from one in seconds.
      fc.pre(name !== 'cloudflare' || request.time > 1e11);
      // CloudFront's own text is decoded twice, so an agent with an escape in it is not read back.
      fc.pre(name !== 'cloudfront' || !/%|\?/.test(request.agent + request.target));
      const plain = name === 'apache' ? (text: string) => text.replaceAll('\\', '') : (text: string) => text;
      fc.pre(plain(request.agent) !== '' && plain(request.agent) !== '-');
      const { method, target, headers, ip, host, time, status } = requestOf(format, write(request), {
        captures: ['host', 'user-agent'],
      });
      expect({ method, target, agent: headers['user-agent'], ip, host, time, status }).toEqual({
        ...request,
        target: plain(request.target),
        agent: plain(request.agent),
      });
    }),
    { numRuns: 300 },
  );
});

test.each(Object.entries(WRITERS))(
  '%s: a line that is cut anywhere is read, or says why not',
  (_, [format, write]) => {
    fc.assert(
      fc.property(seen, fc.double({ min: 0, max: 1, noNaN: true }), (request, share) => {
        const line = write(request);
        const read = readOne(format, line.slice(0, Math.floor(share * line.length)));
        if (read.kind === 'unreadable') expect(read.reason).not.toBe('');
        else expect(['request', 'no_request', 'blank']).toContain(read.kind);
      }),
      { numRuns: 200 },
    );
  },
);

test('any text is read as something, in every format', () => {
  const formats = [...new Set(Object.values(WRITERS).map(([format]) => format))];
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom(...formats),
      (line, format) => {
        expect(readOne(format, line)).toHaveProperty('kind');
      },
    ),
  );
});
