/**
 * Sends manifest pages to nodes. In: hints from the store and, behind them, a poll. Out: signed pages, pushed to following
 * nodes (SSE) or awaited by polling ones (long-poll). A page is read once for all nodes that are up to date, and signed once
 * for each set of groups; a node that returns after a gap reads on from its own position. A lost event only delays: the
 * positions show what a node has missed, and a heartbeat sends the position if nothing changes.
 */
import { isStoreFault } from '../../base/storage/fault.ts';
import { MANIFEST_FORMAT, type SignedPage } from '../../engine/plan/manifest.ts';
import type { Store } from '../store/store.ts';
import {
  closeFollower,
  createFeedState,
  type FeedPosition,
  type FeedSink,
  type FeedState,
  type Follower,
  groupsOf,
  lostHistory,
  noteLostHistory,
  sendPage,
} from './feed-state.ts';
import type { PublisherLog } from './log.ts';
import { readTokens, type ShownNode } from './nodes.ts';
import {
  createPageCache,
  type PageCache,
  type PageTools,
  readEpoch,
  readPages,
  signedGroups,
} from './pages.ts';
import { createOctetsPusher, type OctetsEvent, type OctetsPusher } from './pushed-octets.ts';
import type { RecentOctets } from './recent-octets.ts';
import type { Signer } from './signer.ts';

export type { FeedSink } from './feed-state.ts';

/** The manifest's changes, for nodes. */
export interface Feed {
  /** Starts the timers and the store's hints; resolves once the newest position is read. Throws StoreFault. */
  start(): Promise<void>;
  /** Closes every follower, with a reason, and ends every wait. */
  stop(): void;
  /** The newest position that was read. */
  position(): number;
  /** The page above `since` for the nodes of a set of groups, see `readPage`. */
  page(since: number, groups: string): Promise<SignedPage>;
  /** Resolves when there is a change above `since`, after `timeoutMs`, or when `signal` aborts. */
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
   * lost history that nodes have. `null`: no node did, or the store has reached that position since.
   */
  ahead(): string | null;
  /** How many nodes follow now. */
  subscribers(): number;
}

export interface FeedOptions {
  readonly store: Store;
  readonly signer: Signer;
  readonly log: PublisherLog;
  /** What nodes fetch. */
  readonly octets: RecentOctets;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Milliseconds between two polls of the store. Default 1,000. */
  readonly pollMs?: number;
  /** Milliseconds between pages without entries, which send the position. Default 15,000. */
  readonly heartbeatMs?: number;
  /** Octets that a reader may leave unread before it is disconnected. Default `MAX_BACKLOG`. */
  readonly maxBacklog?: number;
}

/** Octets: some ten full pages, more than any pause of a live reader; a thousand slow readers fit into memory. */
export const MAX_BACKLOG = 2 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;
const POLL_MS = 1_000;

/** A feed's state and what its functions work with. */
interface Core extends PageTools {
  readonly state: FeedState;
  readonly pages: PageCache;
  readonly octetsOf: OctetsPusher;
  readonly log: PublisherLog;
  readonly maxBacklog: number;
  /** End the waits of long-polling nodes. */
  readonly wakes: Set<() => void>;
  /** Reads and sends what is new; a call during a run adds one more run. Rejects with a StoreFault. */
  readonly advance: () => Promise<void>;
}

export function createFeed(options: FeedOptions): Feed {
  const { store, signer, log, clock = Date.now, maxBacklog = MAX_BACKLOG } = options;
  const tools = { store, signer, clock };
  const pages = createPageCache(tools);
  const state = createFeedState();
  const advance = createCoalesced(() => sendChanges(core));
  const octetsOf = createOctetsPusher(options);
  const core: Core = { ...tools, state, pages, octetsOf, log, maxBacklog, wakes: new Set(), advance };
  let stopTimers: (() => void) | null = null;
  return {
    async start() {
      stopTimers ??= startTimers(core, options);
      state.position = await store.latest.plans.position();
      enterEpoch(core, await readEpoch(store.latest));
    },
    stop() {
      stopTimers?.();
      stopTimers = null;
      for (const follower of [...state.followers]) {
        closeFollower(state, follower, 'the server is stopping; connect again');
      }
      for (const wake of [...core.wakes]) wake();
    },
    position: () => state.position,
    page: (since, groups) => pageAbove(core, since, groups),
    changed: (since, wait) => changed(core, since, wait),
    ahead: () => lostHistory(state),
    subscribe({ id: nodeId, shown_hash: tokenHash, node_groups: groups }, from, sink) {
      const follower: Follower = { nodeId, tokenHash, groups, sink, ...from, closed: false };
      state.followers.add(follower);
      begin(core, follower);
      return () => closeFollower(state, follower, null);
    },
    subscribers: () => state.followers.size,
  };
}

