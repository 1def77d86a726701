/** Mixed traffic for a node under soak: every kind of request there is, those included that should never be. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { connect } from 'node:net';
import { abuseKinds } from './abuse.ts';

export const SOAK_HOST = 'shop.test';
const PAGES = 3_000;
const LARGE = Buffer.alloc(512 * 1024, 'y');
const PAGE = 'x'.repeat(4_096);
/** Milliseconds for an answer, on a machine that does other things too. */
const PATIENT_MS = 60_000;

/** What visitors of a soaked node ask its origin for. */
export async function startSoakOrigin(): Promise<Server> {
  const server = createServer((message, response) => {
    const path = message.url ?? '';
    // With this header Node adds no `Keep-Alive`.
    response.setHeader('connection', 'keep-alive');
    response.on('error', () => undefined);
    message.on('error', () => undefined);
    message.resume();
    if (path.startsWith('/reset')) return void message.socket.destroy();
    if (path === '/refuse') return void response.writeHead(413).end('no');
    if (path === '/cut') {
      response.write('half');
      return void setTimeout(() => message.socket.destroy(), 50);
    }
    if (path.startsWith('/cached')) response.setHeader('cache-control', 'max-age=5');
    if (path.startsWith('/large')) return void response.end(LARGE);
    if (path.startsWith('/slow')) return void setTimeout(() => response.end('slow'), 300);
    if (path.startsWith('/cached')) return void response.end(PAGE);
    message.on('end', () => response.end(`<p>${path.length}</p>`));
  });
  server.on('upgrade', (_message, socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.pipe(socket);
  });
  // The node closes idle connections first, also on a busy machine, since no response announces this time: a POST on a
  // connection that its origin closes at that moment is answered 502, as it must not be sent twice (RFC 9110 §9.2.2).
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export interface Ports {
  readonly http: number;
  readonly tls: number;
}

/** Its name, its share of requests, a run, and the result of each run. */
export type Kind = readonly [name: string, share: number, run: () => Promise<unknown>, wanted: unknown];

export interface Traffic {
  /** Kinds of requests that were answered as they should be, and how often. */
  readonly done: Readonly<Record<string, number>>;
  /** What was not. */
  readonly problems: string[];
  /** Sends no more until `resume`; resolves when every request has ended. */
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly body?: string;
  readonly secure?: boolean;
  readonly alone?: boolean;
}

/** Sends about `perSecond` requests a second until it is stopped. */
export function startTraffic({ http, tls }: Ports, perSecond: number): Traffic {
  const done: Record<string, number> = {};
  const problems: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 24 });
  const tlsAgent = new TlsAgent({
    keepAlive: true,
    maxSockets: 8,
    rejectUnauthorized: false,
    servername: SOAK_HOST,
  });
  const running = new Set<Promise<void>>();
  let sessions: ClientHttp2Session[] = [];

  function open({
    path,
    method = 'GET',
    body,
    secure = false,
    alone = false,
  }: Sent): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const send = secure ? tlsRequest : request;
      const one = send(
        {
          host: '127.0.0.1',
          port: secure ? tls : http,
          path,
          method,
          headers: { host: SOAK_HOST, ...(body === undefined ? {} : { 'content-length': body.length }) },
          agent: alone ? false : secure ? tlsAgent : agent,
          ...(secure ? { rejectUnauthorized: false, servername: SOAK_HOST } : {}),
        },
        resolve,
      );
      one.on('error', reject);
      one.end(body);
    });
  }

  async function status(sent: Sent): Promise<number> {
    const answer = await open(sent);
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode ?? 0;
  }

  function session(): ClientHttp2Session {
    sessions = sessions.filter((one) => !one.closed && !one.destroyed);
    if (sessions.length < 4) {
      const made = connectHttp2(`https://127.0.0.1:${tls}`, {
        servername: SOAK_HOST,
        rejectUnauthorized: false,
      });
      made.on('error', (error) => problems.push(`http2: ${error.message}`));
      sessions.push(made);
    }
    const [first] = sessions;
    // Sessions come and go: one in a hundred requests is its last. One that connects would fail the requests that wait for it.
    if (sessions.length > 1 && !first!.connecting && Math.random() < 0.01) first!.close();
    return sessions.at(-1)!;
  }

  async function http2(path: string): Promise<number> {
    const stream = session().request({ ':path': path, ':authority': SOAK_HOST });
    const [headers] = await once(stream, 'response');
    stream.resume();
    await once(stream, 'close');
    return headers[':status'];
  }

  /** Leaves in the middle of an answer. */
  async function leave(secure: boolean): Promise<number> {
    const answer = await open({ path: '/large', secure, alone: true });
    answer.on('error', () => undefined);
    await once(answer, 'data');
    answer.destroy();
    return answer.statusCode ?? 0;
  }

  /** What came until the node closed, or until the client left after so many milliseconds. */
  async function raw(octets: string, ms: number): Promise<string> {
    const socket = connect(http, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.write(octets);
    const late = setTimeout(() => socket.destroy(), ms);
    await new Promise((resolve) => socket.on('close', resolve));
    clearTimeout(late);
    return text;
  }

  const page = (): string => `/cached/${Math.floor(Math.random() * PAGES)}`;
  const kinds: readonly Kind[] = [
    ['plain', 20, () => status({ path: '/page?a=1' }), 200],
    ['cached', 20, () => status({ path: page() }), 200],
    ['tls', 8, () => status({ path: '/page', secure: true }), 200],
    ['tls, new connection', 4, () => status({ path: page(), secure: true, alone: true }), 200],
    ['http2', 12, () => http2(page()), 200],
    ['http2, blocked', 2, () => http2('/blocked'), 403],
    ['blocked', 5, () => status({ path: '/blocked' }), 403],
    ['challenged', 5, () => status({ path: '/members/a' }), 403],
    ['form', 6, () => status({ path: '/form', method: 'POST', body: 'name=anna&text=hello' }), 200],
    [
      'attack',
      3,
      () => status({ path: '/form', method: 'POST', body: "q=1' UNION SELECT password FROM users--" }),
      403,
    ],
    ['failing origin', 2, () => status({ path: '/reset' }), 502],
    ['slow origin', 2, () => status({ path: '/slow' }), 200],
    ['left', 3, () => leave(false), 200],
    ['left, tls', 2, () => leave(true), 200],
    ['nonsense', 3, async () => (await raw('nonsense\r\n\r\n', PATIENT_MS)).slice(0, 12), 'HTTP/1.1 400'],
    ['half a head', 1, () => raw(`GET / HTTP/1.1\r\nHost: ${SOAK_HOST}\r\nX: `, 500), ''],
    [
      'half a body',
      2,
      () => raw(`POST /form HTTP/1.1\r\nHost: ${SOAK_HOST}\r\nContent-Length: 99\r\n\r\nhalf`, 500),
      '',
    ],
  ];
  const deck = [...kinds, ...abuseKinds({ http, tls }, SOAK_HOST)].flatMap((kind) =>
    Array<typeof kind>(kind[1]).fill(kind),
  );

  function one(): void {
    const [name, , run, wanted] = deck[Math.floor(Math.random() * deck.length)]!;
    const ended = run()
      .then((got) => {
        if (got === wanted) done[name] = (done[name] ?? 0) + 1;
        else problems.push(`${name}: ${String(got)}`);
      })
      .catch((error: Error) => problems.push(`${name}: ${error.message}`))
      .then(() => void running.delete(ended));
    running.add(ended);
  }

  let isPaused = false;
  // Bounded by what is under way too: a node that hangs is told by too few requests, not by a heap of them here.
  const timer = setInterval(() => {
    for (let count = 0; !isPaused && count < perSecond / 20 && running.size < 200; count++) one();
  }, 50);
  async function pause(): Promise<void> {
    isPaused = true;
    await Promise.all(running);
  }
  return {
    done,
    problems,
    pause,
    resume() {
      isPaused = false;
    },
    async stop() {
      await pause();
      clearInterval(timer);
      agent.destroy();
      tlsAgent.destroy();
      for (const open of sessions) open.destroy();
    },
  };
}
