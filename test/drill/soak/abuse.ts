/** What hostile visitors do to a node under soak, each with how it must end. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { statusesOf, textOf } from '../../support/raw.ts';
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  field,
  frame,
  number32,
  openRawHttp2,
  requestFields,
  setting,
} from '../../support/raw-http2.ts';
import type { Kind, Ports } from './traffic.ts';

/** RFC 9113 §7. */
const CANCEL = 8;
/** `SETTINGS_INITIAL_WINDOW_SIZE`. */
const WINDOW = 4;

/**
 * URLs that are requested once each before the first is requested again, long after it has expired. Each new one takes 170
 * octets of the index of cache files; with more, that index would grow in the whole time.
 */
const NEW_KEYS = 1_000;

/** Kinds of abuse from visitors of `host`. */
export function abuseKinds({ http, tls }: Ports, host: string): readonly Kind[] {
  const head = (line: string, more = ''): string => `${line} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
  const open = (octets: string | Buffer): Socket => {
    const socket = connect(http, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(octets);
    return socket;
  };
  /** The statuses that come back until the node closes. */
  const statuses = async (octets: string): Promise<string> =>
    statusesOf(await textOf(open(octets))).join(' ');

  async function rapidReset(): Promise<string> {
    const peer = await openRawHttp2(tls);
    for (let stream = 1; stream < 600; stream += 2) {
      peer.send(
        frame(FRAME.headers, END_HEADERS | END_STREAM, stream, requestFields('/slow')),
        frame(FRAME.reset, 0, stream, number32(CANCEL)),
      );
    }
    await Promise.race([peer.closed, wait(1_000)]);
    peer.socket.destroy();
    return 'over';
  }

  async function takesNothing(): Promise<string> {
    const peer = await openRawHttp2(tls, setting(WINDOW, 0));
    for (let stream = 1; stream < 20; stream += 2) {
      peer.send(frame(FRAME.headers, END_HEADERS | END_STREAM, stream, requestFields('/large')));
    }
    await Promise.race([peer.closed, wait(1_500)]);
    peer.socket.destroy();
    return 'over';
  }

  async function pings(): Promise<string> {
    const peer = await openRawHttp2(tls);
    for (let count = 0; count < 2_000; count++) peer.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
    await Promise.race([peer.closed, wait(1_000)]);
    peer.socket.destroy();
    return 'over';
  }

  async function endlessHead(): Promise<string> {
    const peer = await openRawHttp2(tls);
    peer.send(frame(FRAME.headers, END_STREAM, 1, requestFields('/page')));
    const more = field('x-more', 'm'.repeat(8_000));
    for (let count = 0; count < 100; count++) peer.send(frame(FRAME.continuation, 0, 1, more));
    await peer.closed;
    return 'closed';
  }

  async function readsNothing(): Promise<string> {
    const socket = open(head('GET /large'));
    socket.pause();
    await wait(1_500);
    socket.destroy();
    return 'over';
  }

  async function switches(): Promise<string> {
    const key = randomBytes(16).toString('base64');
    const more = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n`;
    const socket = open(head('GET /socket', more));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.resume();
    for (let count = 0; count < 10; count++) {
      socket.write(randomBytes(2_000));
      await wait(20);
    }
    socket.destroy();
    return answer.toString('latin1', 0, 12);
  }

  async function cutBody(): Promise<string> {
    const text = await textOf(open(head('GET /cut')));
    return text.includes('half') && !text.includes('\r\n0\r\n') ? 'short' : `whole: ${text.slice(0, 40)}`;
  }

  let requested = 0;
  const newKey = (): Promise<string> =>
    statuses(head(`GET /cached/new-${requested++ % NEW_KEYS}`, 'Connection: close\r\n'));

  const pages = 50;
  const pipelined = head('GET /page').repeat(pages - 1) + head('GET /page', 'Connection: close\r\n');
  return [
    ['rapid reset', 1, rapidReset, 'over'],
    ['zero window', 1, takesNothing, 'over'],
    ['pings', 1, pings, 'over'],
    ['endless head', 1, endlessHead, 'closed'],
    ['reads nothing', 2, readsNothing, 'over'],
    ['switched', 2, switches, 'HTTP/1.1 101'],
    [
      'refused upload',
      2,
      () => statuses(head('POST /refuse', 'Content-Length: 4000000\r\n') + 'u'.repeat(2_000_000)),
      '413',
    ],
    ['cut body', 2, cutBody, 'short'],
    [
      'unknown host',
      2,
      () =>
        statuses(
          `GET / HTTP/1.1\r\nHost: ${randomBytes(8).toString('hex')}.test\r\nConnection: close\r\n\r\n`,
        ),
      '421',
    ],
    ['large head', 1, () => statuses(head('GET /', `X-Large: ${'l'.repeat(1_000)}\r\n`.repeat(200))), '431'],
    ['pipelined', 1, () => statuses(pipelined), Array<number>(pages).fill(200).join(' ')],
    ['new keys', 4, newKey, '200'],
  ];
}
