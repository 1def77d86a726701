/** `edgeplan serve --zones` with the name servers of `fixtures/zones`: what they answer, and when. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { freePorts } from '../support/free-ports.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { until } from '../support/until.ts';
import { ENGINES, type Engine, FIXTURES, missingEngine, startEngine } from '../support/zone-engines.ts';
import { CATALOG, servedSerial, serveZones, transferred, type ZonesServed } from '../support/zones-served.ts';

/** More than the lines that fill the socket between nsd-control and NSD. */
const MANY = 320;

const RECORDS = [
  { name: '@', type: 'A', destination: '198.51.100.7', proxied: true },
  { name: '@', type: 'MX', destination: 'mail.shop.test', mx_priority: 10 },
  { name: '@', type: 'TXT', destination: '"v=spf1 -all"' },
  { name: '@', type: 'TXT', destination: `"${'a'.repeat(200)}" "${'b'.repeat(200)}"` },
  { name: '@', type: 'CAA', destination: '0 issue "ca.example"' },
  { name: 'mail', type: 'A', destination: '198.51.100.25', proxied: false },
  { name: 'mail', type: 'A', destination: '198.51.100.26', proxied: false },
  { name: 'mail', type: 'AAAA', destination: '2001:db8::25', proxied: false },
  { name: 'www', type: 'CNAME', destination: 'shop.test', proxied: false },
  { name: '*.wild', type: 'A', destination: '198.51.100.8', proxied: false },
  { name: '_sip._tcp', type: 'SRV', destination: '1 2 5060 mail.shop.test' },
  { name: '_25._tcp.mail', type: 'TLSA', destination: `3 1 1 ${'ab'.repeat(32)}` },
  { name: 'h', type: 'HTTPS', destination: '1 . alpn=h2,h3 ipv4hint=198.51.100.7' },
  { name: 'sub', type: 'NS', destination: 'ns1.example.net' },
  { name: 'last', type: 'A', destination: '198.51.100.9', proxied: false },
];

const absent = new Map(ENGINES.map((kind) => [kind, missingEngine(kind)]));
const present = ENGINES.filter((kind) => absent.get(kind) === null);
const skipped = [...absent.values()].find((reason) => reason !== null) ?? null;

