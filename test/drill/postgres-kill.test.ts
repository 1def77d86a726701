/** PostgreSQL that is killed, and one that hangs, under writes through the API of a server, which goes on. */
import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { builtCli } from '../support/built.ts';
import { missingOwnPostgres, type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';

const MISSING = missingOwnPostgres();
const DOMAINS = ['one.test', 'two.test', 'three.test'];
/** Milliseconds after which every request has its answer: 35 seconds for a statement that is never answered. */
const MOST_MS = 45_000;

let own: OwnPostgres;
let server: Served;

beforeAll(async () => {
  if (MISSING !== null) return;
  await builtCli();
  own = await startOwnPostgres();
  await own.admin("CREATE ROLE plans LOGIN PASSWORD 'one'");
  await own.admin('CREATE DATABASE plans OWNER plans');
  const database = `postgres://plans:one@127.0.0.1:${own.port}/plans`;
  server = await serve({ database, args: ['--requests-per-minute', '1000000'] });
  for (const domain of DOMAINS) await server.domain(domain);
}, 240_000);
afterAll(async () => {
  await server?.stop();
  await own?.close();
}, 60_000);

/** What writers and readers have got. */
interface Traffic {
  /** Names of records by what the answer says of them. */
  readonly written: Set<string>;
  readonly undone: Set<string>;
  readonly refusals: Answer[];
  /** Answers that are neither a success nor a 503, and requests without an answer. */
  readonly wrong: string[];
  longestMs: number;
  end(): Promise<void>;
}

function startTraffic(): Traffic {
  let working = true;
  const traffic: Traffic = {
    written: new Set(),
    undone: new Set(),
    refusals: [],
    wrong: [],
    longestMs: 0,
    end,
  };
  const ask = async (method: string, path: string, body?: object): Promise<Answer | null> => {
    const began = performance.now();
    const answer = await server.call(method, path, body).catch((error: unknown) => {
      traffic.wrong.push(`${method} ${path}: ${error}`);
      return null;
    });
    traffic.longestMs = Math.max(traffic.longestMs, performance.now() - began);
    if (answer?.status === 503) traffic.refusals.push(answer);
    else if (answer !== null && answer.status !== 200)
      traffic.wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  async function write(domain: string, writer: number): Promise<void> {
    for (let count = 0; working; count++) {
      const name = `w${writer}-${began}-${count}`;
      const answer = await ask('POST', `/domains/${domain}/records/`, {
        name,
        type: 'TXT',
        destination: 'x',
      });
      if (answer?.status === 200) traffic.written.add(name);
      else if (answer?.text.includes('nothing was changed')) traffic.undone.add(name);
      await wait(5);
    }
  }
  async function read(): Promise<void> {
    for (; working; await wait(20)) {
      await ask('GET', '/domains/');
      await ask('GET', `/domains/${DOMAINS[0]}/plans/`);
    }
  }
  const began = Date.now();
  const all = [read(), ...[...DOMAINS, ...DOMAINS].map((domain, writer) => write(domain, writer))];
  async function end(): Promise<void> {
    working = false;
    await Promise.all(all);
  }
  return traffic;
}

/** Acknowledged writes are there, undone ones are not, and the rest was refused as documented. */
async function expectHonest({ written, undone, refusals, wrong, longestMs }: Traffic): Promise<void> {
  expect(wrong).toEqual([]);
  expect(refusals.length).toBeGreaterThan(0);
  for (const { headers, text } of refusals)
    expect([headers['retry-after'], text]).toEqual([expect.stringMatching(/^\d+$/), text]);
  expect(longestMs).toBeLessThan(MOST_MS);
  const stored = new Set<string>();
  for (const domain of DOMAINS)
    for (const { name } of (await server.call('GET', `/domains/${domain}/records/`)).body) stored.add(name);
  expect([...written].filter((name) => !stored.has(name))).toEqual([]);
  expect([...undone].filter((name) => stored.has(name))).toEqual([]);
  expect(server.logged()).not.toContain('internal error');
}

/** Writes of every domain are acknowledged again, and published. */
async function expectRecovered(): Promise<void> {
  for (const domain of DOMAINS) {
    const drop = { path_includes: [`/${Date.now()}`] };
    const at = `/domains/${domain}/rules/drop/?wait=published`;
    await until(async () => (await server.call('POST', at, drop)).status === 200, 'a published rule', 30_000);
  }
}

test('a server goes on after PostgreSQL was killed under writes, and has every acknowledged one', {
  ...requires(MISSING),
  timeout: 240_000,
}, async () => {
  const traffic = startTraffic();
  for (let round = 0; round < 3; round++) {
    const before = traffic.written.size;
    await until(() => traffic.written.size > before + 50, 'writes');
    const refused = traffic.refusals.length;
    await own.kill();
    await until(() => traffic.refusals.length > refused + 20, 'refusals');
    await own.start();
    await expectRecovered();
  }
  await traffic.end();
  await expectHonest(traffic);
});

test('requests are refused in time while PostgreSQL hangs, and answered once it goes on', {
  ...requires(MISSING),
  timeout: 240_000,
}, async () => {
  const traffic = startTraffic();
  await until(() => traffic.written.size > 50, 'writes');
  const pids = execFileSync('pgrep', ['-P', String(own.pid())], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);
  const all = [own.pid(), ...pids];
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  const began = performance.now();
  try {
    await until(() => traffic.refusals.length > 10 || performance.now() - began > 60_000, 'refusals', 70_000);
  } finally {
    for (const pid of all) process.kill(pid, 'SIGCONT');
  }
  await expectRecovered();
  await traffic.end();
  await expectHonest(traffic);
});
