/** A real HTTP server on this machine that publishes a list, and what it was asked. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
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

/** Starts one. */
export async function startFeedServer(): Promise<FeedServer> {
  const asked: AskedFeed[] = [];
  const answers: FeedServer['answers'] = new Map();
  const server = createServer(({ url: path = '', headers }, response) => {
    asked.push({ path, headers });
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end();
    else answer(response, headers);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ asked, answers },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
