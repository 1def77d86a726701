/** A real HTTP server on this machine that publishes a list or a key set, and what it was asked. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One request. */
export interface AskedFeed {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** The server. */
export interface FeedServer {
  readonly url: string;
  readonly asked: AskedFeed[];
  /** Answers by path; absent: 404. */
  readonly answers: Map<string, (response: ServerResponse, headers: IncomingHttpHeaders) => void>;
  close(): Promise<void>;
}

/** Starts one; with a certificate and its key, in PEM, by https. */
export async function startFeedServer(tls?: {
  readonly cert: string;
  readonly key: string;
}): Promise<FeedServer> {
  const asked: AskedFeed[] = [];
  const answers: FeedServer['answers'] = new Map();
  const server = (tls === undefined ? createServer() : createSecureServer(tls)) as Server;
  server.on('request', ({ url: path = '', headers }, response) => {
    asked.push({ path, headers });
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end();
    else answer(response, headers);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    ...{ asked, answers },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
