/**
 * One customer beside another that computes as much as ten keys may ask for: analysis, simulations, diffs and imports of a
 * domain with 10,000 rules. Latency of reads and writes next to it and alone, turn by turn, and what the server needs.
 */
import { drops } from './data/drops.ts';
import { type Installation, makeInstallation, type Placed } from './data/installation.ts';
import { smallDomain } from './data/small-domains.ts';
import { openLoad, requestOctets } from './harness/load.ts';
import { type Helper, type Served, startHelper, startServe, usageOf } from './harness/process.ts';
import { timed } from './harness/timed.ts';
import type { BenchOptions, Row } from './row.ts';

const RULES = 10_000;
const KEYS = 10;
/** What a key may ask for by default. */
const REQUESTS_PER_MINUTE = 300;
const ROUNDS = 6;
const MB = 1024 * 1024;

export async function run({ quick }: BenchOptions): Promise<readonly Row[]> {
  const size = quick
    ? { rules: 500, rounds: 1, reads: 50, writes: 10 }
    : { rules: RULES, rounds: ROUNDS, reads: 150, writes: 50 };
  const ruleSets = [drops(size.rules, 1).ruleSet, smallDomain(1).ruleSet];
  const installation = await makeInstallation({ ruleSets, keys: KEYS, neighbour: true });
  const budget = ['--requests-per-minute', String(REQUESTS_PER_MINUTE)];
  const served = await startServe(installation.folder, budget);
  const hostile = startHelper(compute);
  try {
    await published(served, installation);
    const measured = await measure({ served, installation, hostile, ...size });
    return rowsOf(measured);
  } finally {
    await Promise.all([hostile.stop(), served.stop()]);
    installation.remove();
  }
}

interface Subject {
  readonly served: Served;
  readonly installation: Installation;
  readonly hostile: Helper;
  readonly rounds: number;
  readonly reads: number;
  readonly writes: number;
}

interface Times {
  readonly reads: number[];
  readonly writes: number[];
}

/** What the hostile customer was answered. */
interface Answered {
  readonly statuses: Readonly<Record<string, number>>;
  /** Octets of the longest answer. */
  readonly longest: number;
}

interface Measured {
  readonly alone: Times;
  readonly beside: Times;
  readonly answered: Answered;
  /** Octets, the most that was seen. */
  readonly resident: number;
}

/** Waits until both domains have a plan, so that there is something to simulate. */
async function published({ port }: Served, { domains, key, neighbour }: Installation): Promise<void> {
  const keys = [key, neighbour!.keys[0]!];
  for (const [at, { domain }] of domains.entries()) {
    const path = `/domains/${domain.name}/plans/?wait=published`;
    const headers = { authorization: `Bearer ${keys[at]}` };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers });
    if (!answer.ok)
      throw new Error(`the domain cannot be published: ${answer.status} ${await answer.text()}`);
  }
}

async function measure({ served, installation, hostile, rounds, reads, writes }: Subject): Promise<Measured> {
  const [large, small] = installation.domains as readonly [Placed, Placed];
  const load = await openLoad({ port: served.port, connections: 1, sleepless: false });
  const next = requestsOf(small, installation.neighbour!.keys);
  const alone: Times = { reads: [], writes: [] };
  const beside: Times = { reads: [], writes: [] };
  let resident = 0;
  const turn = async (into: Times): Promise<void> => {
    for (let at = 0; at < reads; at++) {
      into.reads.push(await timed(() => load.ask(next.read())));
      if (at % Math.floor(reads / writes) === 0) into.writes.push(await timed(() => load.ask(next.write())));
      resident = Math.max(resident, usageOf(served.process)?.resident ?? 0);
    }
  };
  const begin = {
    port: served.port,
    domain: large.domain.name,
    keys: installation.keys,
    perMinute: REQUESTS_PER_MINUTE,
  };
  for (let round = 0; round < rounds; round++) {
    await turn(alone);
    await hostile.ask(begin);
    await turn(beside);
    await hostile.ask('rest');
  }
  load.close();
  return { alone, beside, resident, answered: await hostile.ask<Answered>('answers') };
}

