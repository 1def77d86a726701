import { type Answer, encode } from 'dns-packet';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeReply, encodeQuery, QUERY_TYPES } from '../../src/control/dns/message.ts';
import { answerData } from '../../src/control/dns/record-data.ts';
import { createDns, type Dns } from '../../src/control/dns/resolver.ts';
import { scanRecords } from '../../src/control/domains/scan-records.ts';
import { parseRecord } from '../../src/rules/model/parse.ts';
import {
  a,
  fromTable,
  NXDOMAIN,
  ns,
  REFUSED,
  type Script,
  type ScriptedServer,
  SERVFAIL,
  startDnsServer,
} from '../support/dns-server.ts';

const DOMAIN = 'shop.example';
const WORLD = fromTable({
  'shop.example NS': ns(DOMAIN, 'ns1.old.test', 'ns2.old.test'),
  'ns1.old.test A': a('ns1.old.test', '127.0.0.92'),
  'ns2.old.test A': a('ns2.old.test', '127.0.0.93'),
});
const SHOP = fromTable({
  'shop.example A': a(DOMAIN, '192.0.2.1'),
  'shop.example NS': ns(DOMAIN, 'ns1.old.test', 'ns2.old.test'),
  'www.shop.example A': a('www.shop.example', '192.0.2.1'),
  'mail.shop.example A': a('mail.shop.example', '192.0.2.2'),
});

let resolver: ScriptedServer;
let first: ScriptedServer;
let second: ScriptedServer;
let dns: Dns;

beforeAll(async () => {
  resolver = await startDnsServer('127.0.0.91', 0, WORLD);
  first = await startDnsServer('127.0.0.92', resolver.port, SHOP);
  second = await startDnsServer('127.0.0.93', resolver.port, SHOP);
  dns = createDns({
    resolvers: [`127.0.0.91:${resolver.port}`],
    authorityPort: resolver.port,
    privateAddresses: true,
    timeoutMs: 300,
  });
});
afterAll(() => Promise.all([resolver.stop(), first.stop(), second.stop()]));

async function scanned(): Promise<readonly string[]> {
  const { records } = await scanRecords(DOMAIN, dns);
  return records.map(
    ({ name, type, destination, proxied }) => `${name} ${type} ${destination}${proxied ? ' *' : ''}`,
  );
}

const FOUND = ['@ A 192.0.2.1 *', 'www A 192.0.2.1 *', 'mail A 192.0.2.2'];

describe('scanning the records of a domain', () => {
  it('asks its servers without recursion, and never for a transfer or everything', async () => {
    expect(await scanned()).toEqual(FOUND);
    const types = new Set([...first.queries, ...second.queries].map(({ type }) => type));
    expect([...types].filter((type) => type === 'AXFR' || type === 'IXFR' || type === 'ANY')).toEqual([]);
    expect([...first.queries, ...second.queries].some(({ recursive }) => recursive)).toBe(false);
  });

  it.each<[string, Script]>([
    ['silent', () => null],
    ['refusing', () => ({ rcode: REFUSED, authoritative: false })],
    ['failing', () => ({ rcode: SERVFAIL })],
    ['a cache', (query) => ({ ...SHOP(query), authoritative: false })],
  ])('uses the other server when one is %s, and gives up soon when both are', async (_, script) => {
    first.tell(script);
    expect((await scanned()).toSorted()).toEqual(FOUND.toSorted());
    second.tell(script);
    const before = first.queries.length;
    const result = await scanRecords(DOMAIN, dns);
    expect(result).toMatchObject({ records: [], complete: false, fault: { code: 'unanswered' } });
    expect(first.queries.length - before).toBeLessThan(20);
    first.tell(SHOP);
    second.tell(SHOP);
  });

  it('knows a wildcard that is an alias, and imports names that differ from it', async () => {
    const wild: Script = ({ name, type }) => {
      if (name === DOMAIN) return type === 'A' ? { answers: a(DOMAIN, '192.0.2.1') } : {};
      if (name === `api.${DOMAIN}`) return type === 'A' ? { answers: a(name, '192.0.2.7') } : {};
      return {
        answers: [{ type: 'CNAME', name, data: 'pages.host.test' }, ...a('pages.host.test', '192.0.2.50')],
      };
    };
    first.tell(wild);
    second.tell(wild);
    expect(await scanned()).toEqual(['@ A 192.0.2.1 *', '* CNAME pages.host.test', 'api A 192.0.2.7']);
    first.tell(SHOP);
    second.tell(SHOP);
  });

  it('ends within its time limit and reports that it is incomplete', async () => {
    const slow: Script = (query) => ({ ...(SHOP(query) ?? {}), delayMs: 40 });
    first.tell(slow);
    second.tell(slow);
    const started = performance.now();
    const result = await scanRecords(DOMAIN, dns, { limitMs: 600 });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(result.complete).toBe(false);
    expect(result.records[0]).toMatchObject({ name: '@', type: 'A' });
    first.tell(SHOP);
    second.tell(SHOP);
  });

  it('takes no record of another name, whatever the server slips in', async () => {
    const greedy: Script = (query) => ({
      answers: [...(SHOP(query)?.answers ?? []), ...a('bank.test', '192.0.2.66')],
    });
    first.tell(greedy);
    second.tell(greedy);
    expect((await scanned()).filter((line) => line.includes('192.0.2.66'))).toEqual([]);
    first.tell(SHOP);
    second.tell(SHOP);
  });

  it('finds no records of an undelegated name, and fails when no resolver answers', async () => {
    resolver.tell(() => ({ rcode: NXDOMAIN }));
    expect(await scanRecords(DOMAIN, dns)).toEqual({
      records: [],
      questions: 0,
      complete: true,
      fault: null,
    });
    resolver.tell(() => null);
    const failed = await scanRecords(DOMAIN, dns);
    expect(failed).toMatchObject({ records: [], complete: false, fault: { code: 'unanswered' } });
    resolver.tell(WORLD);
  });
});

