/** The SPOP door of an agent in this process, with real plans; HAProxy in front of it as `fixtures/proxies` has it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../src/base/platform/cryptography.ts';
import { createChallenges } from '../../src/edge/answers/challenge/challenge.ts';
import { createCredentialVerifier } from '../../src/edge/credentials/verify.ts';
import { createUnserved } from '../../src/edge/decide/unserved.ts';
import { createDecisionReporter } from '../../src/edge/decide/verdict.ts';
import { createDoorDecider, type DecideForDoor } from '../../src/edge/doors/door.ts';
import { pageOf, TICKET_HEADER } from '../../src/edge/doors/http/pages.ts';
import type { DoorAddress, RunningDoor } from '../../src/edge/doors/listener.ts';
import type { SpopCounts } from '../../src/edge/doors/spop/counts.ts';
import { openSpopDoor } from '../../src/edge/doors/spop/open.ts';
import { SPOP_ENFORCED } from '../../src/edge/doors/spop/variables.ts';
import { createTickets, type SharableTickets } from '../../src/edge/doors/tickets.ts';
import { openPlans } from '../../src/edge/middleware/node/plans.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { type Listening, listenLocally } from './embed.ts';
import { freePort } from './free-ports.ts';
import { findProgram } from './requires.ts';
import { until } from './until.ts';

/** The secret between HAProxy and the agent's HTTP listener. */
export const DOOR_SECRET = 'f5f3c1a8d80b4f6d8c56a1b6fe07a2b4';

export interface TestSpopDoor {
  readonly door: RunningDoor<SpopCounts>;
  readonly tickets: SharableTickets;
  readonly journal: RequestLogEntry[];
  readonly faults: unknown[];
  readonly logged: string[];
}

export interface TestSpopDoorOptions {
  /** Default: any port of the loopback. */
  readonly address?: DoorAddress;
  readonly plans?: readonly Uint8Array[];
  readonly signatures?: Uint8Array | null;
  /** Wraps the decider, or takes its place. */
  readonly decide?: (real: DecideForDoor) => DecideForDoor;
}

/** Opens a door with real decisions. */
export async function openTestSpopDoor({
  address = { host: '127.0.0.1', port: 0 },
  plans = [],
  signatures = null,
  decide = (real) => real,
}: TestSpopDoorOptions = {}): Promise<TestSpopDoor> {
  const journal: RequestLogEntry[] = [];
  const faults: unknown[] = [];
  const logged: string[] = [];
  const reporter = createDecisionReporter({ onFault: (error) => faults.push(error) });
  const { table } = openPlans({ plans: [...plans], signatures }, reporter);
  const secret = randomBytes(32);
  const real = createDoorDecider({
    services: {
      plans: table,
      challenges: createChallenges({ secrets: () => ({ current: secret, previous: [] }), cost: 20 }),
      credentials: createCredentialVerifier(sha256),
      classifier: { country: () => null, asn: () => null, bot: () => undefined },
      unserved: createUnserved({ plans: table, listed: false, onUnserved: () => undefined }),
    },
    requestLog: { done: (entry) => void journal.push(entry) },
    enforced: SPOP_ENFORCED,
    onFault: (error) => faults.push(error),
  });
  const tickets = createTickets();
  const log = (sentence: string): void => void logged.push(sentence);
  const door = await openSpopDoor({ address, decide: decide(real), tickets, log });
  return { door, tickets, journal, faults, logged };
}

export interface SeenServer extends Listening {
  readonly seen: IncomingMessage[];
  /** Bodies of `seen`, in the same order, once they have arrived. */
  readonly bodies: Buffer[];
}

/** The agent's HTTP listener as far as HAProxy needs it: pages of tickets; all else is recorded, and answered with 204. */
export async function startPages(tickets: SharableTickets): Promise<SeenServer> {
  const seen: IncomingMessage[] = [];
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const ticket = request.headers[TICKET_HEADER] as string | undefined;
    const page = await pageOf(tickets, request.url ?? '', ticket);
    if (page !== null && request.headers['x-edgeplan-door'] === DOOR_SECRET) {
      request.resume();
      response.writeHead(page.status, page.headers as string[]);
      response.end(request.method === 'HEAD' ? null : page.body);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push(request);
    bodies.push(Buffer.concat(chunks));
    response.writeHead(204).end();
  });
  return { ...(await listenLocally(server)), seen, bodies };
}

