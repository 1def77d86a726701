/**
 * Traffic of 10,000 customers at the control plane, on both databases: how long a minute of reports takes to accept and to
 * roll up, how large the store is after a week, and how long analytics take to read.
 */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openDatabase } from '../src/base/storage/sqlite.ts';
import { openStore } from '../src/control/store/database/open.ts';
import type { Store } from '../src/control/store/store.ts';
import type { NodeRow } from '../src/control/store/tables/nodes.ts';
import { TRAFFIC_SUMS } from '../src/control/store/tables/traffic.ts';
import { DAY, HOUR, MINUTE_MS, SLICES } from '../src/control/traffic/limits.ts';
import { createRollUp } from '../src/control/traffic/roll-up.ts';
import { takeBatch } from '../src/control/traffic/take-batch.ts';
import { createTrafficThread, type TrafficThread } from '../src/control/traffic/thread.ts';
import { BATCH_OCTETS, MAX_BATCH_DOMAINS } from '../src/edge/following/limits.ts';
import { sealBatch, type TrafficBatchEntry } from '../src/engine/counts/layout.ts';
import { asAdmin, POSTGRES } from '../test/support/postgres.ts';
import { type Installation, makeInstallation, type Placed } from './data/installation.ts';
import { smallDomain } from './data/small-domains.ts';
import { trafficMinutes } from './data/traffic.ts';
import { openLoad, requestOctets } from './harness/load.ts';
import { startServe } from './harness/process.ts';
import { median } from './harness/race.ts';
import { timed } from './harness/timed.ts';
import type { BenchOptions, Row } from './row.ts';

/** Customers, and those of them whose week is stored; minutes that all of them report; requests for analytics. */
const FULL = { domains: 10_000, weekly: 1_000, minutes: 10, reads: 600 } as const;
const QUICK = { domains: 40, weekly: 20, minutes: 10, reads: 20 } as const;
type Size = typeof FULL | typeof QUICK;

const WEEK_HOURS = 7 * 24;
/** Hours for which minutes are stored. */
const MINUTE_HOURS = 48;
const MIB = 2 ** 20;

export async function run({ quick }: BenchOptions): Promise<readonly Row[]> {
  const size = quick ? QUICK : FULL;
  const rows = [...(await runOn(await sqlitePlace(), size))];
  const postgres = await postgresPlace();
  if (postgres !== null) rows.push(...(await runOn(postgres, size)));
  return rows;
}

/** A database of the bench's own. */
interface Place {
  readonly name: string;
  /** The address of an empty PostgreSQL database; `null`: the embedded store. */
  readonly address: string | null;
  /** Runs one statement beside the store. */
  statement(sql: string, installation: Installation): Promise<void>;
  /** Octets of all tables without free pages. */
  octets(installation: Installation): Promise<number>;
  drop(): Promise<void>;
}

async function sqlitePlace(): Promise<Place> {
  const fileOf = ({ folder }: Installation): string => join(folder, 'edgeplan.db');
  const statement: Place['statement'] = async (sql, installation) => {
    const database = openDatabase(fileOf(installation));
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  };
  return {
    name: 'SQLite',
    address: null,
    statement,
    async octets(installation) {
      await statement('VACUUM', installation);
      await statement('PRAGMA wal_checkpoint(TRUNCATE)', installation);
      return statSync(fileOf(installation)).size;
    },
    drop: async () => undefined,
  };
}

