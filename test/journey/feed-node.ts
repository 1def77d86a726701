/**
 * A node reduced to what it owes the feed: it believes only signed pages, takes only plans whose digest is right and that
 * open, never goes back, and says what became of each.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Evaluator, loadPlan } from '../../src/engine/evaluator/index.ts';
import { type ManifestEntry, manifestText, type SignedPage } from '../../src/engine/plan/manifest.ts';

export interface Held {
  readonly revision: number;
  readonly evaluator: Evaluator | null;
  readonly entry: ManifestEntry;
  /** When it was in place, milliseconds since the epoch. */
  readonly at: number;
}

export interface TestNode {
  readonly held: ReadonlyMap<string, Held>;
  readonly pages: readonly SignedPage[];
  /** Everything that a node would refuse. */
  readonly problems: readonly string[];
  /** The id of the last event. */
  readonly position: number;
  /** What the server said last, if it said so. */
  readonly farewell: string | null;
  readonly closed: boolean;
  stop(): void;
}

export interface NodeOptions {
  readonly port: number;
  readonly token: string;
  /** SubjectPublicKeyInfo in base64. */
  readonly publicKey: string;
  /** The last event id of an earlier connection. */
  readonly resume?: number;
  readonly report?: boolean;
  /** Where plans are fetched, if not where the feed is. */
  readonly plansFrom?: number;
}

/** Whether a page's signature is that of the key. */
export function isSigned({ manifest, signature }: SignedPage, publicKey: string): boolean {
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(manifestText(manifest), 'utf8'), key, Buffer.from(signature, 'base64'));
}

export async function startNode(options: NodeOptions): Promise<TestNode> {
  const state = {
    held: new Map<string, Held>(),
    pages: [] as SignedPage[],
    problems: [] as string[],
    position: options.resume ?? 0,
    farewell: null as string | null,
    closed: false,
    stop: (): void => undefined,
  };
  let work = Promise.resolve();

  async function take(entry: ManifestEntry): Promise<void> {
    const before = state.held.get(entry.domain);
    if (before !== undefined && entry.revision < before.revision) {
      state.problems.push(`${entry.domain} went back from ${before.revision} to ${entry.revision}`);
      return;
    }
    const same = before !== undefined && before.revision === entry.revision;
    if (same || entry.digest === null) {
      const evaluator = same ? before.evaluator : null;
      state.held.set(entry.domain, { revision: entry.revision, evaluator, entry, at: Date.now() });
      if (!same) await report(entry, '');
      return;
    }
    const reason = await fetchPlan(entry);
    if (reason !== '') state.problems.push(`${entry.domain} ${entry.revision}: ${reason}`);
    await report(entry, reason);
  }

  /** Empty, or why the plan was refused; then what was held stays. */
  async function fetchPlan(entry: ManifestEntry): Promise<string> {
    const path = `/nodes/plans/${entry.digest}`;
    const { status, bytes } = await ask({ ...options, port: options.plansFrom ?? options.port }, { path });
    if (status !== 200) return `the plan was answered with ${status}`;
    if (createHash('sha256').update(bytes).digest('hex') !== entry.digest) return 'the digest is wrong';
    try {
      const evaluator = loadPlan(Uint8Array.from(bytes));
      if (evaluator.revision !== entry.revision || evaluator.domain !== entry.domain) return 'another plan';
      state.held.set(entry.domain, { revision: entry.revision, evaluator, entry, at: Date.now() });
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }

  async function report({ domain, revision }: ManifestEntry, reason: string): Promise<void> {
    if (options.report === false) return;
    const outcome = reason === '' ? 'ack' : 'nack';
    const body = JSON.stringify({ reports: [{ domain, revision, outcome, reason }] });
    const { status } = await ask(options, { path: '/nodes/reports', body });
    if (status !== 200) state.problems.push(`the report was answered with ${status}`);
  }

  function hear(event: Record<string, string>): void {
    if (event['event'] === 'end') state.farewell = JSON.parse(event['data']!).error;
    if (event['event'] !== 'manifest') return;
    const page = JSON.parse(event['data']!) as SignedPage;
    if (!isSigned(page, options.publicKey)) {
      state.problems.push('a page is not signed by the key');
      return;
    }
    if (event['id'] !== String(page.manifest.through))
      state.problems.push('the event id is not the position');
    state.pages.push(page);
    state.position = page.manifest.through;
    for (const entry of page.manifest.entries) {
      work = work
        .then(() => take(entry))
        .catch((error: Error) => {
          // A node that was stopped, or whose server was, leaves its last requests unanswered.
          if (!state.closed) state.problems.push(error.message);
        });
    }
  }

  const { request, response } = await follow(options);
  state.stop = () => {
    state.closed = true;
    request.destroy();
  };
  response.on('close', () => {
    state.closed = true;
  });
  response.on('error', () => undefined);
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      hear(readEvent(text.slice(0, end)));
      text = text.slice(end + 2);
    }
  });
  return state;
}

function readEvent(text: string): Record<string, string> {
  const fields = text.split('\n').map((line) => /^([a-z]*): ?(.*)$/.exec(line));
  return Object.fromEntries(fields.map((field) => [field?.[1] ?? '', field?.[2] ?? '']));
}

export interface Following {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** Opens the feed; the caller reads it, or leaves it unread. */
export function follow({
  port,
  token,
  resume,
}: Pick<NodeOptions, 'port' | 'token' | 'resume'>): Promise<Following> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(resume === undefined ? {} : { 'last-event-id': String(resume) }),
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path: '/nodes/feed', headers, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      if (response.statusCode === 200) resolve({ request, response });
      else reject(new Error(`the feed was answered with ${response.statusCode}`));
    });
    request.end();
  });
}

export interface Asked {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
}

/** One request with the node's token. */
export function ask(
  { port, token }: Pick<NodeOptions, 'port' | 'token'>,
  { path, body, headers = {} }: Asked,
): Promise<Answered> {
  const sent = { authorization: `Bearer ${token}`, ...headers };
  const own = body === undefined ? {} : { 'content-type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { ...sent, ...own },
      agent: false,
    } as const;
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes: Buffer.concat(chunks),
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}
