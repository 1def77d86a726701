/** The HTTP door of an agent in this process, with real plans; nginx and Caddy in front of it as `fixtures/proxies` has them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../src/base/platform/cryptography.ts';
import { createChallenges } from '../../src/edge/answers/challenge/challenge.ts';
import { createCredentialVerifier } from '../../src/edge/credentials/verify.ts';
import { createUnserved } from '../../src/edge/decide/unserved.ts';
import { createDecisionReporter } from '../../src/edge/decide/verdict.ts';
import { createDoorDecider, type DecideForDoor } from '../../src/edge/doors/door.ts';
import { ENFORCED, FLAVOURS, type ProxyFlavour } from '../../src/edge/doors/http/answers.ts';
import { type HttpDoorCounts, type HttpDoorOptions, openHttpDoor } from '../../src/edge/doors/http/open.ts';
import { readDoorSecrets } from '../../src/edge/doors/http/secrets.ts';
import type { RunningDoor } from '../../src/edge/doors/listener.ts';
import { createTickets } from '../../src/edge/doors/tickets.ts';
import { openPlans } from '../../src/edge/middleware/node/plans.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { listenLocally } from './embed.ts';
import { freePort } from './free-ports.ts';
import { findProgram } from './requires.ts';
import { until } from './until.ts';

/** The secret of every door of tests. */
export const DOOR_SECRET = 'fd2c0a4a9d1b4c1cb5f1c6f0a2d1e6b7';

export interface TestDoor {
  readonly door: RunningDoor<HttpDoorCounts>;
  /** The socket's path. */
  readonly path: string;
  readonly journal: RequestLogEntry[];
  readonly faults: unknown[];
  /** Sentences for the operator. */
  readonly logged: string[];
  close(): Promise<void>;
}

export interface TestDoorOptions
  extends Partial<Pick<HttpDoorOptions, 'trustedHops' | 'maxBodyOctets' | 'passesBodies'>> {
  readonly plans: readonly Uint8Array[];
  readonly signatures?: Uint8Array | null;
  /** A decider in the place of the real one. */
  readonly decide?: DecideForDoor;
}

/** Opens a door on a unix socket. */
export async function openTestDoor({
  plans,
  signatures = null,
  decide,
  ...options
}: TestDoorOptions): Promise<TestDoor> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-door-'));
  const path = join(folder, 'door.sock');
  const journal: RequestLogEntry[] = [];
  const faults: unknown[] = [];
  const logged: string[] = [];
  const reporter = createDecisionReporter({ onFault: (error) => faults.push(error) });
  const { table } = openPlans({ plans: [...plans], signatures }, reporter);
  const secret = randomBytes(32);
  const services = {
    plans: table,
    challenges: createChallenges({ secrets: () => ({ current: secret, previous: [] }), cost: 20 }),
    credentials: createCredentialVerifier(sha256),
    classifier: { country: () => null, asn: () => null, bot: () => undefined },
    unserved: createUnserved({ plans: table, listed: false, onUnserved: () => undefined }),
  };
  const deciderOf = (flavour: ProxyFlavour): DecideForDoor =>
    decide ??
    createDoorDecider({
      services,
      requestLog: { done: (entry) => void journal.push(entry) },
      enforced: ENFORCED[flavour],
      onFault: (error) => faults.push(error),
    });
  const door = await openHttpDoor({
    address: { path },
    decide: Object.fromEntries(FLAVOURS.map((flavour) => [flavour, deciderOf(flavour)])) as Record<
      ProxyFlavour,
      DecideForDoor
    >,
    tickets: createTickets(),
    secrets: readDoorSecrets(DOOR_SECRET, 'the test'),
    log: (sentence) => void logged.push(sentence),
    ...options,
  });
  return {
    door,
    path,
    journal,
    faults,
    logged,
    async close() {
      await door.stop(0);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface SeenOrigin {
  readonly port: number;
  readonly seen: IncomingMessage[];
  close(): Promise<void>;
}

/** An application that answers everything with 200, and repeats the target in a header. */
export async function startSeenOrigin(headers: OutgoingHttpHeaders = {}): Promise<SeenOrigin> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    request.resume();
    response.writeHead(200, {
      ...{ 'x-origin': 'yes', 'x-target': encodeURIComponent(request.url ?? '') },
      ...headers,
    });
    response.end('origin');
  });
  const listening = await listenLocally(server);
  return { ...listening, seen };
}

export interface RunningProxy {
  readonly port: number;
  /** What it printed. */
  readonly printed: () => string;
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** The door's socket. */
  readonly path: string;
  /** The application's port. */
  readonly origin: number;
  /** Changes the shipped text further. */
  readonly change?: (text: string) => string;
}

const shipped = (name: string): string =>
  readFileSync(new URL(`../../fixtures/proxies/${name}`, import.meta.url), 'utf8');

/** Replaces a text that occurs; a shipped file that has lost it fails the test. */
function replace(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the shipped configuration has no \`${from}\``);
  return text.replaceAll(from, to);
}

/** nginx with the shipped file. A request with `X-Test-Visitor` is of a visitor with that address. */
export async function startNginx({
  path,
  origin,
  change = (text) => text,
}: ProxyOptions): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-nginx-'));
  const port = await freePort();
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ');
  const secret = join(folder, 'door.conf');
  writeFileSync(secret, `map "" $edgeplan_door { default "${DOOR_SECRET}"; }\n`);
  let text = change(shipped('nginx.conf'));
  text = replace(
    text,
    'worker_processes auto;',
    `worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log; ${user}`,
  );
  text = replace(text, 'http {', `http { access_log off; ${temporary}`);
  text = replace(text, 'unix:/run/edgeplan/door.sock', `unix:${path}`);
  text = replace(text, 'server 127.0.0.1:3000', `server 127.0.0.1:${origin}`);
  text = replace(text, '/etc/nginx/edgeplan-door.conf', secret);
  text = replace(
    text,
    'listen 80;',
    `listen 127.0.0.1:${port}; set_real_ip_from 127.0.0.1; real_ip_header X-Test-Visitor;`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, text);
  const log = join(folder, 'error.log');
  return startProxy({ folder, port, log }, findProgram('nginx')!, ['-p', folder, '-e', log, '-c', file]);
}

/** Caddy with the shipped file. */
export async function startCaddy({
  path,
  origin,
  change = (text) => text,
}: ProxyOptions): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-caddy-'));
  const port = await freePort();
  let text = change(shipped('Caddyfile'));
  text = replace(text, 'unix//run/edgeplan/door.sock', `unix/${path}`);
  text = replace(text, 'reverse_proxy 127.0.0.1:3000', `reverse_proxy 127.0.0.1:${origin}`);
  text = replace(text, '\n:80 {', `\n:${port} {\n\tbind 127.0.0.1`);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, text);
  const args = ['run', '--config', file, '--adapter', 'caddyfile'];
  return startProxy({ folder, port, log: null }, findProgram('caddy')!, args);
}

interface ProxyPlace {
  readonly folder: string;
  readonly port: number;
  /** A file that it logs to; `null`: what it prints. */
  readonly log: string | null;
}

async function startProxy(
  { folder, port, log }: ProxyPlace,
  program: string,
  args: readonly string[],
): Promise<RunningProxy> {
  const env = {
    ...process.env,
    EDGEPLAN_DOOR: DOOR_SECRET,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  };
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const ended = once(child, 'exit');
  const printed = (): string =>
    log === null ? text : `${text}${readFileSync(log, { encoding: 'utf8', flag: 'a+' })}`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${printed()}`);
    return accepts(port);
  }, `${program} to listen`);
  return {
    port,
    printed,
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
