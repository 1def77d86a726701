/** `edgeplan agent` in a folder of its own, upgraded by `--upgrade`: its processes, and proxies that ask without pause. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';
import { edgeplan, type Run, startEdgeplan } from './built.ts';
import { askDoor, connectDoor } from './ext-authz.ts';
import { envoyCheck } from './ext-authz-rig.ts';
import {
  argumentsOf,
  binary,
  headersBinary,
  helloFrame,
  notifyFrame,
  spopClient,
  text,
} from './spop-frames.ts';
import { until } from './until.ts';
import { isRunning } from './worker-node.ts';

/** The secret of the HTTP door. */
export const AGENT_SECRET = 'a-secret-of-more-than-sixteen-octets';

/** The doors of an agent as its start prints them: `tcp://…` or `unix:…`. */
export interface AgentDoors {
  readonly spop: string;
  readonly http: string;
  readonly grpc: string;
}

/** An agent whose processes follow each other. */
export interface UpgradedAgent {
  readonly doors: AgentDoors;
  readonly first: number;
  readonly data: string;
  /** The process that has the folder now. */
  pid(): number;
  /** What its processes have printed. */
  text(): string;
  signal(name: NodeJS.Signals): void;
  /** Runs `edgeplan agent --upgrade` with the arguments of the start and these. */
  upgrade(...more: readonly string[]): Promise<Run>;
  /** Ends all processes of the agent. */
  end(): Promise<void>;
}

/** Where an agent runs. */
export interface AgentPlace {
  readonly cwd: string;
  readonly data: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the agent. @param args with the three doors */
export async function startUpgradedAgent(
  args: readonly string[],
  { cwd, data, env = {} }: AgentPlace,
): Promise<UpgradedAgent> {
  const all = ['agent', ...args, '--data', data];
  const child = startEdgeplan(all, { cwd, env });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      printed += part;
    });
  }
  const isUp = (): boolean => /^process \d+$/m.test(printed);
  await until(() => isUp() || child.exitCode !== null, 'the agent', 60_000);
  const pids = new Set([child.pid!]);
  const pid = (): number => {
    const now = Number(readFileSync(join(data, 'edgeplan.pid'), 'utf8'));
    pids.add(now);
    return now;
  };
  const doorOf = (name: string): string => {
    const [, address] = new RegExp(`^${name} at (\\S+)$`, 'm').exec(printed) ?? [];
    if (address === undefined) throw new Error(`the agent has no door ${name}: ${printed}`);
    return address;
  };
  return {
    doors: { spop: doorOf('SPOP'), http: doorOf('HTTP'), grpc: doorOf('ext_authz') },
    first: child.pid!,
    data,
    pid,
    text: () => printed,
    signal: (name) => void process.kill(pid(), name),
    async upgrade(...more) {
      const run = await edgeplan([...all, ...more, '--upgrade'], { cwd, env });
      pid();
      return run;
    },
    async end() {
      pid();
      for (const one of pids) if (isRunning(one)) process.kill(one, 'SIGKILL');
      await until(() => [...pids].every((one) => !isRunning(one)), 'the end of the agent', 60_000);
    },
  };
}

/** Node's options for an address of a door. */
export function httpPlace(address: string): { readonly socketPath: string } | { readonly port: number } {
  if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length) };
  return { port: Number(new URL(address).port) };
}

/** What a proxy sends about a visitor's request. */
export function proxied(uri: string): Readonly<Record<string, string>> {
  return {
    'X-Edgeplan-Door': AGENT_SECRET,
    'X-Forwarded-Method': 'GET',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'shop.test',
    'X-Forwarded-Uri': uri,
    'X-Forwarded-For': '203.0.113.7',
  };
}

export interface DoorReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Asks at the HTTP door. @param agent default: a connection of its own */
export function askHttp(
  address: string,
  { path = '/caddy', headers, agent = false }: HttpQuestion,
): Promise<DoorReply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', ...httpPlace(address), path, headers, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }));
    });
    sent.on('error', reject).end();
  });
}

interface HttpQuestion {
  readonly path?: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly agent?: Agent | false;
}

/** A connection to the SPOP door whose handshake is over, with one question at a time. */
export interface SpopQuestions {
  ask(uri: string): Promise<Readonly<Record<string, unknown>>>;
  isClosed(): boolean;
  close(): void;
}

