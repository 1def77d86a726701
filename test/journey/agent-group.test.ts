/** Two agents on the same sockets, as systemd passes them to several services: each answers for the other. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type ActivatedAgent,
  type PassedSocket,
  passSocket,
  startActivatedAgent,
} from '../support/activated-agent.ts';
import { hand, solve } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { until } from '../support/until.ts';
import { AGENT_SECRET, askHttp, type DoorReply, openSpop, proxied } from '../support/upgraded-agent.ts';

const EDGE = `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, proxied: true }
rules:
  - { type: drop, path_includes: [/admin] }
  - { type: captcha, path_includes: [/members] }
`;

/** The browser of `hand`, which clearances are bound to. */
const HTML = { accept: 'text/html', 'user-agent': 'test/1' };

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-agent-group-'));
const file = join(folder, 'edge.yaml');
const secret = join(folder, 'door.secret');
const group = join(folder, 'group');
const ends: { end(): unknown }[] = [];

beforeAll(async () => {
  await builtCli();
  writeFileSync(file, EDGE);
  writeFileSync(secret, AGENT_SECRET);
}, 240_000);
afterEach(async () => {
  for (const one of ends.splice(0).reverse()) await one.end();
  rmSync(group, { recursive: true, force: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Pair {
  readonly spop: string;
  readonly http: string;
  readonly agents: readonly [ActivatedAgent, ActivatedAgent];
  /** Runs `work` while one of the agents is stopped: the other one accepts every connection. */
  at<T>(index: 0 | 1, work: () => Promise<T>): Promise<T>;
}

async function socket(): Promise<PassedSocket> {
  const passed = await passSocket(null);
  ends.push({ end: () => passed.server.close() });
  return passed;
}

/** Starts an agent on sockets. */
async function agentOn(sockets: readonly PassedSocket[], args: readonly string[]): Promise<ActivatedAgent> {
  const fds = sockets.map(({ fd }) => fd);
  const agent = await startActivatedAgent({ folder, file, fds, names: 'spop:forward-auth' }, [
    ...['--secret-file', secret, '--group', group],
    ...args,
  ]);
  ends.push(agent);
  return agent;
}

async function startPair(): Promise<Pair> {
  const [spop, http] = [await socket(), await socket()];
  const agents = [await agentOn([spop, http], []), await agentOn([spop, http], [])] as const;
  for (const { text } of agents) expect(text()).toMatch(/^process \d+$/m);
  // Its own share of the connections would wait for this process.
  for (const { server } of [spop, http]) server.close();
  return {
    spop: spop.address,
    http: http.address,
    agents,
    async at(index, work) {
      const other = agents[1 - index]!.child;
      other.kill('SIGSTOP');
      try {
        return await work();
      } finally {
        other.kill('SIGCONT');
      }
    },
  };
}

/** The ticket of a page that an agent of the pair issues. */
async function ticketOf({ spop }: Pick<Pair, 'spop'>, uri: string): Promise<string> {
  const connection = await openSpop(spop);
  const { action, ticket } = await connection.ask(uri);
  connection.close();
  expect(action).toBe('page');
  return String(ticket);
}

async function pageOf({ http }: Pick<Pair, 'http'>, ticket: string): Promise<number> {
  const headers = { 'X-Edgeplan-Door': AGENT_SECRET, 'X-Edgeplan-Ticket': ticket };
  return (await askHttp(http, { path: '/edgeplan/page', headers })).status;
}

test('a page is answered once, by whichever agent of the group its proxy reaches', async () => {
  const pair = await startPair();
  const ticket = await pair.at(0, () => ticketOf(pair, '/admin'));
  expect(await pair.at(1, () => pageOf(pair, ticket))).toBe(403);
  for (const index of [0, 1] as const) expect(await pair.at(index, () => pageOf(pair, ticket))).toBe(503);
  expect(readdirSync(join(group, 'pages'))).toEqual([]);
});

test('a visitor who passed the challenge at one agent is cleared at the other', async () => {
  const pair = await startPair();
  const members = (cookie?: string): Promise<DoorReply> => {
    const visitor = cookie === undefined ? HTML : { ...HTML, cookie };
    return askHttp(pair.http, { headers: { ...proxied('/members'), ...visitor } });
  };
  const page = await pair.at(0, members);
  expect(page.status).toBe(403);
  const headers = { 'X-Edgeplan-Door': AGENT_SECRET, 'X-Forwarded-Proto': 'https' };
  const proof = await solve(page);
  const port = Number(new URL(pair.http).port);
  const answer = await pair.at(1, () => hand(port, proof, { host: 'shop.test', headers, back: '/members' }));
  expect([answer.status, answer.headers['location']]).toEqual([303, '/members']);
  const cookie = answer.headers['set-cookie']![0]!.split(';', 1)[0]!;
  for (const index of [0, 1] as const) {
    expect((await pair.at(index, () => members(cookie))).status).toBe(200);
    expect((await pair.at(index, () => members())).status).toBe(403);
  }
});

test('one agent decides on for the sockets of one that was killed, whose old pages are removed', async () => {
  const pair = await startPair();
  const ticket = await pair.at(0, () => ticketOf(pair, '/admin'));
  await pair.agents[0].end();
  expect(await pageOf(pair, ticket)).toBe(403);
  for (let question = 0; question < 20; question++) await ticketOf(pair, '/admin');
  await pair.agents[1].end();
  const pages = join(group, 'pages');
  expect(readdirSync(pages)).toHaveLength(20);
  const [old, ...others] = readdirSync(pages);
  utimesSync(join(pages, old!), new Date(0), new Date(0));
  // Young however long the next agent takes to start.
  const later = new Date(Date.now() + 3_600_000);
  for (const other of others) utimesSync(join(pages, other), later, later);
  await agentOn([await socket(), await socket()], []);
  await until(() => !readdirSync(pages).includes(old!), 'the old page to be removed');
  expect(readdirSync(pages)).toHaveLength(19);
});

test('the secrets of a group are its own user’s, and stay', async () => {
  await startPair();
  const secrets = join(group, 'secrets.json');
  expect([group, secrets].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  expect(readdirSync(group).sort()).toEqual(['pages', 'secrets.json']);
  const text = readFileSync(secrets, 'utf8');
  await agentOn([await socket(), await socket()], []);
  expect(readFileSync(secrets, 'utf8')).toBe(text);
});

test.each([
  [
    'a folder that others may write to',
    () => chmodSync(group, 0o720),
    /other users may write to .*\n.*chmod 700/,
  ],
  [
    'secrets that are cut off',
    () => writeFileSync(join(group, 'secrets.json'), '{"clearance":'),
    /does not have the secrets of a group.*\n.*remove the file/,
  ],
  [
    'a folder where a file is to be',
    () => mkdirSync(join(group, 'secrets.json')),
    /the folder of the group, .* cannot be used: EISDIR.*\n.*name a folder/,
  ],
  [
    'a file where a folder is to be',
    () => writeFileSync(join(group, 'pages'), ''),
    /the folder of the group, .* cannot be used: .*it is no folder\n.*name a folder/,
  ],
  [
    'secrets without a key',
    () => writeFileSync(join(group, 'secrets.json'), '{"clearance":{"current":"","previous":[]}}'),
    /does not have the secrets/,
  ],
])('%s is an error at the start', async (_, spoil, message) => {
  mkdirSync(group, { mode: 0o700 });
  spoil();
  const agent = await agentOn([await socket(), await socket()], []);
  expect([agent.child.exitCode, agent.text()]).toEqual([4, expect.stringMatching(message)]);
});