/** An application that answers everything with 200, under a name of its own. */
export async function startNamedOrigin(name: string): Promise<SeenServer> {
  const seen: IncomingMessage[] = [];
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push(request);
    bodies.push(Buffer.concat(chunks));
    response.writeHead(200, { 'x-origin': name, 'x-target': encodeURIComponent(request.url ?? '') });
    response.end('origin');
  });
  return { ...(await listenLocally(server)), seen, bodies };
}

export interface RunningHaproxy {
  readonly port: number;
  /** The id of the process that was started: with `-W` the master. */
  readonly pid: number;
  readonly printed: () => string;
  close(): Promise<void>;
}

export interface HaproxyOptions {
  /** The port of the door. */
  readonly door: number;
  /** The port of the agent's HTTP listener. */
  readonly pages: number;
  /** The port of `backend servers`. */
  readonly servers: number;
  /** Changes the shipped configuration further. */
  readonly change?: (text: string) => string;
  /** Raises the times after which HAProxy gives an agent up: for tests in which each request is decided, on a busy machine too. */
  readonly patient?: boolean;
}

/** A file of `fixtures/proxies`. */
export function shipped(name: string): string {
  return readFileSync(new URL(`../../fixtures/proxies/${name}`, import.meta.url), 'utf8');
}

/** Replaces a text that occurs; a shipped file that has lost it fails the test. */
export function replaced(from: string, to: string): (text: string) => string {
  return (text) => {
    if (!text.includes(from)) throw new Error(`the shipped configuration has no \`${from}\``);
    return text.replaceAll(from, to);
  };
}

/** HAProxy 2.6 with the shipped files, in the foreground; `SIGUSR2` reloads it. */
export async function startHaproxy({
  door,
  pages,
  servers,
  change = (text) => text,
  patient = false,
}: HaproxyOptions): Promise<RunningHaproxy> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-haproxy-'));
  const port = await freePort();
  const spoe = join(folder, 'spoe.cfg');
  const file = join(folder, 'haproxy.cfg');
  const waits = patient
    ? (line: string, longer: string) => replaced(line, longer)
    : () => (text: string) => text;
  const asks = [
    waits('timeout processing 500ms', 'timeout processing 60s'),
    waits('timeout hello 2s', 'timeout hello 60s'),
  ];
  writeFileSync(
    spoe,
    asks.reduce((text, one) => one(text), shipped('spoe.cfg')),
  );
  const own = [
    // Its own messages are read; a line for each request is not.
    replaced('    log stdout format raw local0\n', ''),
    replaced('bind :80\n', `bind 127.0.0.1:${port}\n`),
    replaced('/etc/haproxy/spoe.cfg', spoe),
    replaced('127.0.0.1:9000 ', `127.0.0.1:${door} `),
    replaced('server agent 127.0.0.1:9001', `server agent 127.0.0.1:${pages}`),
    replaced('server one 127.0.0.1:8080', `server one 127.0.0.1:${servers}`),
    waits('timeout connect 1s', 'timeout connect 60s'),
    waits('check inter 1s fall 3 rise 1', 'check inter 1s fall 1000 rise 1'),
    change,
  ];
  writeFileSync(
    file,
    own.reduce((text, one) => one(text), shipped('haproxy-2.6.cfg')),
  );
  const env = { ...process.env, EDGEPLAN_DOOR: DOOR_SECRET };
  const args = ['-W', '-db', '-f', file];
  const child: ChildProcess = spawn(findProgram('haproxy')!, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text = `${text}${chunk}`.slice(-100_000);
    });
  }
  const ended = once(child, 'exit');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended: ${text}`);
    return accepts(port);
  }, 'HAProxy to listen');
  return {
    port,
    pid: child.pid!,
    printed: () => text,
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
