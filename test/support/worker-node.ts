/** `edgeplan node --workers` as a process of its own, and clients that ask it from many addresses. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { startEdgeplan } from './built.ts';
import { metricAt } from './metric.ts';
import { until } from './publish-setup.ts';
import { missingFile } from './requires.ts';

export interface WorkerNode {
  readonly pid: number;
  readonly port: number;
  /** `null` without TLS. */
  readonly tlsPort: number | null;
  /** `http://127.0.0.1:port` */
  readonly operations: string;
  /** Processes of the workers, as they are now. */
  workers(): readonly number[];
  out(): string;
  err(): string;
  /** Waits until stderr says it. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  metric(series: string): Promise<number>;
  /** The status of a path of the operators' listener. */
  status(path: string): Promise<number>;
  /** What the operators' listener answers, on a connection of its own: one from before may be closed by now. */
  operated(path: string): Promise<Answer>;
  signal(name: NodeJS.Signals): void;
  /** Its exit code, once it has one; `null`: it was killed. */
  readonly ended: Promise<number | null>;
}

/** What the operators' listener answers to. */
const LOCAL = { host: '127.0.0.1' };
/** Milliseconds for anything to come about on a machine that is busy otherwise. */
const PATIENCE_MS = 60_000;

export interface WorkerNodeOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Special addresses that origins may have. Default: those of loopback. */
  readonly allowOrigins?: string;
}

export async function startWorkerNode(
  args: readonly string[],
  { cwd, env = {}, allowOrigins = '127.0.0.0/8' }: WorkerNodeOptions,
): Promise<WorkerNode> {
  const ports = ['--port', '0', '--ops-port', '0', '--allow-origins', allowOrigins];
  const child = startEdgeplan(['node', ...ports, ...args], { cwd, env });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  // The lines of the start; on stderr where the decision log has stdout.
  const started = (): string => `${out}\n${err}`;
  await until(() => /^plans from /m.test(started()) || child.exitCode !== null, 'the node', PATIENCE_MS);
  const [, port] = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(started()) ?? [];
  if (port === undefined) throw new Error(`the node did not start: ${err}`);
  const tlsPort = /listening on https:\/\/127\.0\.0\.1:(\d+)/.exec(started())?.[1];
  const operations = /operators: (\S+)\/metrics/.exec(started())![1]!;
  const pid = child.pid!;
  const operated = (path: string): Promise<Answer> =>
    ask({ port: Number(new URL(operations).port), path, headers: LOCAL });
  return {
    pid,
    port: Number(port),
    tlsPort: tlsPort === undefined ? null : Number(tlsPort),
    operations,
    workers: () => childrenOf(pid),
    out: () => out,
    err: () => err,
    said: (pattern) => until(() => pattern.exec(err), `stderr to say ${pattern}`, PATIENCE_MS),
    metric: (series) => metricAt(operations, series),
    status: async (path) => (await operated(path)).status,
    operated,
    signal: (name) => void child.kill(name),
    ended,
  };
}

/** Linux tells a process's children; `null` reasons to skip what needs them. */
export const NO_CHILDREN = existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
  ? null
  : 'the system does not tell the processes of workers';

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** util-linux has the tool; `null` reasons to skip what needs it. */
export const NO_LIMITS = NO_CHILDREN ?? missingFile('/usr/bin/prlimit', 'util-linux');

/** Keeps a process from opening files, and lets it again. */
export function filesOf(pid: number): { forbid(): void; allow(): void } {
  const limits = (...args: string[]): string =>
    execFileSync('/usr/bin/prlimit', ['--pid', String(pid), ...args], { encoding: 'utf8' });
  const most = limits('--nofile', '--output', 'SOFT', '--noheadings').trim();
  return {
    forbid: () => void limits('--nofile=1:'),
    allow: () => void limits(`--nofile=${most}:`),
  };
}

/** Whether a process is there and not only its entry, which stays until somebody asks what became of it. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Asking {
  readonly port: number;
  readonly path: string;
  /** An address of this machine; default 127.0.0.1. */
  readonly from?: string;
  /** A connection to ask on; default: one of its own. */
  readonly agent?: Agent;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with POST; absent: GET. */
  readonly body?: string;
}

/** Asks `shop.test`. @throws the system's error when the connection breaks */
export function ask({ port, path, from = '127.0.0.1', agent, headers = {}, body }: Asking): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      method: body === undefined ? 'GET' : 'POST',
      headers: { host: 'shop.test', ...headers },
      localAddress: from,
      agent: agent ?? false,
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.end(body);
  });
}

/** So many that every worker of a few meets one, but for less than one run in a million. */
export const ADDRESSES: readonly string[] = Array.from({ length: 40 }, (_, at) => `127.0.1.${at + 1}`);

/** What each address is answered, in their order. */
export function askFromAll(port: number, path: string): Promise<readonly Answer[]> {
  return Promise.all(ADDRESSES.map((from) => ask({ port, path, from })));
}

/** A connection kept open. */
export function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}
