import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDns, type Dns } from '../../src/control/dns/resolver.ts';
import { parseServerAddress } from '../../src/control/dns/server-address.ts';
import { challengeHost, checkChallenge, newChallenge } from '../../src/control/domains/challenge.ts';
import { checkDelegation } from '../../src/control/domains/check-delegation.ts';
import {
  a,
  FORMERR,
  fromTable,
  NXDOMAIN,
  ns,
  REFUSED,
  type Script,
  type ScriptedServer,
  SERVFAIL,
  startDnsServer,
  txt,
} from '../support/dns-server.ts';

const DOMAIN = 'shop.example';
const SETS = [
  ['ns1.edge.test', 'ns2.edge.test'],
  ['ns3.edge.test', 'ns4.edge.test', 'ns5.edge.test'],
];

/** What the resolver knows: the zone above the domain and where its two servers are. */
const WORLD = fromTable({
  'example NS': ns('example', 'a.nic.example', 'b.nic.example'),
  'a.nic.example A': a('a.nic.example', '127.0.0.72'),
  'b.nic.example A': a('b.nic.example', '127.0.0.73'),
  // A cache may hold anything about the domain itself.
  'shop.example NS': ns('shop.example', 'ns1.edge.test', 'ns2.edge.test'),
});

let resolver: ScriptedServer;
let first: ScriptedServer;
let second: ScriptedServer;
let dns: Dns;

beforeAll(async () => {
  resolver = await startDnsServer('127.0.0.71', 0, WORLD);
  first = await startDnsServer('127.0.0.72', resolver.port, () => null);
  second = await startDnsServer('127.0.0.73', resolver.port, () => null);
  dns = createDns({
    resolvers: [`127.0.0.71:${resolver.port}`],
    authorityPort: resolver.port,
    privateAddresses: true,
    timeoutMs: 500,
  });
});
afterAll(() => Promise.all([resolver.stop(), first.stop(), second.stop()]));
beforeEach(() => resolver.tell(WORLD));

function referral(...servers: readonly string[]): Script {
  return () => ({ authoritative: false, authorities: ns(DOMAIN, ...servers) });
}

function both(script: Script): void {
  first.tell(script);
  second.tell(script);
}

describe('the delegation at the parent', () => {
  it.each([
    ['the first set', ['ns1.edge.test', 'ns2.edge.test'], 0],
    ['in any order and case', ['NS2.Edge.TEST', 'ns1.edge.test'], 0],
    ['another whole set', ['ns5.edge.test', 'ns3.edge.test', 'ns4.edge.test'], 1],
  ])('is ours when it is %s', async (_, servers, index) => {
    both(referral(...servers));
    const found = servers.map((name) => name.toLowerCase()).sort();
    expect(await checkDelegation(DOMAIN, SETS, dns)).toEqual({ state: 'delegated', set: SETS[index], found });
  });

  it('compares sets as names: trailing dots and case in the settings do not matter', async () => {
    both(referral('ns1.edge.test', 'ns2.edge.test'));
    const sets = [['NS1.edge.test.', 'ns2.EDGE.test.']];
    expect(await checkDelegation(DOMAIN, sets, dns)).toMatchObject({ state: 'delegated', set: sets[0] });
  });

  it.each([
    ['names of two sets', ['ns1.edge.test', 'ns2.edge.test', 'ns3.edge.test']],
    ['part of a set', ['ns1.edge.test']],
    ['a set and one more', ['ns1.edge.test', 'ns2.edge.test', 'ns.else.test']],
    ['somebody else', ['ns.else.test']],
  ])('is not ours when it is %s', async (_, servers) => {
    both(referral(...servers));
    expect(await checkDelegation(DOMAIN, SETS, dns)).toEqual({
      state: 'other',
      set: null,
      found: [...servers].sort(),
    });
  });

  it.each<[string, Script]>([
    ['the name does not exist', () => ({ rcode: NXDOMAIN })],
    ['the name exists without a delegation', () => ({})],
    ['the name is an alias', () => ({ answers: [{ type: 'CNAME', name: DOMAIN, data: 'x.example' }] })],
  ])('is none when %s', async (_, script) => {
    both(script);
    expect(await checkDelegation(DOMAIN, SETS, dns)).toEqual({ state: 'none', set: null, found: [] });
  });

  it('asks the parent without recursion, and never believes the resolver about the domain', async () => {
    both(referral('ns.else.test'));
    const before = resolver.queries.length;
    expect((await checkDelegation(DOMAIN, SETS, dns)).state).toBe('other');
    expect(resolver.queries.slice(before).some(({ name }) => name === DOMAIN)).toBe(false);
    expect(first.queries.at(-1)).toMatchObject({ name: DOMAIN, type: 'NS', recursive: false });
  });

  it('takes the domain’s own records from a parent that serves both', async () => {
    both(() => ({ answers: ns(DOMAIN, 'ns1.edge.test', 'ns2.edge.test') }));
    expect((await checkDelegation(DOMAIN, SETS, dns)).state).toBe('delegated');
  });

  it('follows a cut between the zone the resolver knows and the domain', async () => {
    const deep = 'www.shop.example';
    both(({ name }) =>
      name === deep
        ? { authoritative: false, authorities: ns(DOMAIN, 'c.nic.example') }
        : { rcode: REFUSED, authoritative: false },
    );
    resolver.tell((query) =>
      query.name === DOMAIN && query.type === 'NS'
        ? {}
        : query.name === 'c.nic.example' && query.type === 'A'
          ? { answers: a('c.nic.example', '127.0.0.74') }
          : WORLD(query),
    );
    const third = await startDnsServer('127.0.0.74', resolver.port, () => ({
      authoritative: false,
      authorities: ns(deep, 'ns1.edge.test', 'ns2.edge.test'),
    }));
    expect((await checkDelegation(deep, SETS, dns)).state).toBe('delegated');
    await third.stop();
  });
});

