/**
 * One visitor beside many that send or take next to nothing: its latency next to them and alone, turn by turn, through
 * `edgeplan node` as it ships before one origin. Then a large body up and down, and the memory that takes.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOST, makeCertificate, type Server, startOurs } from './harness/edge-servers.ts';
import { type Helper, startHelper, usageOf } from './harness/process.ts';
import type { BenchOptions, Row } from './row.ts';

const SLOW_CLIENTS = 300;
const ROUNDS = 3;
const VISITS = 300;
/** Octets of the answer that slow clients do not read: more than kernels take for a connection. */
const ANSWER_OCTETS = 8 * 1024 * 1024;
const MB = 1024 * 1024;

export async function run({ quick }: BenchOptions): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-bench-strangers-'));
  const origin = startHelper(serveOrigin);
  const crowd = startHelper(beSlow);
  let node: Server | null = null;
  try {
    makeCertificate(folder);
    const { port } = await origin.ask<{ readonly port: number }>({ answerOctets: ANSWER_OCTETS });
    node = await startOurs('node', { folder, port, rules: [] });
    const rows: Row[] = [];
    const size = quick
      ? { clients: 30, rounds: 1, visits: 30 }
      : { clients: SLOW_CLIENTS, rounds: ROUNDS, visits: VISITS };
    for (const kind of ['senders', 'readers'] as const) {
      for (const from of ['one address', 'as many addresses'] as const) {
        rows.push(await beside({ node, crowd, kind, from, ...size }));
      }
    }
    rows.push(await memoryOf(node, quick ? 64 * MB : 1_024 * MB));
    return rows;
  } finally {
    await Promise.all([crowd.stop(), origin.stop(), node?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Crowd {
  readonly node: Server;
  readonly crowd: Helper;
  readonly kind: 'senders' | 'readers';
  readonly from: 'one address' | 'as many addresses';
  readonly clients: number;
  readonly rounds: number;
  readonly visits: number;
}

async function beside({ node, crowd, kind, from, clients, rounds, visits }: Crowd): Promise<Row> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: '127.0.9.9' });
  const alone: number[] = [];
  const together: number[] = [];
  for (let count = 0; count < visits; count++) await visit(node.port, agent);
  for (let round = 0; round < rounds; round++) {
    for (let count = 0; count < visits; count++) alone.push(await visit(node.port, agent));
    await crowd.ask({ port: node.port, host: HOST, kind, clients, spread: from !== 'one address' });
    for (let count = 0; count < visits; count++) together.push(await visit(node.port, agent));
    await crowd.ask({ leave: true });
  }
  agent.destroy();
  const [x, y] = [p99(together), p99(alone)];
  return {
    name: `GET beside ${clients} slow ${kind} from ${from} ÷ alone, p99`,
    value: x / y,
    goal: { atMost: 5 },
    unit: '×',
    note: `${x.toFixed(2)} ms and ${y.toFixed(2)} ms over ${together.length} requests each, all 200, from 5 s after they came`,
  };
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1]!;
}

/** Milliseconds of one request. @throws Error where its answer is not 200 */
async function visit(port: number, agent: Agent): Promise<number> {
  const began = performance.now();
  const asked = get({ port, host: '127.0.0.1', path: '/page', headers: { host: HOST }, agent });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  if (answer.statusCode !== 200) throw new Error(`a visitor got ${answer.statusCode}`);
  return performance.now() - began;
}

/** The highest resident memory while a body goes up and comes down, beside that before. */
async function memoryOf(node: Server, octets: number): Promise<Row> {
  const before = usageOf(node.process)?.resident ?? Number.NaN;
  let most = before;
  const looks = setInterval(() => {
    most = Math.max(most, usageOf(node.process)?.resident ?? 0);
  }, 50);
  const asked = request({
    port: node.port,
    host: '127.0.0.1',
    path: '/echo',
    method: 'POST',
    headers: { host: HOST, 'content-length': octets },
  });
  const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
  const piece = Buffer.alloc(256 * 1024, 'x');
  const sending = (async () => {
    for (let sent = 0; sent < octets; sent += piece.length) {
      if (!asked.write(piece)) await once(asked, 'drain');
    }
    asked.end();
  })();
  const [answer] = await answered;
  let came = 0;
  for await (const chunk of answer) came += (chunk as Buffer).length;
  await sending;
  clearInterval(looks);
  if (came !== octets) throw new Error(`${came} of ${octets} octets came back`);
  return {
    name: `memory while ${octets / MB} MB go up and come down ÷ before`,
    value: most / before,
    goal: { atMost: 1.5 },
    unit: '×',
    note: `resident: ${Math.round(most / MB)} MB at most, ${Math.round(before / MB)} MB before`,
  };
}

/** An origin: `/large` is large, `/echo` sends the body back, everything else is a line. */
function serveOrigin(): void {
  process.once('message', ({ answerOctets }: { answerOctets: number }) => {
    const { createServer } = process.getBuiltinModule('node:http');
    const large = Buffer.alloc(answerOctets, 'x');
    const server = createServer((message, response) => {
      if (message.url === '/large') response.end(large);
      else if (message.url === '/echo') message.pipe(response);
      else {
        message.resume();
        response.end('a page');
      }
    });
    server.listen(0, '127.0.0.1', () => {
      process.send!({ port: (server.address() as import('node:net').AddressInfo).port });
    });
  });
}

/** Connects as many clients as asked for, and answers 5 s later: by then what they asked for has come from the origin. */
function beSlow(): void {
  const { connect } = process.getBuiltinModule('node:net');
  let sockets: import('node:net').Socket[] = [];
  let timer: NodeJS.Timeout | null = null;
  interface Asked {
    readonly port: number;
    readonly host: string;
    readonly kind: string;
    readonly clients: number;
    readonly spread: boolean;
    readonly leave?: boolean;
  }
  process.on('message', ({ port, host, kind, clients, spread, leave }: Asked) => {
    if (leave === true) {
      if (timer !== null) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      sockets = [];
      setTimeout(() => process.send!({}), 500);
      return;
    }
    for (let index = 0; index < clients; index++) {
      const localAddress = spread ? `127.0.${1 + Math.floor(index / 200)}.${1 + (index % 200)}` : '127.0.0.1';
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined);
      if (kind === 'readers') {
        socket.pause();
        socket.write(`GET /large HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      } else socket.write(`POST /page HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000\r\n\r\n`);
      sockets.push(socket);
    }
    // 51 octets a second of each, as the report of this had it.
    if (kind === 'senders') {
      timer = setInterval(() => {
        for (const socket of sockets) if (socket.writable) socket.write('xxxxx');
      }, 100);
    }
    setTimeout(() => process.send!({}), 5_000);
  });
}
