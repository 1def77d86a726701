/**
 * A client that costs less than any server: keep-alive sockets, each with one request on its way at a time, answers cut
 * at their content length and looked at no further than their status.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Load {
  /** Sends `count` requests over all connections, each the next that `request` gives; resolves with the last answer. */
  run(count: number, request: () => Buffer): Promise<void>;
  /** One request, its answer whole. */
  ask(request: Buffer): Promise<HttpAnswer>;
  close(): void;
}

export interface HttpAnswer {
  readonly status: number;
  /** Without the status line, as they came. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export interface RequestParts {
  readonly method?: string;
  readonly path: string;
  readonly token: string;
  readonly body?: unknown;
}

/** The octets of one request. */
export function requestOctets({ method = 'GET', path, token, body }: RequestParts): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const sent =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\n`;
  return Buffer.from(`${head}${sent}\r\n${text}`, 'latin1');
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTHS = [Buffer.from('\ncontent-length: '), Buffer.from('\nContent-Length: ')] as const;

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  /** See `stayAwake`; not where a server needs both processors. */
  readonly sleepless: boolean;
}

/** Opens connections to a port of this machine. */
export async function openLoad({ port, connections, sleepless }: LoadOptions): Promise<Load> {
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(port)));
  return {
    async run(count, request) {
      const awake = sleepless ? stayAwake() : null;
      try {
        await drive(lines, count, request);
      } finally {
        awake?.end();
      }
    },
    ask: (request) =>
      new Promise((resolve, reject) => {
        lines[0]!.exchange(request, { answered: (octets) => resolve(readAnswer(octets)), failed: reject });
      }),
    close() {
      for (const line of lines) line.socket.destroy();
    },
  };
}

/**
 * Has the event loop turn without ever sleeping. On a virtual machine it costs a server tens of microseconds to wake a
 * client that sleeps, which would be charged to whichever side is slow enough to let it.
 */
function stayAwake(): { end(): void } {
  let ended = false;
  const turn = (): void => {
    if (!ended) setImmediate(turn);
  };
  turn();
  return {
    end() {
      ended = true;
    },
  };
}

function drive(lines: readonly Line[], count: number, request: () => Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let unsent = count;
    let unanswered = count;
    const next = (line: Line): void => {
      if (unsent === 0) return;
      unsent -= 1;
      line.exchange(request(), waiting.get(line)!);
    };
    const waiting = new Map(
      lines.map((line): [Line, Waiting] => {
        const answered = (): void => {
          unanswered -= 1;
          if (unanswered === 0) resolve();
          else next(line);
        };
        return [line, { answered, failed: reject }];
      }),
    );
    for (const line of lines) next(line);
  });
}

interface Waiting {
  answered(octets: Buffer): void;
  failed(error: Error): void;
}

interface Line {
  readonly socket: Socket;
  /** Tells `waiting` of the answer's octets, or that it was not a 200. */
  exchange(request: Buffer, waiting: Waiting): void;
}

async function openLine(port: number): Promise<Line> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  let waiting: Waiting | null = null;
  let got: Buffer | null = null;
  /** It said something while nothing was asked, as that it has waited long enough. */
  let unasked: Error | null = null;
  const fail = (error?: Error): void => waiting?.failed(error ?? new Error('the server hung up'));
  socket.on('data', (chunk) => {
    got = got === null ? chunk : Buffer.concat([got, chunk]);
    const length = lengthOf(got);
    if (length === 'untold')
      return fail(new Error(`the answer tells no content-length: ${got.toString('latin1', 0, 400)}`));
    if (length === null || got.length < length) return;
    const answer = got;
    got = null;
    if (waiting === null) {
      unasked = new Error(`the server spoke first: ${answer.toString('latin1', 0, 400)}`);
      return;
    }
    const { answered, failed } = waiting;
    // `HTTP/1.1 200`: the status is what stands from the ninth octet on.
    if (answer[9] === 0x32 && answer[10] === 0x30 && answer[11] === 0x30) answered(answer);
    else failed(new Error(`the server answered ${answer.toString('latin1', 0, 400)}`));
  });
  socket.on('error', fail).on('close', () => fail());
  return {
    socket,
    exchange(request, asker) {
      if (unasked !== null) return asker.failed(unasked);
      waiting = asker;
      socket.write(request);
    },
  };
}

/** Octets of the whole answer; `null` while its head is not there. */
function lengthOf(octets: Buffer): number | null | 'untold' {
  const end = octets.indexOf(HEAD_END);
  if (end < 0) return null;
  const found = LENGTHS.map((name) => octets.indexOf(name)).filter((place) => place >= 0 && place < end);
  const [at] = found;
  if (at === undefined) return 'untold';
  let length = 0;
  for (let digit = at + LENGTHS[0].length; octets[digit] !== 0x0d; digit++)
    length = length * 10 + octets[digit]! - 0x30;
  return end + HEAD_END.length + length;
}

function readAnswer(octets: Buffer): HttpAnswer {
  const end = octets.indexOf(HEAD_END);
  const [status, ...lines] = octets.toString('latin1', 0, end).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)] as const;
  });
  return {
    status: Number(status!.split(' ')[1]),
    headers,
    body: octets.toString('utf8', end + HEAD_END.length),
  };
}