/** `null`: no PostgreSQL answers here, which a note on stderr reports. */
async function postgresPlace(): Promise<Place | null> {
  const name = `edgeplan_bench_${randomBytes(6).toString('hex')}`;
  try {
    await asAdmin(`CREATE DATABASE ${name}`);
  } catch (error) {
    console.error(`traffic: no PostgreSQL at ${POSTGRES}: ${error instanceof Error ? error.message : error}`);
    return null;
  }
  const url = new URL(POSTGRES);
  url.pathname = `/${name}`;
  const address = url.href;
  return {
    name: 'PostgreSQL',
    address,
    async statement(sql) {
      await asAdmin(sql, address);
    },
    async octets() {
      await asAdmin('VACUUM FULL', address);
      const { rows } = await asAdmin('SELECT pg_database_size(current_database())::float8 AS size', address);
      return (rows[0] as { readonly size: number }).size;
    },
    async drop() {
      await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** One run of the group: a store with customers, and what each of their minutes was. */
interface Subject {
  readonly place: Place;
  readonly size: Size;
  readonly installation: Installation;
  readonly store: Store;
  readonly thread: TrafficThread;
  readonly nodes: readonly NodeRow[];
  /** The first minute that is reported, the start of an hour, in minutes since the epoch. */
  readonly start: number;
  readonly minuteOf: ReturnType<typeof trafficMinutes>;
}

async function runOn(place: Place, size: Size): Promise<readonly Row[]> {
  const bare = { records: [], rules: [] };
  const ruleSets = Array.from({ length: size.domains }, (_, at) => {
    const { ruleSet } = smallDomain(at);
    return at < size.weekly ? ruleSet : { ...ruleSet, ...bare };
  });
  const database = place.address === null ? {} : { database: place.address };
  const installation = await makeInstallation({ ruleSets, nodes: 4, ...database });
  try {
    // Nothing is compiled here: the publication of 10,000 domains is another bench.
    await place.statement('DELETE FROM outbox', installation);
    const store = await openStore({ database: place.address ?? installation.folder });
    const file = new URL('../control/traffic/thread-code.js', import.meta.url);
    const thread = createTrafficThread({ store, file });
    const hour = Math.floor(Date.now() / MINUTE_MS / HOUR) - 2;
    const subject: Subject = {
      ...{ place, size, installation, store, thread },
      nodes: await store.latest.nodes.list(),
      start: hour * HOUR,
      minuteOf: trafficMinutes(),
    };
    const rows = [...(await takeAndRollUp(subject)), ...(await storeWeek(subject))];
    await thread.close();
    await store.close();
    return [...rows, ...(await readAnalytics(subject))];
  } finally {
    installation.remove();
    await place.drop();
  }
}

/** Reports the minutes of some domains in batches as nodes make them; returns milliseconds and octets of each. */
async function report(
  { installation, store, thread, nodes, start, minuteOf }: Subject,
  { domains, from, to }: { readonly domains: number; readonly from: number; readonly to: number },
): Promise<readonly { readonly ms: number; readonly octets: number }[]> {
  const taken: { readonly ms: number; readonly octets: number }[] = [];
  let batch = from * 1_000;
  let entries: TrafficBatchEntry[] = [];
  let size = 0;
  const send = async (): Promise<void> => {
    batch += 1;
    const octets = gzipSync(sealBatch({ batch, entries }));
    const node = nodes[batch % nodes.length]!;
    const sent = { octets, isGzip: true, now: Date.now() };
    const ms = await timed(() => takeBatch({ store, thread }, node, sent));
    taken.push({ ms, octets: octets.length });
    entries = [];
    size = 0;
  };
  for (let offset = from; offset < to; offset++) {
    const minute = (start + offset) * MINUTE_MS;
    for (const [at, { domain }] of installation.domains.slice(0, domains).entries()) {
      const { counts, tops } = minuteOf(at, offset);
      const octets = counts.length + (tops?.length ?? 0);
      const isFull = entries.length >= MAX_BATCH_DOMAINS || size + octets > BATCH_OCTETS;
      if (isFull && entries.length > 0) await send();
      entries.push({ domain: domain.name, minute, counts, tops });
      size += octets;
    }
    await send();
  }
  return taken;
}

function log(fields: object, message: string): never {
  throw new Error(`${message}: ${JSON.stringify(fields)}`);
}

async function takeAndRollUp(subject: Subject): Promise<readonly Row[]> {
  const { place, size, store, thread } = subject;
  const taken = await report(subject, { domains: size.domains, from: 0, to: size.minutes });
  const rollUp = createRollUp({ store, thread, log: { warn: log, error: log }, alone: true });
  const begun = performance.now();
  const { parts } = await rollUp.runNow();
  const seconds = (performance.now() - begun) / 1_000;
  if (parts !== size.domains * size.minutes)
    throw new Error(`${parts} parts were rolled up, ${size.domains * size.minutes} were reported`);
  // The rest of the hour, of those whose week is stored.
  await report(subject, { domains: size.weekly, from: size.minutes, to: HOUR });
  await rollUp.runNow();
  await rollUp.stop();
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const perMinute = sum(taken.map(({ ms }) => ms)) / size.minutes / 1_000;
  const octets = sum(taken.map((one) => one.octets)) / size.minutes;
  const note = `${size.domains.toLocaleString('en-US')} domains, 1 to 1,000 requests a minute`;
  return [
    {
      name: `${place.name}: acceptance of all reports of a minute`,
      value: perMinute,
      goal: { atMost: 30 },
      unit: 's',
      note: `${note}; ${Math.round(taken.length / size.minutes)} batches of ${median(taken.map(({ ms }) => ms)).toFixed(0)} ms, one after the other`,
    },
    {
      name: `${place.name}: octets of a domain's minute in a compressed batch`,
      value: octets / size.domains,
      goal: null,
      unit: 'octets',
      note: `${(octets / MIB).toFixed(1)} MiB a minute for all, top lists included`,
    },
    {
      name: `${place.name}: roll-up of ten minutes of all domains`,
      value: seconds,
      goal: { atMost: 300 },
      unit: 's',
      note: `${parts.toLocaleString('en-US')} parts into blocks of ten minutes and of an hour; half of ten minutes is the goal`,
    },
  ];
}

/** Stores the reported hour as each hour of a week, and builds the days. */
async function storeWeek(subject: Subject): Promise<readonly Row[]> {
  const { place, size, installation, store, thread, start } = subject;
  const last = installation.domains[size.weekly - 1]!.domain.id;
  const before = await place.octets(installation);
  for (const [table, hours] of [
    ['traffic_minutes', MINUTE_HOURS],
    ['traffic_hours', WEEK_HOURS],
  ] as const) {
    const rest = table === 'traffic_minutes' ? ['monitored_minutes', 'counts'] : ['counts', 'tops'];
    const all = [...TRAFFIC_SUMS, ...rest].join(', ');
    const offsets = `WITH RECURSIVE ago(hours) AS (SELECT 1 UNION ALL SELECT hours + 1 FROM ago WHERE hours < ${hours - 1})`;
    const source = `SELECT domain_id, start - ${HOUR} * hours, ${all} FROM ${table}, ago`;
    const filter = `WHERE domain_id <= ${last} AND start >= ${start} AND start < ${start + HOUR}`;
    await place.statement(
      `INSERT INTO ${table} (domain_id, start, ${all}) ${offsets} ${source} ${filter}`,
      installation,
    );
  }
  await buildDays({ store, thread, start });
  const grown = (await place.octets(installation)) - before;
  return [
    {
      name: `${place.name}: store after a week`,
      value: ((grown / size.weekly) * 10_000) / 2 ** 30,
      goal: null,
      unit: 'GiB',
      note: `10,000 domains, from ${size.weekly.toLocaleString('en-US')} that are stored: ${Math.round(grown / size.weekly / 1_024)} KiB each for 48 hours of minutes, 168 hours and 7 days`,
    },
  ];
}

async function buildDays({
  store,
  thread,
  start,
}: Pick<Subject, 'store' | 'thread' | 'start'>): Promise<void> {
  const today = start - (start % DAY);
  for (let day = today - 6 * DAY; day < today; day += DAY) {
    for (let slice = 0; slice < SLICES; slice++) {
      let after: number | null = 0;
      while (after !== null) {
        const { days, last } = await thread.buildDays({ slice, day, after });
        if (days.length > 0) await store.write((tx) => tx.traffic.replace({ minutes: [], hours: [], days }));
        after = last;
      }
    }
  }
}

/** A request for analytics. */
interface Read {
  readonly name: string;
  path(domain: Placed): string;
}

function readsOf(start: number): readonly Read[] {
  const time = (minute: number): string => new Date(minute * MINUTE_MS).toISOString();
  const period = (hours: number): string =>
    `from=${time(start + HOUR - hours * HOUR)}&to=${time(start + HOUR)}`;
  const at = ({ domain }: Placed, rest: string): string => `/domains/${domain.name}/${rest}`;
  return [
    {
      name: 'two hours by minute',
      path: (domain) => at(domain, `analytics/?${period(2)}&step=minute&by=status`),
    },
    { name: 'a day by hour', path: (domain) => at(domain, `analytics/?${period(24)}&step=hour&by=action`) },
    { name: 'a week by hour', path: (domain) => at(domain, `analytics/?${period(WEEK_HOURS)}&step=hour`) },
    { name: 'paths of a week', path: (domain) => at(domain, `analytics/top/?of=path&${period(WEEK_HOURS)}`) },
    { name: 'hits of a week', path: (domain) => at(domain, `rules/hits/?${period(WEEK_HOURS)}`) },
  ];
}

async function readAnalytics({
  place,
  size,
  installation,
  start,
  minuteOf,
}: Subject): Promise<readonly Row[]> {
  const served = await startServe(place.address ?? installation.folder, ['--log-level', 'error']);
  const load = await openLoad({ port: served.port, connections: 1, sleepless: false });
  const ask = async (path: string): Promise<string> => {
    const { status, body } = await load.ask(requestOctets({ path, token: installation.key }));
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
    return body;
  };
  const weekly = installation.domains.slice(0, size.weekly);
  try {
    for (const customer of [0, size.weekly - 1]) await compare(customer);
    const rows: Row[] = [];
    for (const read of readsOf(start)) {
      const times: number[] = [];
      // Neither domain nor period twice: no answer is in the response cache.
      for (let at = 0; at < size.reads; at++) {
        const domain = weekly[(at * 7) % weekly.length]!;
        times.push(await timed(() => ask(read.path(domain))));
      }
      rows.push(rowOf(read, times));
    }
    return rows;
  } finally {
    load.close();
    await served.stop();
  }

  /** The API's total of a week is that of what was reported. */
  async function compare(customer: number): Promise<void> {
    const hour = Array.from({ length: HOUR }, (_, minute) => minuteOf(customer, minute).requests);
    const expected = hour.reduce((sum, requests) => sum + requests, 0) * WEEK_HOURS;
    const answer = await ask(readsOf(start)[2]!.path(weekly[customer]!));
    const { totals } = JSON.parse(answer) as { readonly totals: { readonly requests: number } };
    if (totals.requests !== expected)
      throw new Error(`${totals.requests} requests of a week are answered, ${expected} were reported`);
  }

  function rowOf({ name }: Read, times: readonly number[]): Row {
    const sorted = times.toSorted((a, b) => a - b);
    return {
      name: `${place.name}: analytics, ${name}, p99`,
      value: sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))]!,
      goal: { atMost: 200 },
      unit: 'ms',
      note: `one client, median ${median(sorted).toFixed(1)} ms; ${size.weekly} domains with a week of traffic`,
    };
  }
}