/** Starts the store's hints, the poll and the heartbeat; returns the function that stops them. */
function startTimers(core: Core, { heartbeatMs = HEARTBEAT_MS, pollMs = POLL_MS }: FeedOptions): () => void {
  const report = (error: unknown): void => reportStore(core, error);
  const unlisten = core.store.listen((change) => {
    if (change === 'manifest' || change === 'unknown') core.advance().catch(report);
    if (change === 'keys' || change === 'unknown') closeInvalid(core).catch(report);
  });
  const heartbeat = setInterval(() => sendHeartbeat(core).catch(report), heartbeatMs).unref();
  const poll = setInterval(() => {
    // The signing key of a cached page may have been replaced.
    core.pages.clear();
    core.advance().catch(report);
    // A hint may be lost, or arrive between the check of a node's token and the start of its stream.
    closeInvalid(core).catch(report);
  }, pollMs).unref();
  return () => {
    unlisten();
    clearInterval(poll);
    clearInterval(heartbeat);
  };
}

function reportStore({ log }: Core, error: unknown): void {
  if (isStoreFault(error, 'closed')) return;
  log.warn({ err: error }, 'the store cannot be read for changes; trying again later');
}

/** INVARIANT: a page of an earlier epoch is never sent again: nodes would take the history for the one they have. */
function enterEpoch({ state, pages }: Core, epoch: number): void {
  if (epoch === state.epoch) return;
  state.epoch = epoch;
  pages.clear();
}

function pageAbove(core: Core, since: number, groups: string): Promise<SignedPage> {
  const page = core.pages.page({ since, position: core.state.position }, groups);
  // The caller handles the rejection.
  page.then(
    ({ manifest }) => enterEpoch(core, manifest.epoch ?? 0),
    () => undefined,
  );
  return page;
}

async function changed(
  core: Core,
  since: number,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { state, wakes } = core;
  if (since > state.position) await core.advance();
  if (state.position !== since || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      clearTimeout(deadline);
      wakes.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const deadline = setTimeout(wake, timeoutMs);
    wakes.add(wake);
    signal.addEventListener('abort', wake);
  });
}

/** Sends pages until the position is the store's. */
async function sendChanges(core: Core): Promise<void> {
  const { state, store } = core;
  while ((await store.latest.plans.position()) !== state.position) {
    const pages = await readPages(state.position, groupsOf(state.current), core);
    const { through, epoch = 0 } = [...pages.values()][0]!.manifest;
    const octets = await octetsOfPages(core, pages);
    state.position = through;
    enterEpoch(core, epoch);
    core.pages.clear();
    sendToAll(core, pages, octets);
    for (const wake of [...core.wakes]) wake();
  }
}

/** What goes ahead of each page. Without it nodes fetch what a page names, so a fault delays no page. */
async function octetsOfPages(
  core: Core,
  pages: ReadonlyMap<string, SignedPage>,
): Promise<ReadonlyMap<string, readonly OctetsEvent[]>> {
  if (core.state.current.size === 0) return new Map();
  try {
    return await core.octetsOf(pages);
  } catch (error) {
    core.log.warn({ err: error }, 'what a page names cannot be read ahead of it; nodes request it');
    return new Map();
  }
}