describe('octets from a stranger', () => {
  const name = `x.${DOMAIN}`;
  const question = { name, type: 'TXT' } as const;
  const octets = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes));
  const label = fc.stringMatching(/^[ -~]{1,20}$/).filter((text) => !text.includes('.'));
  const answer = fc.oneof(
    fc.array(octets, { minLength: 1, maxLength: 4 }).map((data) => ({ type: 'TXT', name, data })),
    octets.map((data) => ({ type: 'UNKNOWN_65', name, data })),
    octets.map((data) => ({ type: 'UNKNOWN_64', name, data })),
    label.map((data) => ({ type: 'CNAME', name, data: `${data}.test` })),
    fc.record({ preference: fc.nat(65_535), exchange: label }).map((data) => ({ type: 'MX', name, data })),
    octets.map((certificate) => ({
      type: 'TLSA',
      name,
      data: { usage: 3, selector: 1, matchingType: 1, certificate },
    })),
    fc
      .record({ flags: fc.nat(255), tag: label, value: fc.string() })
      .map((data) => ({ type: 'CAA', name, data })),
    fc
      .record({ priority: fc.nat(9), weight: fc.nat(9), port: fc.nat(9), target: label })
      .map((data) => ({ type: 'SRV', name, data })),
  );

  it('becomes a record the model takes, or none', () => {
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 4 }), (answers) => {
        const query = encodeQuery(question, { id: 7, recursive: false, edns: false });
        const reply = encode({
          type: 'response',
          id: query.readUInt16BE(0),
          questions: [{ type: 'TXT', name }],
          answers: answers as unknown as Answer[],
        });
        for (const read of decodeReply(reply, question).answers) {
          const data = answerData(read);
          if (data === null) continue;
          const record = { id: 1, name: 'x', type: data.type, ...data.data };
          // An address where a host belongs is refused by the model, and the import leaves the record out.
          const { diagnostics } = parseRecord(record, DOMAIN);
          expect(diagnostics.filter(({ message }) => !message.includes('never an address'))).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a random message is decoded or refused as malformed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 12, maxLength: 120 }),
        fc.constantFrom(...QUERY_TYPES),
        (bytes, type) => {
          const reply = encodeQuery({ name, type }, { id: 7, recursive: false, edns: true });
          const mangled = Buffer.concat([reply.subarray(0, 40), Buffer.from(bytes)]);
          mangled.set(bytes.subarray(0, 6), 6);
          try {
            for (const read of decodeReply(mangled, { name, type }).answers) answerData(read);
          } catch (error) {
            expect(error).toMatchObject({ name: 'DnsFault', code: 'malformed' });
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
