/**
 * Tells nodes what changed. In: hints from the store and, behind them, a poll. Out: signed pages, pushed to whoever
 * follows (SSE) or awaited (long-poll). A page is read once for all nodes that are up to date, and signed once for each set
 * of groups; a node that returns after a gap reads on from its own position. A lost event only delays: positions show what
 * was missed, and a heartbeat has the position where nothing changes.
 */
import { DEFAULT_GROUP } from '../base/node-groups.ts';
import { MANIFEST_FORMAT, type SignedPage } from '../plan/manifest.ts';
import { isStoreFault } from '../store/fault.ts';
import type { Store } from '../store/store.ts';
import { readEpoch } from './epoch.ts';
import { readTokens, type ShownNode } from './node-token.ts';
import { readPage, readPages, signedGroups } from './pages.ts';
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
  /** The page above `since` for the nodes of a set of groups, see `readPage`. */
  page(since: number, groups: string): Promise<SignedPage>;
  /** Resolves when something changed above `since`, after `timeoutMs`, or when `signal` aborts. */
  changed(
    since: number,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<void>;
  /**
   * Pushes everything above a position and then each change, while the token that the node has shown is valid and the node
   * stays in its groups. Returns the function that stops it.
   */
  subscribe(
    node: Pick<ShownNode, 'id' | 'shown_hash' | 'node_groups'>,
    from: FeedPosition,
    sink: FeedSink,
  ): () => void;
  /**
   * Why nodes take no revision of this store: one of them came with a later position of the same epoch, so the store has
   * lost history that nodes have. `null`: none did, or the store has come as far since.
   */
  ahead(): string | null;
  /** How many follow now. */
  subscribers(): number;
}

/** How far a node has read. */
export interface FeedPosition {
  readonly position: number;
  /** What `position` is of; `null` unknown. */
  readonly epoch: number | null;
}

export interface FeedOptions {
  readonly store: Store;
  readonly signer: Signer;
  readonly log: PublisherLog;
  readonly clock?: () => number;
  /** Milliseconds between looks without a hint. Default 1,000. */
  readonly pollMs?: number;
  /** Milliseconds between pages without entries, which say the position. Default 15,000. */
  readonly heartbeatMs?: number;
  /** Octets a reader may leave lying before it is disconnected. Default `MAX_BACKLOG`. */
  readonly maxBacklog?: number;
}

/** Some ten full pages: more than any pause of a live reader, and a thousand slow ones fit into memory. */
export const MAX_BACKLOG = 2 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;
/** Pages in memory, each for one set of groups: some 4 MB. */
const MAX_MEMOS = 16;

interface Follower {
  readonly nodeId: number;
  readonly tokenHash: string;
  readonly groups: string;
  readonly sink: FeedSink;
  readonly epoch: number | null;
  position: number;
  closed: boolean;
}

interface Memo {
  readonly since: number;
  readonly position: number;
  readonly page: Promise<SignedPage>;
}

