/**
 * Large bodies from far away: the time of an upload and of a download through the node and through nginx, over a relay that
 * delays every octet. What both answer is compared before anything is timed.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { type AddressInfo, createServer as createRelay, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOST, makeCertificate, type Server, startOurs, startTheirs } from './harness/edge-servers.ts';
import { hasNginx } from './harness/nginx.ts';
import { median } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

/** Milliseconds each way. */
const DELAY_MS = 40;
const OCTETS = 8 * 1024 * 1024;
const ROUNDS = 5;

const KINDS = [
  { method: 'POST', http2: true, name: 'upload over HTTP/2', goal: { atMost: 3 } },
  { method: 'POST', http2: false, name: 'upload over HTTP/1.1', goal: { atMost: 1.5 } },
  { method: 'GET', http2: true, name: 'download over HTTP/2', goal: { atMost: 1.5 } },
] as const;

export async function run({ quick }: BenchOptions): Promise<readonly Row[]> {
  if (!hasNginx()) {
    const note = 'install `nginx` for this group';
    return [{ name: 'bodies from far away', value: Number.NaN, goal: null, unit: '', note }];
  }
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-bench-distance-'));
  const clean: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    makeCertificate(folder);
    const origin = await startOrigin();
    clean.unshift(origin.stop);
    const far = async (starting: Promise<Server>): Promise<Relay> => {
      const server = await starting;
      clean.unshift(server.stop);
      const relay = await startRelay(server.tlsPort!);
      clean.unshift(relay.stop);
      return relay;
    };
    const ours = await far(startOurs('node', { folder, port: origin.port, rules: [] }));
    const theirs = await far(startTheirs(origin.port, folder));
    const rows: Row[] = [];
    for (const { name, goal, ...kind } of KINDS) {
      const times = { ours: [] as number[], theirs: [] as number[] };
      for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
        const [mine, other] = [await transfer(ours.port, kind), await transfer(theirs.port, kind)];
        if (mine.text !== other.text) throw new Error(`${name}: ${mine.text} and ${other.text}`);
        times.ours.push(mine.ms);
        times.theirs.push(other.ms);
      }
      const [x, y] = [median(times.ours), median(times.theirs)];
      const note = `8 MiB over a connection of its own with ${2 * DELAY_MS} ms a round trip: ${x.toFixed(0)} ms, nginx ${y.toFixed(0)} ms`;
      rows.push({ name: `${name} from far away, node ÷ nginx`, value: x / y, goal, unit: '×', note });
    }
    return rows;
  } finally {
    for (const step of clean) await step();
  }
}

/** An origin that says how many octets it got, or sends as many. */
async function startOrigin(): Promise<Relay> {
  const server = createServer((message, response) => {
    let octets = 0;
    message.on('data', (chunk: Buffer) => {
      octets += chunk.length;
    });
    message.on('end', () => response.end(message.method === 'GET' ? Buffer.alloc(OCTETS, 'd') : `${octets}`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Relay {
  readonly port: number;
  stop(): void;
}

/** Passes the octets of connections on, late. */
async function startRelay(to: number): Promise<Relay> {
  const open = new Set<Socket>();
  const server = createRelay({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = dial({ port: to, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('close', () => open.delete(from));
      from.on('error', () => into.destroy());
      from.on('data', (chunk: Buffer) => setTimeout(() => into.write(chunk), DELAY_MS));
      from.on('end', () => setTimeout(() => into.end(), DELAY_MS));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

interface Transfer {
  readonly method: 'GET' | 'POST';
  readonly http2: boolean;
}

/** One transfer over a new connection. The text: the answer, of a download its length. */
async function transfer(
  port: number,
  { method, http2 }: Transfer,
): Promise<{ readonly ms: number; readonly text: string }> {
  const began = performance.now();
  const body = method === 'POST' ? Buffer.alloc(OCTETS, 'u') : undefined;
  const answer = http2 ? await overHttp2(port, method, body) : await overHttp1(port, method, body);
  return { ms: performance.now() - began, text: method === 'POST' ? `${answer}` : `${answer.length}` };
}

async function overHttp2(port: number, method: string, body: Buffer | undefined): Promise<Buffer> {
  const settings = { initialWindowSize: OCTETS };
  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    servername: HOST,
    rejectUnauthorized: false,
    settings,
  });
  session.once('connect', () => session.setLocalWindowSize(2 * OCTETS));
  const stream = session.request({ ':method': method, ':authority': HOST, ':path': '/' });
  stream.end(body);
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'end');
  session.destroy();
  return Buffer.concat(chunks);
}

async function overHttp1(port: number, method: string, body: Buffer | undefined): Promise<Buffer> {
  const agent = new Agent({ keepAlive: false, rejectUnauthorized: false });
  const headers = { host: HOST, ...(body === undefined ? {} : { 'content-length': body.length }) };
  const sent = request({ host: '127.0.0.1', port, method, path: '/', headers, servername: HOST, agent });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
