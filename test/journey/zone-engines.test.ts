/** The name servers of `fixtures/zones` as secondaries: what they answer, when it changes, and when it is removed. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/dns-daemons.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { until } from '../support/until.ts';
import { ENGINES, type Engine, missingEngine, startEngine } from '../support/zone-engines.ts';
import { startZonePrimary, type ZonePrimary } from '../support/zone-primary.ts';

const RECORDS = `@ NS ns1.example.net.
@ NS ns2.example.net.
@ A 192.0.2.1
@ AAAA 2001:db8::1
@ MX 10 mail
@ TXT "v=spf1 -all" "and more"
@ CAA 0 issue "ca.example.net"
mail A 192.0.2.25
www CNAME @
*.wild A 192.0.2.7
_sip._tcp SRV 1 2 5060 mail
sub NS ns.sub
ns.sub A 192.0.2.53`;

const QUESTIONS = [
  ['', 'SOA'],
  ['', 'NS'],
  ['', 'A'],
  ['', 'AAAA'],
  ['', 'MX'],
  ['', 'TXT'],
  ['', 'CAA'],
  ['mail.', 'A'],
  ['mail.', 'AAAA'],
  ['www.', 'A'],
  ['www.', 'CNAME'],
  ['a.b.wild.', 'A'],
  ['_sip._tcp.', 'SRV'],
  ['absent.', 'A'],
  ['host.sub.', 'A'],
] as const;

const absent = Object.fromEntries(ENGINES.map((kind) => [kind, missingEngine(kind)]));

describe('engines of fixtures/zones', requires(absent['knot']!), () => {
  const zones = ['shop.example', 'blog.example', 'left.example'] as const;
  const engines: Engine[] = [];
  let primary: ZonePrimary;

  beforeAll(async () => {
    const kinds = ENGINES.filter((kind) => absent[kind] === null);
    const ports = await Promise.all(kinds.map(() => freePort('127.0.0.1')));
    primary = await startZonePrimary(zones, ports);
    const started = kinds.map((kind, at) => startEngine(kind, { ...primary, primary, port: ports[at]! }));
    engines.push(...(await Promise.all(started)));
  });
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.stop()));
  });

  /** Waits for an engine; what it has logged by then is in the error. */
  const waits = async (engine: Engine, what: string, holds: () => Promise<boolean>): Promise<void> => {
    try {
      await until(holds, what);
    } catch (cause) {
      throw new Error(`${engine.kind}: ${what}\n${engine.log}`, { cause });
    }
  };
  const served = (zone: string, serial: number): Promise<unknown> =>
    Promise.all(
      engines.map((engine) =>
        waits(engine, `${zone} with serial ${serial}`, async () => (await engine.serial(zone)) === serial),
      ),
    );

  test('all engines answer a new domain alike, rrset by rrset', async () => {
    await served('shop.example', await primary.put('shop.example', RECORDS));
    for (const [label, type] of QUESTIONS) {
      const replies = await Promise.all(
        engines.map(
          async (engine) => [engine.kind, await engine.query(`${label}shop.example`, type)] as const,
        ),
      );
      for (const [kind, { status, answer }] of replies) {
        const [, first] = replies[0]!;
        expect(['NOERROR', 'NXDOMAIN']).toContain(first.status);
        expect({ kind, label, type, status, answer }).toEqual({
          ...{ kind, label, type },
          ...{ status: first.status, answer: first.answer },
        });
      }
    }
  });

  test('a changed record is answered by all engines after its NOTIFY', async () => {
    await served('blog.example', await primary.put('blog.example', RECORDS));
    const changed = RECORDS.replace('192.0.2.25', '192.0.2.26');
    await served('blog.example', await primary.put('blog.example', changed));
    for (const engine of engines) {
      const { answer } = await engine.query('mail.blog.example', 'A');
      expect(answer, engine.kind).toEqual(['mail.blog.example. 300 IN A 192.0.2.26']);
    }
    const incremental = primary.log.match(/\[blog\.example\.\] IXFR, outgoing.* finished/g);
    // PowerDNS transfers whole zones.
    expect(incremental).toHaveLength(engines.filter(({ kind }) => kind !== 'powerdns').length);
  });

  test('no engine answers for a domain that has left the catalog', async () => {
    await served('left.example', await primary.put('left.example', RECORDS));
    primary.remove('left.example');
    for (const engine of engines) {
      const refused = async (): Promise<boolean> =>
        (await engine.query('left.example', 'A')).status === 'REFUSED';
      await waits(engine, 'left.example refused', refused);
    }
  });

  test(
    "Knot's answers validate by the DS that its CDS record has",
    requires(missingProgram('delv', 'bind9-dnsutils')),
    async () => {
      const knot = engines.find(({ kind }) => kind === 'knot')!;
      await served('shop.example', await primary.put('shop.example', RECORDS));
      const cds = await until(
        async () => (await knot.query('shop.example', 'CDS')).answer[0],
        `CDS of shop.example: ${knot.log}`,
      );
      const [, , , , tag, algorithm, digest, ...hex] = cds.split(' ');
      const anchors = join(knot.folder, 'anchors');
      writeFileSync(
        anchors,
        `trust-anchors { "shop.example" static-ds ${tag} ${algorithm} ${digest} "${hex.join('')}"; };\n`,
      );
      const delv = (name: string, type: string): string =>
        execFileSync(
          'delv',
          [`@${knot.address}`, '-p', String(knot.port), '-a', anchors, '+root=shop.example', name, type],
          { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
        );
      for (const [label, type] of QUESTIONS.filter(([name]) => name !== 'host.sub.')) {
        const name = `${label}shop.example`;
        const verdict = delv(name, type);
        expect(verdict, `${name} ${type}`).toMatch(
          /^; (fully validated|negative response, fully validated)/m,
        );
      }
    },
  );

  test('an engine that was killed answers the same after its restart, the primary being down', async () => {
    await served('shop.example', await primary.put('shop.example', RECORDS));
    // NSD writes its zone files every ten seconds.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    await primary.stop();
    for (const engine of engines) {
      const before = await engine.query('mail.shop.example', 'A');
      await engine.kill9();
      await engine.restart();
      const answers = async (): Promise<boolean> =>
        (await engine.query('mail.shop.example', 'A')).status === 'NOERROR';
      await waits(engine, 'shop.example answered', answers);
      expect(await engine.query('mail.shop.example', 'A')).toEqual(before);
    }
  });
});
