/**
 * Zones: what an incremental transfer costs beside a whole one, how long real name servers take from a change to its answer,
 * and how long one takes to get all zones. Needs Knot, NSD and BIND of Debian.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type QueryType, queryServer } from '../src/control/dns/message.ts';
import type { RuleSet } from '../src/rules/model/types.ts';
import { freePort, freePorts } from '../test/support/free-ports.ts';
import { type Engine, type EngineKind, missingEngine, startEngine } from '../test/support/zone-engines.ts';
import { makeInstallation } from './data/installation.ts';
import { ruleSetOf } from './data/written.ts';
import { delayRows } from './harness/delays.ts';
import { openLoad, requestOctets } from './harness/load.ts';
import { type Served, startServe } from './harness/process.ts';
import type { BenchOptions, Row } from './row.ts';

const CATALOG = 'catalog.edgeplan.invalid';
const KINDS: readonly EngineKind[] = ['knot', 'nsd', 'bind'];
/** Records of the zone whose transfers are compared. */
const RECORDS = 1_000;
/** Milliseconds between two changes, and between two queries of one answer. */
const CHANGE_EVERY_MS = 100;
const ASK_EVERY_MS = 10;

interface Sizes {
  readonly zones: number;
  readonly changes: number;
  readonly cold: number;
}

export async function run({ quick, large = false }: BenchOptions): Promise<readonly Row[]> {
  const missing = KINDS.map(missingEngine).find((reason) => reason !== null) ?? null;
  if (missing !== null) throw new Error(missing);
  const sizes: Sizes = quick
    ? { zones: 10, changes: 5, cold: 20 }
    : { zones: 1_000, changes: 1_000, cold: large ? 10_000 : 2_000 };
  return [...(await compareTransfers()), ...(await followChanges(sizes)), ...(await startCold(sizes))];
}

