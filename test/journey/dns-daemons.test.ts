import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryServer } from '../../src/control/dns/message.ts';
import { createDns, type Dns } from '../../src/control/dns/resolver.ts';
import { parseZone } from '../../src/control/dns/zone-file/parse.ts';
import { printZone } from '../../src/control/dns/zone-file/print.ts';
import { checkDelegation } from '../../src/control/domains/check-delegation.ts';
import { scanRecords } from '../../src/control/domains/scan-records.ts';
import { type Daemon, missingDaemons, startKnot, startNsd } from '../support/dns-daemons.ts';
import { a, fromTable, ns, type ScriptedServer, startDnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/free-ports.ts';
import { requires } from '../support/requires.ts';

const DOMAIN = 'shop.example';
const SETS = [['ns1.edge.test', 'ns2.edge.test']];
const REGISTRY = `@ NS a.nic
@ NS b.nic
a.nic A 127.0.0.81
b.nic A 127.0.0.82
`;

/** What the shop has where it is now: every type, a wildcard, an alias, a delegation, a record nobody would guess. */
const SHOP = `@ NS ns.old
ns.old A 127.0.0.83
@ A 192.0.2.1
@ AAAA 2001:db8::1
@ MX 10 mail
@ MX 20 backup.else.test.
@ TXT "v=spf1 include:_spf.else.test -all"
@ TXT "${'k'.repeat(255)}" "${'l'.repeat(60)}"
@ CAA 0 issue "letsencrypt.org"
www CNAME @
mail A 192.0.2.2
* A 192.0.2.9
api A 192.0.2.9
blog NS ns1.blog.test.
blog NS ns2.blog.test.
_dmarc TXT "v=DMARC1; p=none"
_sip._tls SRV 100 1 443 sip.else.test.
_443._tcp TLSA 3 1 1 ${'ab'.repeat(32)}
zx81 A 192.0.2.81
`;

// Skipped only where the Debian packages are missing; the reason is printed above.
describe('real DNS servers', requires(missingDaemons()), () => {
  let registry: Daemon;
  let host: Daemon;
  let resolver: ScriptedServer;
  let dns: Dns;

  beforeAll(async () => {
    const port = await freePort('127.0.0.81');
    const addresses = ['127.0.0.81', '127.0.0.82'];
    registry = await startNsd({ addresses, port, origin: 'example', zone: REGISTRY });
    host = await startKnot({ addresses: ['127.0.0.83'], port, origin: DOMAIN, zone: SHOP });
    const world = fromTable({
      'example NS': ns('example', 'a.nic.example', 'b.nic.example'),
      'a.nic.example A': a('a.nic.example', '127.0.0.81'),
      'b.nic.example A': a('b.nic.example', '127.0.0.82'),
      'shop.example NS': ns(DOMAIN, 'ns.old.shop.example'),
      'ns.old.shop.example A': a('ns.old.shop.example', '127.0.0.83'),
    });
    resolver = await startDnsServer('127.0.0.80', 0, world);
    dns = createDns({
      resolvers: [`127.0.0.80:${resolver.port}`],
      authorityPort: port,
      privateAddresses: true,
      timeoutMs: 500,
    });
  });
  afterAll(async () => {
    await resolver?.stop();
    await host?.stop();
  });

  it('find a domain’s records where it is served now', async () => {
    const { records, complete, fault, questions } = await scanRecords(DOMAIN, dns);
    expect(fault).toBeNull();
    expect(complete).toBe(true);
    expect(questions).toBeLessThan(600);
    const lines = records.map(({ name, type, destination, mx_priority, proxied }) =>
      [name, type, mx_priority, destination, proxied ? 'proxied' : null]
        .filter((part) => part !== null)
        .join(' '),
    );
    expect(lines.sort()).toEqual(
      [
        '@ A 192.0.2.1 proxied',
        '@ AAAA 2001:db8::1 proxied',
        '@ MX 10 mail.shop.example',
        '@ MX 20 backup.else.test',
        '@ TXT v=spf1 include:_spf.else.test -all',
        `@ TXT ${'k'.repeat(255)}${'l'.repeat(60)}`,
        '@ CAA 0 issue "letsencrypt.org"',
        'www CNAME shop.example proxied',
        'mail A 192.0.2.2',
        '* A 192.0.2.9',
        'blog NS ns1.blog.test',
        'blog NS ns2.blog.test',
        '_dmarc TXT v=DMARC1; p=none',
        '_sip._tls SRV 100 1 443 sip.else.test',
        `_443._tcp TLSA 3 1 1 ${'ab'.repeat(32)}`,
      ].sort(),
    );
  });

  it('serve a zone we printed, with every type in it', async () => {
    const text = `${SHOP}
svc SVCB 1 target.else.test. alpn=h2 port=8443
@ HTTPS 1 . alpn="h2,h3" ipv4hint=192.0.2.1 key700="a b\\;c"
quote TXT "say \\"hi\\" \\\\ \\200"
`;
    const { records, diagnostics } = parseZone(text, DOMAIN);
    expect(diagnostics.map(({ code }) => code)).toEqual(['apex_ns_skipped']);
    const port = await freePort('127.0.0.84');
    const printed = printZone(DOMAIN, records, { nameservers: ['ns.old.shop.example'] });
    const body = printed.split('\n').filter((line) => !/^\$| SOA /.test(line));
    const copy = await startNsd({ addresses: ['127.0.0.84'], port, origin: DOMAIN, zone: body.join('\n') });
    const questions = [
      { name: DOMAIN, type: 'TXT' },
      { name: `quote.${DOMAIN}`, type: 'TXT' },
      { name: `_443._tcp.${DOMAIN}`, type: 'TLSA' },
      { name: DOMAIN, type: 'HTTPS' },
      { name: `svc.${DOMAIN}`, type: 'SVCB' },
      { name: DOMAIN, type: 'CAA' },
    ] as const;
    await host.load(text, 2);
    for (const question of questions) {
      const options = { recursive: false, timeoutMs: 500 };
      const ours = await queryServer({ address: '127.0.0.84', port }, question, options);
      const theirs = await dns.askAuthority((await dns.addresses('ns.old.shop.example'))[0]!, question);
      const data = ({ answers }: typeof ours): readonly string[] =>
        answers.map((x) => JSON.stringify(x.data)).sort();
      expect(data(ours)).toEqual(data(theirs));
      expect(ours.answers.length).toBeGreaterThan(0);
    }
    await copy.stop();
  });

  it('show a delegation come, change and go, and never a move when they are down', async () => {
    const state = async (): Promise<string> => (await checkDelegation(DOMAIN, SETS, dns)).state;
    expect(await state()).toBe('none');
    await registry.load(`${REGISTRY}shop NS NS2.edge.test.\nshop NS ns1.edge.test.\n`, 2);
    expect(await checkDelegation(DOMAIN, SETS, dns)).toEqual({
      state: 'delegated',
      set: SETS[0],
      found: ['ns1.edge.test', 'ns2.edge.test'],
    });
    await registry.load(
      `${REGISTRY}shop NS ns1.edge.test.\nshop NS ns.old.shop\nns.old.shop A 127.0.0.83\n`,
      3,
    );
    expect(await checkDelegation(DOMAIN, SETS, dns)).toMatchObject({
      state: 'other',
      found: ['ns.old.shop.example', 'ns1.edge.test'],
    });
    const many = Array.from(
      { length: 12 },
      (_, index) => `shop NS ${'n'.repeat(60)}.${'o'.repeat(60)}.x${index}.test.`,
    );
    await registry.load(`${REGISTRY}${many.join('\n')}\n`, 4);
    expect((await checkDelegation(DOMAIN, SETS, dns)).found).toHaveLength(12);
    await registry.load(REGISTRY, 5);
    expect(await state()).toBe('none');
    await registry.stop();
    expect(await state()).toBe('unreachable');
  });
});