describe('secondaries of edgeplan', requires(skipped), () => {
  const engines: Engine[] = [];
  const later: Engine[] = [];
  let served: ZonesServed;

  beforeAll(async () => {
    await builtCli();
    const first = await freePorts(present.length);
    const ports = present.map((_, index) => first + index);
    served = await serveZones({
      secondaries: ports.map((port) => `127.0.0.1:${port}`),
      args: ['--requests-per-minute', '1000000', '--allow-private-names'],
    });
    const starting = present.map((kind, at) => startEngine(kind, { ...engineOptions(), port: ports[at]! }));
    engines.push(...(await Promise.all(starting)));
  });
  afterAll(async () => {
    await Promise.all([...engines, ...later].map((engine) => engine.stop()));
    await served?.stop();
  });

  const engineOptions = () => ({ primary: served.zones, key: served.zoneKey, catalog: CATALOG });

  /** Waits for an engine; what it has logged by then is in the error. */
  async function waits(engine: Engine, what: string, holds: () => Promise<boolean>): Promise<void> {
    try {
      await until(holds, what);
    } catch (cause) {
      throw new Error(`${engine.kind}: ${what}\n${engine.log}`, { cause });
    }
  }

  const everywhere = (what: string, holds: (engine: Engine) => Promise<boolean>): Promise<unknown> =>
    Promise.all(engines.map((engine) => waits(engine, what, () => holds(engine))));

  async function addRecord(zone: string, record: object): Promise<{ readonly id: number }> {
    const answer = await served.call('POST', `/domains/${zone}/records/`, record);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  }

  /**
   * Waits until all engines answer a name with an address. Serials are not compared: a Knot that signs counts its own
   * versions, and falls behind edgeplan's serial where it transfers several versions at once.
   */
  const answers = (name: string, address: string): Promise<unknown> =>
    everywhere(`${name} is ${address}`, async (engine) => {
      const { answer } = await engine.query(name, 'A');
      return answer.length === 1 && answer[0]!.endsWith(` ${address}`);
    });

  /** Every record set of a transfer, and each engine's answer to a query for it. */
  async function compare(zone: string, engine: Engine): Promise<void> {
    const sets = new Map<string, string[]>();
    for (const line of await transferred(served, zone)) {
      const set = line.replace(/^(\S+) \d+ (\S+) .*/, '$1 $2');
      sets.set(set, [...(sets.get(set) ?? []), line]);
    }
    // Referred to its servers.
    sets.delete(`sub.${zone}. NS`);
    expect(sets.size).toBeGreaterThan(1);
    for (const [set, lines] of sets) {
      const [name, type] = set.split(' ');
      const { status, flags, answer } = await engine.query(name!, type!);
      expect({ engine: engine.kind, set, status, authoritative: flags.includes('aa'), answer }).toEqual({
        ...{ engine: engine.kind, set, status: 'NOERROR', authoritative: true },
        answer: lines,
      });
    }
  }

  test('every engine answers every record set of a new domain as edgeplan has it', async () => {
    await served.domain('shop.test');
    for (const record of RECORDS) await addRecord('shop.test', record);
    await answers('last.shop.test', '198.51.100.9');
    for (const engine of engines) await compare('shop.test', engine);
  });

  test.for([
    ['absent.shop.test', 'A', 'NXDOMAIN'],
    ['mail.shop.test', 'TXT', 'NOERROR'],
    ['a.b.wild.shop.test', 'AAAA', 'NOERROR'],
    ['host.sub.shop.test', 'A', 'NOERROR'],
    ['elsewhere.test', 'A', 'REFUSED'],
  ] as const)('every engine answers %s %s with %s and no records', async ([name, type, status]) => {
    for (const engine of engines) {
      const reply = await engine.query(name, type);
      expect({ engine: engine.kind, status: reply.status, answer: reply.answer }).toEqual({
        ...{ engine: engine.kind, status, answer: [] },
      });
    }
  });

  test('a changed record reaches every engine by NOTIFY, in an incremental transfer', async () => {
    await served.domain('steps.test');
    for (let at = 0; at < 20; at++) await addRecord('steps.test', { ...RECORDS[5], name: `n${at}` });
    const { id } = await addRecord('steps.test', { ...RECORDS[5], name: 'www' });
    await answers('www.steps.test', '198.51.100.25');
    const before = await served.metric('edgeplan_zone_answers_total{kind="ixfr"}');
    await served.call('PUT', `/domains/steps.test/records/${id}`, { destination: '198.51.100.99' });
    await answers('www.steps.test', '198.51.100.99');
    const after = await served.metric('edgeplan_zone_answers_total{kind="ixfr"}');
    // PowerDNS transfers whole zones, and others do where a transfer is under way.
    expect(after).toBeGreaterThan(before);
  });

  test('a deleted domain is refused by every engine, and answered anew once it is added again', async () => {
    await served.domain('back.test');
    await addRecord('back.test', { ...RECORDS[5], name: 'www' });
    await answers('www.back.test', '198.51.100.25');
    await served.call('DELETE', '/domains/back.test');
    await everywhere('back.test refused', async (engine) => {
      return (await engine.query('www.back.test', 'A')).status === 'REFUSED';
    });
    await served.domain('back.test');
    await addRecord('back.test', { ...RECORDS[6], name: 'www' });
    await answers('www.back.test', '198.51.100.26');
  });

  test('zones check finds the record sets of all engines the same', async () => {
    const { body } = await served.call('GET', '/domains/shop.test/zone/check');
    const found = body.secondaries.map(({ different, fault }: Record<string, unknown>) => ({
      different,
      fault,
    }));
    expect(found).toEqual(engines.map(() => ({ different: 0, fault: null })));
  });

  test(
    "Knot's answers validate by the DS that the API has for the parent",
    requires(missingProgram('delv', 'bind9-dnsutils')),
    async () => {
      const knot = engines.find(({ kind }) => kind === 'knot')!;
      const { body } = await served.call('GET', '/domains/shop.test/dnssec');
      expect(body).toMatchObject({ ds: [{ algorithm: 13, digest_type: 2 }] });
      const [{ key_tag, algorithm, digest_type, digest }] = body.ds;
      const anchors = join(knot.folder, 'anchors');
      writeFileSync(
        anchors,
        `trust-anchors { "shop.test" static-ds ${key_tag} ${algorithm} ${digest_type} "${digest}"; };\n`,
      );
      for (const [name, type] of [
        ['shop.test', 'SOA'],
        ['shop.test', 'A'],
        ['www.shop.test', 'A'],
        ['a.wild.shop.test', 'A'],
        ['mail.shop.test', 'TXT'],
        ['absent.shop.test', 'A'],
      ] as const) {
        const server = [`@${knot.address}`, '-p', String(knot.port)];
        const args = [...server, '-a', anchors, '+root=shop.test', name, type];
        const verdict = execFileSync('delv', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
        expect(verdict, `${name} ${type}`).toMatch(/^; (negative response, )?fully validated$/m);
      }
    },
  );

  test('Knot without signing answers as the others', async () => {
    const plain = await startEngine('knot', { ...engineOptions(), dnssec: false });
    later.push(plain);
    const serial = await servedSerial(served, 'shop.test');
    await waits(plain, 'shop.test up to date', async () => (await plain.serial('shop.test')) === serial);
    await compare('shop.test', plain);
    expect((await plain.query('shop.test', 'CDS')).answer).toEqual([]);
  });

  test(`${MANY} domains at once reach an NSD that begins after them`, async () => {
    const names = Array.from({ length: MANY }, (_, at) => `many-${at}.test`);
    const inTurn = async (run: (name: string) => Promise<unknown>): Promise<void> => {
      for (let at = 0; at < MANY; at += 8) await Promise.all(names.slice(at, at + 8).map(run));
    };
    await inTurn((name) => served.call('POST', '/domains/', { name }));
    // All of them: this NSD gets no NOTIFY of a later catalog.
    const listed = async (): Promise<number> =>
      (await transferred(served, CATALOG)).filter((line) => line.includes(' PTR many-')).length;
    await until(async () => (await listed()) === MANY, 'the catalog');
    const nsd = await startEngine('nsd', engineOptions());
    later.push(nsd);
    await inTurn((name) => waits(nsd, name, async () => (await nsd.serial(name)) !== null));
  });

  test('an engine that was killed answers the same after its restart, without edgeplan', async () => {
    // NSD writes its zone files every ten seconds.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    await served.stop();
    for (const engine of engines) {
      const before = await engine.query('mail.shop.test', 'A');
      expect(before.answer).toHaveLength(2);
      await engine.kill9();
      await engine.restart();
      await waits(
        engine,
        'shop.test answered',
        async () => (await engine.query('mail.shop.test', 'A')).status === 'NOERROR',
      );
      expect(await engine.query('mail.shop.test', 'A')).toEqual(before);
    }
  });
});

describe('fixtures/zones/start', requires(skipped), () => {
  test('starts engines and a server, and leaves nothing at its end', async () => {
    await builtCli();
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-start-'));
    // The server's, and those of the engines, which follow it.
    const port = await freePorts(1 + ENGINES.length);
    const server = [process.execPath, join(FIXTURES, '../../dist/cli/main.js'), 'serve'];
    const options = ['--port', '0', '--ops-port', '0', '--data', join(folder, 'data')];
    const zones = ['--ns-set', 'ns1.edge.test,ns2.edge.test', '--edge-addresses', '192.0.2.1'];
    const child = spawn(join(FIXTURES, 'start'), [...present, '--', ...server, ...options, ...zones], {
      env: { ...process.env, TMPDIR: folder, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    const ended = new Promise((resolve) => child.once('close', (code) => resolve(code)));
    try {
      await until(() => said.includes('Ctrl-C ends all of it') || child.exitCode !== null, 'the engines');
      for (const kind of present) expect(said).toMatch(new RegExp(`^  ${kind}: kdig @127`, 'm'));
    } finally {
      child.kill('SIGINT');
    }
    // `close`: no process has the pipes any more.
    expect({ code: await ended, said }).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(['data']);
    rmSync(folder, { recursive: true, force: true });
  });

  test('an engine of another name is refused with the known ones', () => {
    const run = (): string =>
      execFileSync(join(FIXTURES, 'start'), ['unbound'], { stdio: 'pipe' }).toString();
    expect(run).toThrow(/unknown engine `unbound`; known are knot, nsd, bind and powerdns/);
  });
});

test('shellcheck finds nothing in the scripts', requires(missingProgram('shellcheck')), () => {
  const scripts = ['start', 'engine', 'nsd-catalog'].map((name) => join(FIXTURES, name));
  expect(scripts.every(existsSync)).toBe(true);
  expect(() => execFileSync('shellcheck', scripts, { stdio: 'pipe' })).not.toThrow();
});