/** Connects as HAProxy does. */
export async function openSpop(address: string): Promise<SpopQuestions> {
  const client = await spopClient(address);
  client.send(helloFrame());
  const next = async (): Promise<(typeof client.frames)[number]> => {
    while (client.frames.length === 0) {
      if (client.isClosed()) throw new Error('the door has closed the connection');
      await Promise.race([once(client.socket, 'data'), client.closed]);
    }
    return client.frames.shift()!;
  };
  await next();
  const hdrs = binary(headersBinary([['host', 'shop.test']]));
  let stream = 0n;
  return {
    async ask(uri) {
      stream++;
      client.send(notifyFrame(argumentsOf({ uri: text(uri), hdrs }), { stream }));
      const frame = await next();
      if (frame.type !== 103 || frame.stream !== stream) throw new Error(`a frame of the type ${frame.type}`);
      return frame.values;
    },
    isClosed: client.isClosed,
    close: () => void client.socket.destroy(),
  };
}

/** What proxies saw. */
export interface ProxyLoad {
  /** Decisions by door. */
  readonly decided: Readonly<Record<keyof AgentDoors, () => number>>;
  /** Failed decisions, each with its reason. */
  readonly faults: string[];
  /** Resolves when every proxy has got its last decision. */
  stop(): Promise<void>;
}

interface LoadState {
  stopping: boolean;
  readonly decided: Record<keyof AgentDoors, number>;
  readonly faults: string[];
}

/** Asks about `/` at each door on several connections without pause. */
export function startProxies(doors: AgentDoors, each: number): ProxyLoad {
  const state: LoadState = { stopping: false, decided: { spop: 0, http: 0, grpc: 0 }, faults: [] };
  const asking = Array.from({ length: each }, () => [
    askSpop(doors.spop, state),
    askForwardAuth(doors.http, state),
    askGrpc(doors.grpc, state),
  ]).flat();
  return {
    decided: {
      spop: () => state.decided.spop,
      http: () => state.decided.http,
      grpc: () => state.decided.grpc,
    },
    faults: state.faults,
    async stop() {
      state.stopping = true;
      await Promise.all(asking);
    },
  };
}

function noteFault({ faults }: LoadState, door: string, error: unknown): void {
  faults.push(`${door}: ${error instanceof Error ? error.message : String(error)}`);
}

/** One connection for all requests: HAProxy fails what is under way when one ends. */
async function askSpop(address: string, state: LoadState): Promise<void> {
  try {
    const on = await openSpop(address);
    while (!state.stopping) {
      const { action } = await on.ask('/');
      if (action !== 'forward') throw new Error(`the action ${String(action)}`);
      state.decided.spop++;
    }
    on.close();
  } catch (error) {
    noteFault(state, 'SPOP', error);
  }
}

async function askForwardAuth(address: string, state: LoadState): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!state.stopping) {
    try {
      const { status } = await askHttp(address, { headers: proxied('/'), agent });
      if (status !== 200) throw new Error(`status ${status}`);
      state.decided.http++;
    } catch (error) {
      noteFault(state, 'HTTP', error);
    }
  }
  agent.destroy();
}

/** A call that the client had ready when the GOAWAY came is refused by the client itself, and goes out again. */
async function askGrpc(address: string, state: LoadState): Promise<void> {
  const check: JsonObject = envoyCheck({});
  while (!state.stopping) {
    const session = connectDoor(address);
    let left = false;
    session.on('goaway', () => {
      left = true;
    });
    session.on('error', (error) => noteFault(state, 'gRPC', error));
    while (!left && !state.stopping && !session.closed) {
      try {
        await askDoor(session, check);
        state.decided.grpc++;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        const isRefused =
          code === 'ERR_HTTP2_GOAWAY_SESSION' || String(error).includes('NGHTTP2_REFUSED_STREAM');
        // The client refuses it before it reports the GOAWAY.
        const isLeft = (): boolean => left || session.closed;
        if (!isRefused) noteFault(state, 'gRPC', error);
        else await until(isLeft, 'the GOAWAY', 10_000).catch(() => noteFault(state, 'gRPC', error));
      }
    }
    session.close();
  }
}
