/** Real receivers of notifications on this machine: a mail server, an HTTP server for webhooks and SMS. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail as it arrived. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Head and body, as sent. */
  readonly raw: string;
  readonly user: string;
}

/** A mail server. */
export interface MailServer {
  readonly url: string;
  readonly mails: ReceivedMail[];
  /** The status of the next `RCPT TO`s, by address; absent: accepted. */
  readonly refusals: Map<string, number>;
  close(): Promise<void>;
}

/** Starts a mail server that accepts everything. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const refusals = new Map<string, number>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username }, _session, done) => done(null, { user: username }),
    onRcptTo({ address }, _session, done) {
      const responseCode = refusals.get(address);
      done(responseCode === undefined ? null : Object.assign(new Error('refused'), { responseCode }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
          user: String(session.user ?? ''),
        });
        done();
      });
    },
    ...options,
  });
  // A client that leaves, or refuses the certificate, is an error of its connection here.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refusals,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A request as it arrived. */
export interface ReceivedCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server that records what it gets. */
export interface Receiver {
  readonly url: string;
  readonly calls: ReceivedCall[];
  /** The status of the next answers by path, a redirect with its location, or no answer; absent: 200. */
  readonly answers: Map<string, number | 'none' | { readonly location: string }>;
  close(): Promise<void>;
}

/** Starts a receiver. `onCall` runs before the answer. */
export async function startReceiver(
  onCall: (call: ReceivedCall) => void = () => undefined,
): Promise<Receiver> {
  const calls: ReceivedCall[] = [];
  const answers: Receiver['answers'] = new Map();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const call = { path, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
      calls.push(call);
      onCall(call);
      const answer = answers.get(path) ?? 200;
      if (answer === 'none') return;
      if (typeof answer === 'number') response.writeHead(answer).end('x'.repeat(100_000));
      else response.writeHead(307, answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
