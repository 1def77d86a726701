/**
 * Tells nodes what changed. In: hints from the store and, behind them, a poll. Out: signed pages, pushed to whoever
 * follows (SSE) or awaited (long-poll). A page is read and signed once for everyone who is up to date; who comes back
 * after a gap reads on from its own position until it is. Losing any event delays and nothing more: positions say what
 * was missed.
 */
import type { SignedPage } from '../plan/manifest.ts';
import { isStoreFault } from '../store/fault.ts';
import type { Store } from '../store/store.ts';
import { readPage } from './pages.ts';
import type { PublisherLog } from './publisher.ts';
import type { Signer } from './signer.ts';

/** Where a follower's pages go. */
export interface FeedSink {
  /** One page and its JSON text. */
  push(page: SignedPage, text: string): void;
  /** Octets pushed and not taken by the reader yet. */
  backlog(): number;
  /** Resolves once the reader has taken what was pushed, or is gone. */
  drained(): Promise<void>;
  /** The last thing that is said; then the connection is closed. */
  end(reason: string): void;
}

export interface Feed {
  /** Begins to look for changes; resolves once the newest position is known. */
  start(): Promise<void>;
  /** Ends every follower, with a reason, and every wait. */
  stop(): void;
  /** The newest position seen. */
  position(): number;
  /** The page above `since`, see `readPage`. */
  page(since: number): Promise<SignedPage>;
  /** Resolves when something changed above `since`, after `timeoutMs`, or when `signal` aborts. */
  changed(
    since: number,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<void>;
  /** Pushes everything above `since` and then each change. Returns the function that stops it. */
  follow(nodeId: number, since: number, sink: FeedSink): () => void;
  /** How many follow now. */
  followers(): number;
}

export interface FeedOptions {
  readonly store: Store;
  readonly signer: Signer;
  readonly log: PublisherLog;
  readonly clock?: () => number;
  /** Milliseconds between looks without a hint. Default 1,000. */
  readonly pollMs?: number;
  /** Octets a reader may leave lying before it is disconnected. Default `MAX_BACKLOG`. */
  readonly maxBacklog?: number;
}

/** Some twenty full pages: more than any pause of a live reader, and a thousand slow ones fit into memory. */
export const MAX_BACKLOG = 2 * 1024 * 1024;

interface Follower {
  readonly nodeId: number;
  readonly sink: FeedSink;
  position: number;
  closed: boolean;
}

export function createFeed(options: FeedOptions): Feed {
  const { store, signer, log } = options;
  const clock = options.clock ?? Date.now;
  const maxBacklog = options.maxBacklog ?? MAX_BACKLOG;
  /** INVARIANT: every follower in `live` has been pushed everything up to `position`. */
  let position = 0;
  const live = new Set<Follower>();
  const all = new Set<Follower>();
  const sleepers = new Set<() => void>();
  let memo: { readonly since: number; readonly position: number; readonly page: Promise<SignedPage> } | null =
    null;
  let unlisten: (() => void) | null = null;
  let poll: NodeJS.Timeout | null = null;
  let looking: Promise<void> | null = null;
  let again = false;

  const read = (since: number): Promise<SignedPage> => readPage(since, { store, signer, clock });

  /** Pages asked for again before anything changed, as by fifty nodes that reconnect at once, are read once. */
  function page(since: number): Promise<SignedPage> {
    if (memo?.since === since && memo.position === position) return memo.page;
    const fresh = { since, position, page: read(since) };
    memo = fresh;
    fresh.page.catch(() => {
      if (memo === fresh) memo = null;
    });
    return fresh.page;
  }

  function look(): Promise<void> {
    again = true;
    looking ??= (async () => {
      while (again) {
        again = false;
        await advance();
      }
    })().finally(() => {
      looking = null;
    });
    return looking;
  }

  async function advance(): Promise<void> {
    for (;;) {
      if ((await store.latest.plans.position()) === position) return;
      const next = await read(position);
      const text = JSON.stringify(next);
      position = next.manifest.through;
      memo = null;
      for (const follower of live) push(follower, next, text);
      for (const wake of [...sleepers]) wake();
    }
  }

  /** What is left unread is judged before more is added: one page alone may be larger than the limit. */
  function push(follower: Follower, next: SignedPage, text: string): void {
    const unread = follower.sink.backlog();
    if (unread > maxBacklog) {
      log.warn({ node: follower.nodeId, octets: unread }, 'a node reads its feed too slowly; disconnected');
      const told = `${unread} octets were not read, the limit is ${maxBacklog}`;
      close(follower, `${told}; connect again with the last event id`);
      return;
    }
    follower.position = next.manifest.through;
    if (next.manifest.entries.length > 0) follower.sink.push(next, text);
  }

  async function catchUp(follower: Follower): Promise<void> {
    for (;;) {
      // Another process may have told it more than this one has seen yet.
      if (follower.position > position) await look();
      if (follower.closed) return;
      if (follower.position === position) {
        live.add(follower);
        return;
      }
      const next = await page(follower.position);
      await follower.sink.drained();
      if (!follower.closed) push(follower, next, JSON.stringify(next));
    }
  }

  function close(follower: Follower, reason: string | null): void {
    if (follower.closed) return;
    follower.closed = true;
    live.delete(follower);
    all.delete(follower);
    if (reason !== null) follower.sink.end(reason);
  }

  /** Ends followers whose token was revoked. */
  async function recheck(): Promise<void> {
    if (all.size === 0) return;
    const revoked = new Set(
      (await store.latest.nodes.list()).filter((node) => node.revoked_at !== null).map((node) => node.id),
    );
    for (const follower of [...all]) {
      if (revoked.has(follower.nodeId)) close(follower, 'this node token was revoked');
    }
  }

  function noteStore(error: unknown): void {
    if (isStoreFault(error, 'closed')) return;
    log.warn({ err: error }, 'the store cannot be asked for changes; looking again later');
  }

  return {
    async start() {
      unlisten ??= store.listen((change) => {
        if (change === 'manifest' || change === 'unknown') look().catch(noteStore);
        if (change === 'keys' || change === 'unknown') recheck().catch(noteStore);
      });
      poll ??= setInterval(() => {
        look().catch(noteStore);
        // A hint may be lost, or come while a node is on its way from the check of its token to its stream.
        recheck().catch(noteStore);
      }, options.pollMs ?? 1_000).unref();
      position = await store.latest.plans.position();
    },
    stop() {
      unlisten?.();
      unlisten = null;
      if (poll !== null) clearInterval(poll);
      poll = null;
      for (const follower of [...all]) close(follower, 'the server is stopping; connect again');
      for (const wake of [...sleepers]) wake();
    },
    position: () => position,
    page,
    async changed(since, { timeoutMs, signal }) {
      if (since > position) await look();
      if (position !== since || signal.aborted) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(deadline);
          sleepers.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const deadline = setTimeout(wake, timeoutMs);
        sleepers.add(wake);
        signal.addEventListener('abort', wake);
      });
    },
    follow(nodeId, since, sink) {
      const follower: Follower = { nodeId, sink, position: since, closed: false };
      all.add(follower);
      catchUp(follower).catch((error: unknown) => {
        noteStore(error);
        close(follower, 'the manifest cannot be read now; connect again');
      });
      return () => close(follower, null);
    },
    followers: () => all.size,
  };
}