/** A server with zones, and what clients of it need. */
interface Primary {
  readonly served: Served;
  readonly port: number;
  readonly key: { readonly name: string; readonly secret: string };
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts a server with domains `z0.test`, `z1.test` … of so many addresses each, on free ports. */
async function startPrimary(
  { domains, records }: { readonly domains: number; readonly records: number },
  secondaries: readonly number[] = [],
): Promise<Primary> {
  const installation = await makeInstallation({
    ruleSets: Array.from({ length: domains }, (_, at) => plainRuleSet(`z${at}.test`, records)),
  });
  const key = { name: 'bench', secret: randomBytes(32).toString('base64') };
  const keys = join(installation.folder, 'keys');
  writeFileSync(keys, `hmac-sha256:${key.name}:${key.secret}\n`);
  const port = await freePort('127.0.0.1');
  const list = secondaries.map((one) => `127.0.0.1:${one}#${key.name}`).join(',');
  const served = await startServe(installation.folder, [
    ...['--zones', `127.0.0.1:${port}`, '--tsig-keys', keys, '--ns-set', 'ns1.bench.test,ns2.bench.test'],
    ...['--edge-addresses', '192.0.2.1', ...(list === '' ? [] : ['--secondaries', list])],
  ]);
  return {
    served,
    port,
    key,
    token: installation.key,
    async stop() {
      await served.stop();
      installation.remove();
    },
  };
}

/** A domain of addresses that are not proxied, `host-0`, `host-1` … */
function plainRuleSet(domain: string, count: number): RuleSet {
  const names = Array.from({ length: count }, (_, host) => `host-${host}`);
  const { records, ...rest } = ruleSetOf({ domain, records: names, rules: [] });
  return { ...rest, records: records.map((record) => ({ ...record, proxied: false })) };
}

const program = promisify(execFile);

/** A transfer by kdig: its octets, and its records without SOA and TSIG. */
async function transfer(
  { port, key }: Primary,
  question: readonly string[],
): Promise<{ readonly octets: number; readonly records: readonly string[]; readonly serial: number }> {
  const signed = ['-y', `hmac-sha256:${key.name}:${key.secret}`];
  const args = [...signed, '@127.0.0.1', '-p', String(port), ...question, '+noall', '+answer', '+stats'];
  const { stdout } = await program('kdig', args, { maxBuffer: 64 * 1_048_576 }).catch((error: unknown) => {
    // The zone is not made yet.
    if (String(error).includes('NOTAUTH')) return { stdout: '' };
    throw error;
  });
  const lines = stdout.split('\n').map((line) => line.replace(/\s+/g, ' '));
  const octets = Number(/Received (\d+) B/.exec(stdout)?.[1]);
  const serial = Number(/ SOA \S+ \S+ (\d+)/.exec(lines.join('\n'))?.[1]);
  const records = lines.filter(
    (line) => line !== '' && !line.startsWith(';') && !/ (?:SOA|TSIG) /.test(line),
  );
  return { octets, records, serial };
}

/** One record of a thousand changes: the step beside the whole zone. */
async function compareTransfers(): Promise<readonly Row[]> {
  const primary = await startPrimary({ domains: 1, records: RECORDS });
  try {
    const whole = (): ReturnType<typeof transfer> => transfer(primary, ['z0.test', 'AXFR']);
    let before = await whole();
    while (before.records.length < RECORDS) before = await whole();
    await change(primary, 'z0.test', '198.51.100.2');
    let after = await whole();
    while (after.serial === before.serial) after = await whole();
    const step = await transfer(primary, ['z0.test', `IXFR=${before.serial}`]);
    const [removed, added] = step.records;
    const applied = before.records.map((line) => (line === removed ? added! : line));
    if (JSON.stringify(applied.sort()) !== JSON.stringify([...after.records].sort()))
      throw new Error('the step does not lead to the whole zone');
    return [
      {
        name: `octets of IXFR ÷ AXFR, one of ${RECORDS} records`,
        value: step.octets / after.octets,
        goal: { atMost: 0.05 },
        unit: '×',
        note: `${step.octets} and ${after.octets} octets, signed`,
      },
    ];
  } finally {
    await primary.stop();
  }
}

/** Gives the first record of a domain another address. */
async function change({ served, token }: Primary, domain: string, destination: string): Promise<void> {
  const load = await openLoad({ port: served.port, connections: 1, sleepless: false });
  const listed = await load.ask(requestOctets({ method: 'GET', path: `/domains/${domain}/records/`, token }));
  const [record] = JSON.parse(listed.body) as readonly { readonly id: number }[];
  const path = `/domains/${domain}/records/${record!.id}`;
  await load.ask(requestOctets({ method: 'PUT', path, token, body: { destination } }));
  load.close();
}

/** Whether a server answers a name with an address. */
async function answers(
  { address, port }: { readonly address: string; readonly port: number },
  question: { readonly name: string; readonly type: QueryType },
  data: string | null,
): Promise<boolean> {
  try {
    const reply = await queryServer({ address, port }, question, { recursive: false, timeoutMs: 2_000 });
    return reply.answers.some((answer) => data === null || answer.data === data);
  } catch {
    // Lost under load, or the server has not started: asked again.
    return false;
  }
}

async function untilAnswered(
  engine: Engine,
  question: { readonly name: string; readonly type: QueryType },
  data: string | null,
): Promise<number> {
  while (!(await answers(engine, question, data)))
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  return performance.now();
}

/** Changes of one record each, ten a second, among many zones. */
async function followChanges({ zones, changes }: Sizes): Promise<readonly Row[]> {
  const first = await freePorts(KINDS.length);
  const ports = KINDS.map((_, index) => first + index);
  const primary = await startPrimary({ domains: zones, records: 5 }, ports);
  const engines: Engine[] = [];
  try {
    for (const [at, kind] of KINDS.entries()) {
      const place = { address: '127.0.0.1', port: primary.port };
      engines.push(
        await startEngine(kind, { ...primary, primary: place, catalog: CATALOG, port: ports[at]! }),
      );
    }
    for (const engine of engines) {
      for (let at = 0; at < zones; at++)
        await untilAnswered(engine, { name: `z${at}.test`, type: 'SOA' }, null);
    }
    const delays = new Map<EngineKind, number[]>(KINDS.map((kind) => [kind, []]));
    const open = new Set<Promise<void>>();
    for (let number = 0; number < changes; number++) {
      const domain = `z${(number * 7) % zones}.test`;
      const destination = `198.18.${number >> 8}.${number & 255}`;
      await change(primary, domain, destination);
      const changed = performance.now();
      for (const engine of engines) {
        const arrival = untilAnswered(engine, { name: `host-0.${domain}`, type: 'A' }, destination).then(
          (at) => void delays.get(engine.kind)!.push(at - changed),
        );
        open.add(arrival);
        void arrival.finally(() => open.delete(arrival));
      }
      await new Promise((resolve) => setTimeout(resolve, CHANGE_EVERY_MS));
    }
    await Promise.all(open);
    return KINDS.flatMap((kind) =>
      delayRows(delays.get(kind)!, {
        note: `${delays.get(kind)!.length} changes among ${zones} zones, from the answer of the API`,
        shares: [
          { name: `change to answer of ${kind}, median`, share: 0.5 },
          { name: `change to answer of ${kind}, 99th percentile`, share: 0.99, goal: { atMost: 1_000 } },
        ],
      }),
    );
  } finally {
    for (const engine of engines) await engine.stop();
    await primary.stop();
  }
}

/** A name server that starts with nothing. */
async function startCold({ cold }: Sizes): Promise<readonly Row[]> {
  const port = await freePort('127.0.0.1');
  const primary = await startPrimary({ domains: cold, records: 5 }, [port]);
  const engines: Engine[] = [];
  try {
    const settled = { waiting: cold };
    while (settled.waiting > 0) {
      const { records } = await transfer(primary, [CATALOG, 'AXFR']);
      settled.waiting = cold - records.filter((line) => line.includes(' PTR ')).length;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const begun = performance.now();
    const place = { address: '127.0.0.1', port: primary.port };
    const engine = await startEngine('knot', {
      ...{ ...primary, primary: place, catalog: CATALOG, port, dnssec: false },
    });
    engines.push(engine);
    for (let at = 0; at < cold; at++) await untilAnswered(engine, { name: `z${at}.test`, type: 'SOA' }, null);
    const seconds = (performance.now() - begun) / 1_000;
    return [
      {
        name: `cold start of Knot with ${cold} zones`,
        value: seconds,
        goal: null,
        unit: 's',
        note: 'from its start to the SOA of each zone; five addresses a zone, not signed',
      },
    ];
  } finally {
    for (const engine of engines) await engine.stop();
    await primary.stop();
  }
}