describe('a world that fails', () => {
  const OURS = referral('ns1.edge.test', 'ns2.edge.test');

  it.each<[string, Script]>([
    ['silent', () => null],
    ['SERVFAIL', () => ({ rcode: SERVFAIL })],
    ['REFUSED', () => ({ rcode: REFUSED, authoritative: false })],
    ['a cache with an NXDOMAIN', () => ({ rcode: NXDOMAIN, authoritative: false })],
    ['a cache with an answer', () => ({ authoritative: false, answers: ns(DOMAIN, 'ns.else.test') })],
    ['lame: it refers upward', () => ({ authoritative: false, authorities: ns('', 'a.root.test') })],
    ['an empty answer that speaks for nobody', () => ({ authoritative: false })],
    ['octets that are no answer', () => ({ mangle: (octets) => Buffer.concat([octets.subarray(0, 12)]) })],
    [
      'an answer to another question',
      () => ({
        authorities: ns(DOMAIN, 'ns.else.test'),
        mangle: (octets) => {
          octets[13] = 'x'.charCodeAt(0);
          return octets;
        },
      }),
    ],
  ])('goes on to the next server when one is %s', async (_, script) => {
    first.tell(script);
    second.tell(OURS);
    expect((await checkDelegation(DOMAIN, SETS, dns)).state).toBe('delegated');
    both(script);
    const result = await checkDelegation(DOMAIN, SETS, dns);
    expect(result).toMatchObject({ state: 'unreachable', fault: { code: 'unanswered' } });
  });

  it('does not decide while the servers disagree', async () => {
    first.tell(OURS);
    second.tell(referral('ns.else.test'));
    const result = await checkDelegation(DOMAIN, SETS, dns);
    expect(result).toMatchObject({ state: 'unreachable', fault: { code: 'disagreement' } });
  });

  it('asks again over TCP when the answer does not fit a datagram', async () => {
    both((query) => (query.transport === 'udp' ? { truncated: true } : OURS(query)));
    expect((await checkDelegation(DOMAIN, SETS, dns)).state).toBe('delegated');
    expect(first.queries.at(-1)?.transport).toBe('tcp');
  });

  it('repeats a lost query, and omits EDNS for a server that refuses it', async () => {
    let lost = 0;
    both((query) => (lost++ === 0 ? null : query.edns ? { rcode: FORMERR } : OURS(query)));
    expect((await checkDelegation(DOMAIN, SETS, dns)).state).toBe('delegated');
  });

  it('ignores a reply with a wrong id', async () => {
    both((query) => ({
      ...OURS(query),
      mangle: (octets) => {
        octets.writeUInt16BE(octets.readUInt16BE(0) ^ 1, 0);
        return octets;
      },
    }));
    expect((await checkDelegation(DOMAIN, SETS, dns)).state).toBe('unreachable');
  });

  it('does not end in a loop of referrals', async () => {
    const loop: Script = () => ({ authoritative: false, authorities: ns('b.c.example', 'a.nic.example') });
    both(loop);
    resolver.tell((query) => (query.name.endsWith('c.example') ? { rcode: NXDOMAIN } : WORLD(query)));
    expect((await checkDelegation('a.b.c.example', SETS, dns)).state).toBe('unreachable');
  });

  it.each<[string, Script]>([
    ['silent', () => null],
    ['failing', () => ({ rcode: SERVFAIL })],
  ])('is unreachable when every resolver is %s', async (_, script) => {
    resolver.tell(script);
    both(OURS);
    const result = await checkDelegation(DOMAIN, SETS, dns);
    expect(result).toMatchObject({ state: 'unreachable', fault: { code: 'unanswered' } });
  });

  it('uses the next resolver when one is down', async () => {
    both(OURS);
    const resolvers = [`127.0.0.79:${resolver.port}`, `127.0.0.71:${resolver.port}`];
    const two = createDns({
      resolvers,
      authorityPort: resolver.port,
      privateAddresses: true,
      timeoutMs: 500,
    });
    expect((await checkDelegation(DOMAIN, SETS, two)).state).toBe('delegated');
  });

  it('sends no query to an address that is not public, unless the option allows it', async () => {
    both(OURS);
    const before = first.queries.length + second.queries.length;
    const strict = createDns({ resolvers: [`127.0.0.71:${resolver.port}`], authorityPort: resolver.port });
    expect((await checkDelegation(DOMAIN, SETS, strict)).state).toBe('unreachable');
    expect(first.queries.length + second.queries.length).toBe(before);
  });
});

