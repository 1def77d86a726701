/** Reading: authenticated reads of rules beside bare node:http that answers with the octets of one. */
import { typePath } from '../src/base/vocabulary/vocabulary.ts';
import { type Installation, makeInstallation, type Placed } from './data/installation.ts';
import { smallDomain } from './data/small-domains.ts';
import { type HttpAnswer, type Load, openLoad, requestOctets } from './harness/load.ts';
import { type Helper, startHelper, startServe, usageOf } from './harness/process.ts';
import { type RaceResult, race, SERVERS, type Side } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

const CONNECTIONS = 32;
/** More rules than the server keeps answers for, so that reading all of them in turn finds none kept. */
const DOMAINS = 400;
/** Reads after which one rule is written; with it every kept answer has gone stale. */
const READS_A_WRITE = 100;

/** Which requests are sent, one after the other. */
interface Mix {
  readonly name: string;
  readonly goal: Row['goal'];
  readonly note: string;
  readonly requests: readonly Buffer[];
}

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const domains = options.quick ? DOMAINS / 8 : DOMAINS;
  const ruleSets = Array.from({ length: domains }, (_, index) => smallDomain(index + 1).ruleSet);
  const installation = await makeInstallation({ ruleSets });
  const served = await startServe(installation.folder);
  const bare = startHelper(answerAlways);
  try {
    const api = await openLoad({ port: served.port, connections: CONNECTIONS, sleepless: true });
    const mixes = mixesOf(installation);
    const [first] = mixes[0]!.requests as [Buffer];
    const answer = await api.ask(first);
    const { port } = await bare.ask<{ readonly port: number }>(script(answer));
    const floor = await openLoad({ port, connections: CONNECTIONS, sleepless: true });
    compare(answer, await floor.ask(first));
    const rows: Row[] = [];
    for (const mix of mixes) {
      const ours = serverSide('edgeplan serve', api, { process: served.process, requests: mix.requests });
      const theirs = serverSide('node:http', floor, { process: bare.process, requests: mix.requests });
      const result = await race(ours, theirs, { ...options, pace: SERVERS });
      rows.push(rateRow(mix, result), ...processorRows(mix, ours, theirs));
    }
    api.close();
    floor.close();
    return rows;
  } finally {
    await stopAll(served, bare);
    installation.remove();
  }
}

/** One rule again and again, all rules in turn, and one rule while rules are written. */
function mixesOf({ domains, key }: Installation): readonly Mix[] {
  const places = domains.flatMap(({ domain, rules }) =>
    rules.map(({ type, id }) => `/domains/${domain.name}/${typePath(type)}/${id}`),
  );
  const [{ domain, rules }] = domains as [Placed];
  const drop = rules.find(({ type }) => type === 'drop')!;
  const one = requestOctets({ path: `/domains/${domain.name}/rules/drop/${drop.id}`, token: key });
  const redirect = rules.find(({ type }) => type === 'redirect')!;
  const path = `/domains/${domain.name}/rules/redirect/${redirect.id}`;
  const writes = Array.from({ length: 50 }, (_, at) =>
    requestOctets({ method: 'PUT', path, token: key, body: { target: `https://new.example/${at}` } }),
  );
  return [
    {
      name: 'read of one rule',
      goal: { atLeast: 0.8 },
      note: 'the same rule each time, so its answer is kept',
      requests: [one],
    },
    {
      name: 'read of each rule in turn',
      goal: null,
      note: `${places.length} rules of ${domains.length} domains, so no answer is kept`,
      requests: places.map((at) => requestOctets({ path: at, token: key })),
    },
    {
      name: `read of one rule, a write after every ${READS_A_WRITE}`,
      goal: null,
      note: 'each write makes kept answers stale',
      requests: writes.flatMap((write) => [...Array<Buffer>(READS_A_WRITE).fill(one), write]),
    },
  ];
}

async function stopAll(served: { stop(): Promise<void> }, helper: Helper): Promise<void> {
  await Promise.all([served.stop(), helper.stop()]);
}

/** What Node writes by itself is left to it. */
const OWN = ['date', 'connection', 'keep-alive'];

function script({ headers, body }: HttpAnswer): unknown {
  return { headers: headers.filter(([name]) => !OWN.includes(name.toLowerCase())).flat(), body };
}

/** The whole of the bare server: it looks at nothing of a request, and what it answers is there already. */
function answerAlways(): void {
  const { createServer } = process.getBuiltinModule('node:http');
  process.once('message', ({ headers, body }: { headers: string[]; body: string }) => {
    const server = createServer((_, response) => {
      response.writeHead(200, headers);
      response.end(body);
    });
    server.keepAliveTimeout = 72_000;
    server.listen(0, '127.0.0.1', () => {
      process.send!({ port: (server.address() as { port: number }).port });
    });
  });
}

function compare(ours: HttpAnswer, theirs: HttpAnswer): void {
  const names = ({ headers }: HttpAnswer): string => headers.map(([name]) => name.toLowerCase()).join();
  if (ours.status === theirs.status && ours.body === theirs.body && names(ours) === names(theirs)) return;
  throw new Error(`the servers disagree: ${JSON.stringify(ours)} and ${JSON.stringify(theirs)}`);
}

/** A side, and the processor time its server took in each turn. */
interface ServerSide extends Side {
  readonly used: { readonly seconds: number; readonly requests: number }[];
}

function serverSide(
  name: string,
  load: Load,
  { process, requests }: { readonly process: Helper['process']; readonly requests: readonly Buffer[] },
): ServerSide {
  const used: ServerSide['used'] = [];
  let sent = 0;
  const next = (): Buffer => requests[sent++ % requests.length]!;
  return {
    name,
    used,
    async run(_, count) {
      const before = usageOf(process)?.seconds ?? 0;
      await load.run(count, next);
      used.push({ seconds: (usageOf(process)?.seconds ?? 0) - before, requests: count });
    },
  };
}

function rateRow({ name, goal, note }: Mix, { a, b }: RaceResult): Row {
  const rate = (nanoseconds: number): string => Math.round(1e9 / nanoseconds).toLocaleString('en-US');
  return {
    name: `${name} ÷ bare node:http, requests a second`,
    value: b / a,
    goal,
    unit: '×',
    note: `${note}; ${CONNECTIONS} connections; edgeplan serve ${rate(a)}/s, node:http ${rate(b)}/s`,
  };
}

function processorRows({ name }: Mix, ours: ServerSide, theirs: ServerSide): readonly Row[] {
  const [a, b] = [ours, theirs].map(({ used }) => microsecondsOf(used)) as [number, number];
  if (!(a > 0 && b > 0)) return [];
  return [
    {
      name: `${name}, processor time of node:http ÷ ours`,
      value: b / a,
      goal: null,
      unit: '×',
      note: `a request: edgeplan serve ${a.toFixed(1)} µs, node:http ${b.toFixed(1)} µs, all threads, second half of the turns`,
    },
  ];
}

/** A request's share in the second half of the turns: in the first, compiling takes its part on threads of its own. */
function microsecondsOf(used: ServerSide['used']): number {
  const late = used.slice(used.length >> 1);
  const seconds = late.reduce((sum, turn) => sum + turn.seconds, 0);
  return (seconds * 1e6) / late.reduce((sum, turn) => sum + turn.requests, 0);
}