/** `pages` by set of groups. A follower that became current while they were read may need a page that is not there. */
function sendToAll(
  core: Core,
  pages: ReadonlyMap<string, SignedPage>,
  octets: ReadonlyMap<string, readonly OctetsEvent[]>,
): void {
  const texts = new Map([...pages].map(([groups, page]) => [groups, JSON.stringify(page)]));
  for (const follower of [...core.state.current]) {
    const page = pages.get(follower.groups);
    if (page !== undefined) {
      const ahead = octets.get(follower.groups) ?? [];
      // A node that reads slowly fetches them when it comes to it.
      if (follower.sink.backlog() === 0) for (const one of ahead) follower.sink.pushOctets(one);
      send(core, follower, { page, text: texts.get(follower.groups)! });
    } else {
      core.state.current.delete(follower);
      begin(core, follower);
    }
  }
}

function send(
  { state, log, maxBacklog }: Core,
  follower: Follower,
  sent: { readonly page: SignedPage; readonly text: string },
): void {
  const unread = sendPage(state, follower, { ...sent, maxBacklog });
  if (unread !== null) {
    log.warn(
      { node: follower.nodeId, octets: unread },
      'a node reads its feed too slowly and was disconnected',
    );
  }
}

/** Sends the position to every node that is up to date: a node that missed a page sees the gap. */
async function sendHeartbeat(core: Core): Promise<void> {
  const { state, store, signer, clock } = core;
  enterEpoch(core, await readEpoch(store.latest));
  if (state.current.size === 0) return;
  const { position: since, epoch } = state;
  const at = clock();
  for (const groups of groupsOf(state.current)) {
    const page = await signer.sign({
      ...{ format: MANIFEST_FORMAT, epoch, since, through: since, complete: true, at },
      ...signedGroups(groups),
      entries: [],
    });
    // A change was sent meanwhile and had a later position; for its readers this page would be a step back.
    if (state.position !== since) return;
    const text = JSON.stringify(page);
    for (const follower of state.current) {
      if (follower.groups === groups && follower.sink.backlog() === 0) follower.sink.push(page, text);
    }
  }
}

/** Sends a follower everything above its position; closes it if the store cannot be read. */
function begin(core: Core, follower: Follower): void {
  catchUp(core, follower).catch((error: unknown) => {
    reportStore(core, error);
    closeFollower(core.state, follower, 'the manifest cannot be read now; connect again');
  });
}

async function catchUp(core: Core, follower: Follower): Promise<void> {
  const { state } = core;
  for (;;) {
    // Another process may have sent it a page that this one has not read yet.
    if (follower.position > state.position) {
      await core.advance();
      await checkHistory(core, follower);
    }
    if (follower.closed) return;
    if (follower.position === state.position) {
      state.current.add(follower);
      return;
    }
    const page = await pageAbove(core, follower.position, follower.groups);
    await follower.sink.drained();
    if (!follower.closed) send(core, follower, { page, text: JSON.stringify(page) });
  }
}

/** Logs a node that has read further than this store has written. */
async function checkHistory(core: Core, follower: Follower): Promise<void> {
  const { state, store, log } = core;
  enterEpoch(core, await readEpoch(store.latest));
  if (!noteLostHistory(state, follower)) return;
  const { position, epoch } = state;
  const fields = { node: follower.nodeId, read: follower.position, position, epoch };
  log.error(fields, `lost history: ${lostHistory(state)}`);
}

/** Closes followers whose token was revoked, or replaced more than its overlap ago, and those that changed their groups. */
async function closeInvalid({ state, store, clock }: Core): Promise<void> {
  if (state.followers.size === 0) return;
  const { valid, revoked, groups } = await readTokens(store.latest, clock());
  for (const follower of [...state.followers]) {
    if (valid.has(follower.tokenHash)) {
      if (groups.get(follower.nodeId) === follower.groups) continue;
      closeFollower(state, follower, 'the groups of this node changed; connect again');
      continue;
    }
    const how = revoked.has(follower.nodeId) ? 'revoked' : 'replaced, and its overlap is over';
    closeFollower(state, follower, `this node token was ${how}`);
  }
}

// Runs a task one call at a time; calls during a run are coalesced into one more run after it.

/**
 * Returns the function that starts a run. Its promise resolves after a run that began at or after the call, and rejects
 * with the error of the run; the additional run is then dropped.
 */
function createCoalesced(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;

  async function runAll(): Promise<void> {
    while (again) {
      again = false;
      await task();
    }
  }

  return () => {
    again = true;
    running ??= runAll().finally(() => {
      running = null;
    });
    return running;
  };
}
