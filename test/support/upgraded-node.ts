/** `edgeplan node` in a folder of its own, upgraded by `--upgrade`: its processes, and clients that ask without pause. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { edgeplan, type Run, startEdgeplan } from './built.ts';
import { until } from './until.ts';
import { isRunning, startWorkerNode, type WorkerNode } from './worker-node.ts';

/** A node whose processes follow each other. */
export interface UpgradedNode {
  readonly first: WorkerNode;
  readonly data: string;
  /** The process that has the folder now. */
  pid(): number;
  /** Runs `edgeplan node --upgrade` with the arguments of the start and these. */
  upgrade(...more: readonly string[]): Promise<Run>;
  /** The same, calls `seen` with each line of progress as it comes. */
  follow(seen: (line: string) => void, ...more: readonly string[]): Promise<number | null>;
  /** Ends all processes of the node. */
  end(): Promise<void>;
}

/** Where a node runs. */
export interface UpgradedPlace {
  readonly cwd: string;
  readonly data: string;
  /** Variables of its first process and of each upgrade; absent: none. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the node with any ports. @param args without `--port` and `--ops-port` */
export async function startUpgradedNode(
  args: readonly string[],
  { cwd, data, env = {} }: UpgradedPlace,
): Promise<UpgradedNode> {
  const all = [...args, '--data', data];
  const first = await startWorkerNode(all, { cwd, env });
  const pids = new Set([first.pid]);
  const ports = ['--port', '0', '--ops-port', '0', '--allow-origins', '127.0.0.0/8'];
  const words = (more: readonly string[]): readonly string[] => [
    'node',
    ...ports,
    ...all,
    ...more,
    '--upgrade',
  ];
  const pid = (): number => {
    const now = Number(readFileSync(join(data, 'edgeplan.pid'), 'utf8'));
    pids.add(now);
    return now;
  };
  return {
    first,
    data,
    pid,
    async upgrade(...more) {
      const run = await edgeplan(words(more), { cwd, env });
      pid();
      return run;
    },
    follow(seen, ...more) {
      const child = startEdgeplan(words(more), { cwd, env });
      let rest = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop()!;
        for (const line of lines) seen(line);
      });
      child.stdout.resume();
      return new Promise((resolve) => child.once('close', resolve));
    },
    async end() {
      pid();
      for (const one of pids) if (isRunning(one)) process.kill(one, 'SIGKILL');
      await until(() => [...pids].every((one) => !isRunning(one)), 'the end of the node');
    },
  };
}

/** What clients saw. */
export interface Load {
  /** Answers of all clients so far. */
  answers(): number;
  /** Failed requests, each with its reason. */
  readonly faults: string[];
  /** Connections that the node asked to leave. */
  left(): number;
  /** Resolves when every client has got the answer to its last request. */
  stop(): Promise<void>;
}

/** Clients, and what they ask for. */
export interface LoadOptions {
  /** Clients of HTTP/1.1 and of HTTP/2. */
  readonly http1: number;
  readonly http2: number;
  /** Default: `/`. */
  readonly path?: string;
  /** The status of every right answer. Default: 200. */
  readonly status?: number;
  /** Milliseconds that a client rests after each answer. Default: 0. */
  readonly restMs?: number;
}

interface LoadState extends Required<Pick<LoadOptions, 'path' | 'status' | 'restMs'>> {
  answers: number;
  left: number;
  stopping: boolean;
  readonly faults: string[];
}

/** Asks `shop.test` on keep-alive connections again and again. */
export function startLoad(
  { port, tlsPort }: Pick<WorkerNode, 'port' | 'tlsPort'>,
  { http1, http2, path = '/', status = 200, restMs = 0 }: LoadOptions,
): Load {
  const state: LoadState = { path, status, restMs, answers: 0, left: 0, stopping: false, faults: [] };
  const asking = [
    ...Array.from({ length: http1 }, () => askOn(port, state)),
    ...Array.from({ length: http2 }, () => askOnHttp2(tlsPort!, state)),
  ];
  return {
    answers: () => state.answers,
    left: () => state.left,
    faults: state.faults,
    async stop() {
      state.stopping = true;
      await Promise.all(asking);
    },
  };
}

/** One client of HTTP/1.1: one connection at a time, and a new one where the node has closed it. */
async function askOn(port: number, state: LoadState): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!state.stopping) {
    await new Promise<void>((resolve) => {
      const { path } = state;
      const sent = request({ host: '127.0.0.1', port, path, agent, headers: { host: 'shop.test' } });
      const fail = (error: Error): void => {
        state.faults.push(`${error.message}, on a ${sent.reusedSocket ? 'used' : 'new'} connection`);
        resolve();
      };
      sent.on('error', fail);
      sent.on('response', (response) => {
        if (response.statusCode !== state.status) state.faults.push(`status ${response.statusCode}`);
        if (response.headers.connection === 'close') state.left++;
        response.on('error', fail).on('end', resolve).resume();
        state.answers++;
      });
      sent.end();
    });
    if (state.restMs > 0) await wait(state.restMs);
  }
  agent.destroy();
}

/**
 * One client of HTTP/2. A request that the client had ready when the GOAWAY came is refused by the client itself and goes out on
 * another connection (RFC 9113 §8.7).
 */
async function askOnHttp2(port: number, state: LoadState): Promise<void> {
  while (!state.stopping) {
    const session = connectHttp2(`https://127.0.0.1:${port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    let left = false;
    session.on('error', (error) => state.faults.push(error.message));
    session.on('goaway', (code) => {
      if (code !== 0) state.faults.push(`GOAWAY ${code}`);
      state.left++;
      left = true;
    });
    while (!left && !state.stopping && !session.closed) {
      await new Promise<void>((resolve) => {
        const stream = session.request({ ':path': state.path, ':authority': 'shop.test' });
        stream.on('response', (headers) => {
          if (headers[':status'] !== state.status) state.faults.push(`status ${headers[':status']}`);
          state.answers++;
        });
        stream.on('error', (error) => {
          if (stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM) state.faults.push(error.message);
        });
        stream.on('close', resolve).resume();
        stream.end();
      });
      if (state.restMs > 0) await wait(state.restMs);
    }
    session.close();
  }
}
