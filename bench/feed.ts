/** The way to the nodes: from the answer to a write until each connected node has the signed revision. */
import { connect, type Socket } from 'node:net';
import { createEventReader } from '../src/edge/following/feed.ts';
import { MAX_MANIFEST_OCTETS } from '../src/edge/following/limits.ts';
import { makeInstallation } from './data/installation.ts';
import { smallDomain } from './data/small-domains.ts';
import { delayRows } from './harness/delays.ts';
import { openLoad, requestOctets } from './harness/load.ts';
import { startServe } from './harness/process.ts';
import { race, type Side, timesText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

const NODES = 50;
const WRITES = 200;
/** Writes before the first that counts: a server that has just started compiles itself first. */
const WARM_UP = 30;
const QUICK_WRITES = 2;
/** Milliseconds between a revision's arrival at the last node and the next write. */
const PAUSE_MS = 20;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  return [...(await arrivals(options)), await readInPieces(options)];
}

async function arrivals({ quick }: BenchOptions): Promise<readonly Row[]> {
  const installation = await makeInstallation({ ruleSets: [smallDomain(1).ruleSet], nodes: NODES });
  const [{ domain, rules }] = installation.domains as [(typeof installation.domains)[number]];
  const served = await startServe(installation.folder);
  try {
    const followers = await Promise.all(installation.nodes.map((token) => follow(served.port, token)));
    const load = await openLoad({ port: served.port, connections: 1, sleepless: false });
    const rule = rules.find(({ type }) => type === 'redirect')!;
    const path = `/domains/${domain.name}/rules/redirect/${rule.id}`;
    const delays: number[] = [];
    const [warmUp, writes] = quick ? [0, QUICK_WRITES] : [WARM_UP, WRITES];
    for (let number = -warmUp; number < writes; number++) {
      const arrivals = followers.map((follower) => follower.next());
      const body = { target: `https://new.example/${1_000 + number}` };
      await load.ask(requestOctets({ method: 'PUT', path, token: installation.key, body }));
      const answered = performance.now();
      // A node may have it before the client has read that its write is stored.
      const arrived = await Promise.all(arrivals);
      if (number >= 0) delays.push(...arrived.map((at) => Math.max(0, at - answered)));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    load.close();
    for (const follower of followers) follower.close();
    return rowsOf(delays);
  } finally {
    await served.stop();
    installation.remove();
  }
}

/** Octets of a piece of the stream, as a slow connection delivers it. */
const PIECE = 100;

/** The largest event of the feed, as it arrives: the time to parse it does not depend on the number of its pieces. */
async function readInPieces(options: BenchOptions): Promise<Row> {
  const data = 'x'.repeat(MAX_MANIFEST_OCTETS - 100);
  const octets = Buffer.from(`event: manifest\ndata: ${data}\n\n`);
  const side = (name: string, piece: number): Side => ({
    name,
    run: (_, count) => {
      for (let done = 0; done < count; done++) parse(octets, piece, data.length);
    },
  });
  const [pieces, whole] = [side(`pieces of ${PIECE} octets`, PIECE), side('one piece', octets.length)];
  const result = await race(pieces, whole, options);
  return {
    name: 'an event of 1 MiB in small pieces ÷ in one',
    value: result.ratio,
    goal: { atMost: 10 },
    unit: '×',
    note: timesText(pieces, whole, result),
  };
}

function parse(octets: Uint8Array, piece: number, expected: number): void {
  let read = 0;
  const onEvent = ({ data }: { readonly data: string }): void => {
    read += data.length;
  };
  const reader = createEventReader({ limit: MAX_MANIFEST_OCTETS, onEvent });
  for (let at = 0; at < octets.length; at += piece) reader.push(octets.subarray(at, at + piece));
  if (read !== expected) throw new Error(`the reader returned ${read} characters of ${expected}`);
}

interface Follower {
  /** Resolves when the next revision has arrived, with the moment it did. */
  next(): Promise<number>;
  close(): void;
}

/** A node's feed over a bare socket; resolves once the first page is there. */
async function follow(port: number, token: string): Promise<Follower> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const waiting: ((at: number) => void)[] = [];
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (event.includes('event: manifest')) waiting.shift()?.(performance.now());
    }
  });
  const next = (): Promise<number> => new Promise((resolve) => waiting.push(resolve));
  const first = next();
  socket.write(requestOctets({ path: '/nodes/feed', token }));
  await first;
  return { next, close: () => socket.destroy() };
}

function rowsOf(delays: readonly number[]): readonly Row[] {
  return delayRows(delays, {
    note: `${NODES} nodes on SSE, a domain of 20 rules, ${delays.length} arrivals; its compile is part of it`,
    shares: [
      { name: 'write answered → revision at a node, median', share: 0.5 },
      { name: 'the same, 99th percentile', share: 0.99, goal: { atMost: 50 } },
      { name: 'the same, longest', share: 1 },
    ],
  });
}