/** Reads and writes of a small domain, by its owner's keys in turn, so that none meets its budget. */
function requestsOf({ domain, rules }: Placed, keys: readonly string[]) {
  const redirect = rules.find(({ type }) => type === 'redirect')!;
  const path = `/domains/${domain.name}/rules/redirect/${redirect.id}`;
  let number = 0;
  const token = (): string => keys[number++ % keys.length]!;
  return {
    read: () => requestOctets({ path, token: token() }),
    write: () =>
      requestOctets({
        method: 'PUT',
        path,
        token: token(),
        body: { target: `https://new.example/${number}` },
      }),
  };
}

interface Begin {
  readonly port: number;
  readonly domain: string;
  readonly keys: readonly string[];
  readonly perMinute: number;
}

/** The hostile customer: each key asks as often as it may, whether it was answered or not. */
function compute(): void {
  const { request, Agent } = process.getBuiltinModule('node:http');
  const agent = new Agent({ keepAlive: true });
  const statuses: Record<string, number> = {};
  let longest = 0;
  let timers: NodeJS.Timeout[] = [];
  let number = 0;
  const ask = ({ port, domain }: Begin, key: string): void => {
    number += 1;
    const below = `/domains/${domain}`;
    const zone = Array.from({ length: 200 }, (_, at) => `n${number % 5}-${at} 300 IN A 203.0.113.9`).join(
      '\n',
    );
    const simulate = JSON.stringify({ request: { target: `/${'a'.repeat(15_000)}` } });
    const kinds = [
      { method: 'GET', path: `${below}/analysis`, type: '', body: '' },
      { method: 'POST', path: `${below}/simulate?limit=1000`, type: 'application/json', body: simulate },
      { method: 'GET', path: `${below}/diff`, type: '', body: '' },
      { method: 'POST', path: `${below}/records/import`, type: 'text/dns', body: zone },
    ];
    const { method, path, type, body } = kinds[number % kinds.length]!;
    const headers = { authorization: `Bearer ${key}`, ...(type === '' ? {} : { 'content-type': type }) };
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      let octets = 0;
      answer.on('data', (chunk: Buffer) => {
        octets += chunk.length;
      });
      answer.on('end', () => {
        const kind = `${method} ${path.split('/').at(-1)!.split('?')[0]} ${answer.statusCode}`;
        statuses[kind] = (statuses[kind] ?? 0) + 1;
        longest = Math.max(longest, octets);
      });
    });
    sent.on('error', (error) => {
      const kind = `error ${error.message}`;
      statuses[kind] = (statuses[kind] ?? 0) + 1;
    });
    sent.end(body);
  };
  process.on('message', (message: Begin | 'rest' | 'answers') => {
    if (message === 'answers') {
      process.send!({ statuses, longest });
      return;
    }
    for (const timer of timers) clearInterval(timer);
    timers = [];
    if (message === 'rest') {
      // What is under way is answered, refused, or past its time by then.
      setTimeout(() => process.send!('rests'), 12_000);
      return;
    }
    timers = message.keys.map((key) => setInterval(() => ask(message, key), 60_000 / message.perMinute));
    setTimeout(() => process.send!('busy'), 2_000);
  });
}

function rowsOf({ alone, beside, answered, resident }: Measured): readonly Row[] {
  const ratio = (name: string, of: keyof Times, atMost: number): Row => {
    const [x, y] = [p99(beside[of]), p99(alone[of])];
    return {
      name: `${name} beside a customer that computes ÷ alone, p99`,
      value: x / y,
      goal: { atMost },
      unit: '×',
      note: `${x.toFixed(2)} ms and ${y.toFixed(2)} ms over ${beside[of].length} requests each, all 200`,
    };
  };
  const statuses = Object.entries(answered.statuses).map(([kind, count]) => `${count} × ${kind}`);
  return [
    ratio('read of a rule', 'reads', 3),
    ratio('update of a rule', 'writes', 5),
    {
      name: 'longest answer to the customer that computes',
      value: answered.longest / 1e6,
      goal: { atMost: 1 },
      unit: 'MB',
      note: statuses.join(', '),
    },
    {
      name: 'resident memory of the server meanwhile',
      value: resident / MB,
      goal: { atMost: 1_024 },
      unit: 'MiB',
      note: 'the most that was seen after any of the requests',
    },
  ];
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1]!;
}