export function createFeed(options: FeedOptions): Feed {
  const { store, signer, log } = options;
  const clock = options.clock ?? Date.now;
  const maxBacklog = options.maxBacklog ?? MAX_BACKLOG;
  /** INVARIANT: every follower in `live` has been pushed everything up to `position`. */
  let position = 0;
  /** As it was read last. */
  let epoch = 0;
  const live = new Set<Follower>();
  const all = new Set<Follower>();
  const sleepers = new Set<() => void>();
  /** By groups. */
  const memos = new Map<string, Memo>();
  let unlisten: (() => void) | null = null;
  let poll: NodeJS.Timeout | null = null;
  let heartbeat: NodeJS.Timeout | null = null;
  /** The highest position that a node came with and this store never gave in its epoch. */
  let lost: { readonly position: number; readonly epoch: number } | null = null;
  let looking: Promise<void> | null = null;
  let again = false;

  const tools = { store, signer, clock };

  /** Pages asked for again before anything changed, as by fifty nodes that reconnect at once, are read once. */
  function page(since: number, groups: string): Promise<SignedPage> {
    const memo = memos.get(groups);
    if (memo?.since === since && memo.position === position) return memo.page;
    const fresh = { since, position, page: readPage(since, groups, tools) };
    if (memos.size >= MAX_MEMOS) memos.clear();
    memos.set(groups, fresh);
    fresh.page.then(
      ({ manifest }) => enter(manifest.epoch ?? 0),
      () => {
        if (memos.get(groups) === fresh) memos.delete(groups);
      },
    );
    return fresh.page;
  }

  /** INVARIANT: a page of an earlier epoch is never answered again: nodes would take the history for the one they have. */
  function enter(read: number): void {
    if (read === epoch) return;
    epoch = read;
    memos.clear();
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
      const pages = await readPages(position, groupsOf(live), tools);
      const { through, epoch: read = 0 } = [...pages.values()][0]!.manifest;
      position = through;
      enter(read);
      memos.clear();
      pushAll(pages);
      for (const wake of [...sleepers]) wake();
    }
  }

  /** One page for each set of groups; a follower that came while they were read may be of none of them. */
  function pushAll(pages: ReadonlyMap<string, SignedPage>): void {
    const texts = new Map([...pages].map(([groups, page]) => [groups, JSON.stringify(page)]));
    for (const follower of [...live]) {
      const page = pages.get(follower.groups);
      if (page !== undefined) push(follower, page, texts.get(follower.groups)!);
      else {
        live.delete(follower);
        begin(follower);
      }
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
    // Without entries too: they are of other groups, and the next page begins above them.
    if (next.manifest.entries.length > 0 || next.manifest.through > next.manifest.since)
      follower.sink.push(next, text);
  }

  /** Says the position to everybody who has been pushed all of it: a node that missed a page knows by this. */
  async function beat(): Promise<void> {
    enter(await readEpoch(store.latest));
    if (live.size === 0) return;
    const [since, at] = [position, clock()];
    for (const groups of groupsOf(live)) {
      const page = await signer.sign({
        ...{ format: MANIFEST_FORMAT, epoch, since, through: since, complete: true, at },
        ...signedGroups(groups),
        entries: [],
      });
      // A change was pushed meanwhile and showed a later position; to its readers this one would be a step back.
      if (position !== since) return;
      const text = JSON.stringify(page);
      for (const follower of live) {
        if (follower.groups === groups && follower.sink.backlog() === 0) follower.sink.push(page, text);
      }
    }
  }

  /** Notes a node that has read further than this store has written. */
  async function noteLost({ nodeId, epoch: readIn, position: read }: Follower): Promise<void> {
    enter(await readEpoch(store.latest));
    if (readIn !== epoch || read <= position) return;
    if (lost?.epoch !== epoch || lost.position < read) lost = { position: read, epoch };
    log.error({ node: nodeId, read, position, epoch }, `lost history: ${ahead()}`);
  }

  function ahead(): string | null {
    if (lost === null || lost.epoch !== epoch || lost.position <= position) return null;
    const far = `nodes have read up to position ${lost.position}, this store is at ${position}`;
    return `${far}: it was restored from a backup, and nodes take no revision of it until \`edgeplan restore\` begins a new epoch`;
  }

  async function catchUp(follower: Follower): Promise<void> {
    for (;;) {
      // Another process may have told it more than this one has seen yet.
      if (follower.position > position) {
        await look();
        await noteLost(follower);
      }
      if (follower.closed) return;
      if (follower.position === position) {
        live.add(follower);
        return;
      }
      const next = await page(follower.position, follower.groups);
      await follower.sink.drained();
      if (!follower.closed) push(follower, next, JSON.stringify(next));
    }
  }

  function begin(follower: Follower): void {
    catchUp(follower).catch((error: unknown) => {
      noteStore(error);
      close(follower, 'the manifest cannot be read now; connect again');
    });
  }

  function close(follower: Follower, reason: string | null): void {
    if (follower.closed) return;
    follower.closed = true;
    live.delete(follower);
    all.delete(follower);
    if (reason !== null) follower.sink.end(reason);
  }

  /** Ends followers whose token was revoked, or replaced and its overlap is over, and those whose node changed its groups. */
  async function recheck(): Promise<void> {
    if (all.size === 0) return;
    const { valid, revoked, groups } = await readTokens(store.latest, clock());
    for (const follower of [...all]) {
      if (valid.has(follower.tokenHash)) {
        if (groups.get(follower.nodeId) === follower.groups) continue;
        close(follower, 'the groups of this node changed; connect again');
        continue;
      }
      const how = revoked.has(follower.nodeId) ? 'revoked' : 'replaced, and its overlap is over';
      close(follower, `this node token was ${how}`);
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
      heartbeat ??= setInterval(() => beat().catch(noteStore), options.heartbeatMs ?? HEARTBEAT_MS).unref();
      poll ??= setInterval(() => {
        // Its signatures may be of a key that signs no more.
        memos.clear();
        look().catch(noteStore);
        // A hint may be lost, or come while a node is on its way from the check of its token to its stream.
        recheck().catch(noteStore);
      }, options.pollMs ?? 1_000).unref();
      position = await store.latest.plans.position();
      enter(await readEpoch(store.latest));
    },
    stop() {
      unlisten?.();
      unlisten = null;
      if (poll !== null) clearInterval(poll);
      poll = null;
      if (heartbeat !== null) clearInterval(heartbeat);
      heartbeat = null;
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
    ahead,
    subscribe({ id: nodeId, shown_hash: tokenHash, node_groups: groups }, from, sink) {
      const follower: Follower = { nodeId, tokenHash, groups, sink, ...from, closed: false };
      all.add(follower);
      begin(follower);
      return () => close(follower, null);
    },
    subscribers: () => all.size,
  };
}

/** The sets of groups that followers are in; `default` where nobody follows, since the position is read off a page. */
function groupsOf(followers: Iterable<Follower>): readonly string[] {
  const sets = new Set([...followers].map(({ groups }) => groups));
  return sets.size === 0 ? [DEFAULT_GROUP] : [...sets];
}