describe('the TXT record of an external domain', () => {
  const { value } = newChallenge(0);
  const HOST = `_edgeplan-challenge.${DOMAIN}`;

  it('is unguessable and expires after seven days', () => {
    const made = newChallenge(1_000);
    expect(made.value).toMatch(/^edgeplan-verification=[A-Za-z0-9_-]{43}$/);
    expect(made.value).not.toBe(value);
    expect(made.expires_at - made.started_at).toBe(7 * 86_400_000);
    expect(challengeHost(DOMAIN)).toBe(HOST);
    expect(challengeHost(`${'a.'.repeat(120)}example`)).toBeNull();
  });

  it.each([
    ['alone', [txt(HOST, value)]],
    ['beside others', [txt(HOST, 'other'), txt(HOST, value)]],
    ['in several strings', [txt(HOST, value.slice(0, 20), value.slice(20, 30), value.slice(30))]],
    [
      'behind an alias',
      [[{ type: 'CNAME' as const, name: HOST, data: 'v.else.test' }], txt('v.else.test', value)],
    ],
  ])('verifies when it stands %s', async (_, answers) => {
    resolver.tell(() => ({ answers: answers.flat() }));
    expect(await checkChallenge(DOMAIN, value, dns)).toEqual({ state: 'verified' });
    expect(resolver.queries.at(-1)).toMatchObject({ name: HOST, type: 'TXT', recursive: true });
  });

  it.each([
    ['another value', [`${value}x`]],
    ['part of it', [value.slice(0, -1)]],
    ['another case', [value.toUpperCase()]],
    ['space around it', [` ${value}`]],
  ])('does not verify with %s, and says what it found', async (_, strings) => {
    resolver.tell(() => ({ answers: txt(HOST, ...strings) }));
    expect(await checkChallenge(DOMAIN, value, dns)).toEqual({ state: 'absent', found: [strings.join('')] });
  });

  it('does not take the record of another name in the answer', async () => {
    resolver.tell(() => ({ answers: txt(DOMAIN, value) }));
    expect(await checkChallenge(DOMAIN, value, dns)).toEqual({ state: 'absent', found: [] });
  });

  it('never takes an empty value for proof', async () => {
    resolver.tell(() => ({ answers: txt(HOST, '') }));
    expect((await checkChallenge(DOMAIN, '', dns)).state).toBe('absent');
  });

  it('queries every resolver before the result is absent, and distinguishes a failure from an answer', async () => {
    const fresh = await startDnsServer('127.0.0.75', resolver.port, () => ({ answers: txt(HOST, value) }));
    const resolvers = [`127.0.0.71:${resolver.port}`, `127.0.0.75:${resolver.port}`];
    const two = createDns({ resolvers, timeoutMs: 500 });
    resolver.tell(() => ({ rcode: NXDOMAIN }));
    expect((await checkChallenge(DOMAIN, value, two)).state).toBe('verified');
    fresh.tell(() => ({ rcode: SERVFAIL }));
    expect((await checkChallenge(DOMAIN, value, two)).state).toBe('absent');
    resolver.tell(() => null);
    const failed = await checkChallenge(DOMAIN, value, two);
    expect(failed).toMatchObject({ state: 'unreachable', fault: { code: 'unanswered' } });
    await fresh.stop();
  });
});

describe('resolver addresses', () => {
  it.each([
    ['192.0.2.53', { address: '192.0.2.53', port: 53 }],
    ['192.0.2.53:5353', { address: '192.0.2.53', port: 5353 }],
    ['2001:db8::53', { address: '2001:db8::53', port: 53 }],
    ['[2001:db8::53]:5353', { address: '2001:db8::53', port: 5353 }],
    ['dns.example', null],
    ['192.0.2.53:0', null],
    ['192.0.2.53:65536', null],
    ['192.0.2:53', null],
  ])('reads %s', (text, wanted) => {
    expect(parseServerAddress(text)).toEqual(wanted);
  });

  it('refuses a resolver that is no address', () => {
    expect(() => createDns({ resolvers: ['dns.example'] })).toThrow(/found `dns.example`/);
  });
});
