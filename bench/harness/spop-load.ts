/**
 * A client of an agent's SPOP door that costs less than any agent: frames made before they are sent, ACKs counted and looked at no
 * further than their stream id.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  argumentsOf,
  binary,
  headersBinary,
  helloFrame,
  type Items,
  notifyFrame,
  text,
} from '../../test/support/spop-frames.ts';

/** Frames of different requests, sent in turn; stream ids are their indexes from 1 on. */
const DISTINCT = 4_096;
/** Octets before the stream id of a frame: its length, its type, its flags. */
const STREAM_AT = 9;

/** Requests at a door. */
export interface SpopLoad {
  /** Sends so many requests, `window` of them at once on each connection. */
  run(count: number): Promise<void>;
  /** Sends at a steady rate; milliseconds until each answer, and how many requests got none within ten seconds. */
  pace(perSecond: number, seconds: number): Promise<Paced>;
  close(): void;
}

export interface Paced {
  readonly times: readonly number[];
  readonly lost: number;
}

export interface SpopLoadOptions {
  readonly port: number;
  readonly host: string;
  readonly connections: number;
  readonly window: number;
}

interface Line {
  readonly socket: Socket;
  answered: (stream: number) => void;
}

/** GETs of a browser for different pages from different addresses; rules of `subjects/node-rules.ts` are about none of them. */
function requestArguments(index: number, host: string): Items {
  const headers = headersBinary([
    ['host', host],
    [
      'user-agent',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
    ],
    ['accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    ['accept-encoding', 'gzip, deflate, br'],
    ['accept-language', 'en-GB,en;q=0.9'],
    ['cookie', `session=${(index * 2_654_435_761) % 4_294_967_296}`],
  ]);
  return argumentsOf({
    uri: text(`/shop/item-${index}?ref=${index % 97}`),
    src: { type: 'ipv4', octets: [203, 0, 113 - (index >> 8), index & 255] },
    hdrs: binary(headers),
  });
}

/** Connects, with the handshake done. @throws Error when a door closes a connection */
export async function openSpopLoad({ port, host, connections, window }: SpopLoadOptions): Promise<SpopLoad> {
  const frames = Array.from({ length: DISTINCT }, (_, index) =>
    notifyFrame(requestArguments(index, host), { stream: BigInt(index + 1) }),
  );
  let failed: (error: Error) => void = () => undefined;
  const lines = await Promise.all(
    Array.from({ length: connections }, () => openLine(port, (error) => failed(error))),
  );
  let next = 0;
  function send({ socket }: Line): number {
    const index = next++ % DISTINCT;
    socket.write(frames[index]!);
    return index + 1;
  }
  return {
    run: (count) =>
      new Promise((resolve, reject) => {
        failed = reject;
        let unsent = count;
        let unanswered = count;
        for (const line of lines) {
          line.answered = () => {
            if (--unanswered === 0) resolve();
            else if (unsent > 0) {
              unsent--;
              send(line);
            }
          };
        }
        for (let turn = 0; turn < window; turn++) {
          for (const line of lines) {
            if (unsent === 0) return;
            unsent--;
            send(line);
          }
        }
      }),
    async pace(perSecond, seconds) {
      const times: number[] = [];
      const sentAt = new Map<number, number>();
      const breaking = new Promise<never>((_, reject) => {
        failed = reject;
      });
      for (const line of lines) {
        line.answered = (stream) => {
          times.push(performance.now() - sentAt.get(stream)!);
          sentAt.delete(stream);
        };
      }
      const wanted = perSecond * seconds;
      const began = performance.now();
      const pacing = (async () => {
        for (let sent = 0; sent < wanted; ) {
          const due = Math.min(wanted, Math.floor(((performance.now() - began) / 1_000) * perSecond));
          for (; sent < due; sent++) {
            const now = performance.now();
            sentAt.set(send(lines[sent % lines.length]!), now);
          }
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        const until = performance.now() + 10_000;
        while (sentAt.size > 0 && performance.now() < until)
          await new Promise((resolve) => setTimeout(resolve, 5));
      })();
      await Promise.race([pacing, breaking]);
      return { times, lost: sentAt.size };
    },
    close() {
      failed = () => undefined;
      for (const { socket } of lines) socket.destroy();
    },
  };
}

async function openLine(port: number, onFailed: (error: Error) => void): Promise<Line> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  socket.write(helloFrame());
  await once(socket, 'data');
  const line: Line = { socket, answered: () => undefined };
  let rest: Buffer | null = null;
  socket.on('data', (chunk) => {
    const octets: Buffer = rest === null ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (octets.length - at >= STREAM_AT) {
      const end = at + 4 + octets.readUInt32BE(at);
      if (octets.length < end) break;
      line.answered(streamAt(octets, at + STREAM_AT));
      at = end;
    }
    rest = at === octets.length ? null : octets.subarray(at);
  });
  socket.on('error', onFailed).on('close', () => onFailed(new Error('the agent closed a connection')));
  return line;
}

/** A stream id of at most `DISTINCT`: one octet, or two and the rest of the integer (SPOE.txt §3.1). */
function streamAt(octets: Buffer, at: number): number {
  const first = octets[at]!;
  if (first < 240) return first;
  let value = first;
  for (let factor = 16, next = at + 1; ; factor *= 128, next++) {
    value += octets[next]! * factor;
    if (octets[next]! < 128) return value;
  }
}
