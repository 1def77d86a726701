/**
 * The state of the feed: the newest position, the epoch, and the nodes that follow with what each has been sent. Plain
 * data and its transitions; `feed.ts` reads the store, signs pages and runs the timers.
 */
import { DEFAULT_GROUP } from '../../base/vocabulary/node-groups.ts';
import type { SignedPage } from '../../engine/plan/manifest.ts';
import type { OctetsEvent } from './pushed-octets.ts';

/** The connection of a following node. */
export interface FeedSink {
  /** Sends what the next page names, to a node that takes it. */
  pushOctets(octets: OctetsEvent): void;
  /** Sends one page; `text` is its JSON. */
  push(page: SignedPage, text: string): void;
  /** Octets pushed that the reader has not taken yet. */
  backlog(): number;
  /** Resolves once the reader has taken what was pushed, or has disconnected. */
  drained(): Promise<void>;
  /** Sends the reason and closes the connection. */
  end(reason: string): void;
}

/** How far a node has read. */
export interface FeedPosition {
  readonly position: number;
  /** The epoch that `position` counts in; `null`: unknown. */
  readonly epoch: number | null;
}

/** A node that follows the feed. */
export interface Follower {
  readonly nodeId: number;
  /** Hash of the token that the node authenticated with. */
  readonly tokenHash: string;
  readonly groups: string;
  readonly sink: FeedSink;
  /** The epoch of the position that the node came with. */
  readonly epoch: number | null;
  /** The last position that was sent to the node. */
  position: number;
  closed: boolean;
}

/** A position in an epoch. */
interface EpochPosition {
  readonly position: number;
  readonly epoch: number;
}

export interface FeedState {
  /** The newest position. INVARIANT: every follower in `current` has been sent everything up to it. */
  position: number;
  /** The store's epoch as it was read last. */
  epoch: number;
  /** Followers that are up to date; every new page goes to them. */
  readonly current: Set<Follower>;
  /** The highest position a node has reported that this store has not reached in the same epoch. */
  readonly followers: Set<Follower>;
  /** The highest position that a node came with and this store has not reached in the same epoch. */
  lost: EpochPosition | null;
}

export function createFeedState(): FeedState {
  return { position: 0, epoch: 0, current: new Set(), followers: new Set(), lost: null };
}

/** Removes a follower; ends its connection with `reason`, or not if it is `null` (the node has disconnected). */
export function closeFollower(state: FeedState, follower: Follower, reason: string | null): void {
  if (follower.closed) return;
  follower.closed = true;
  state.current.delete(follower);
  state.followers.delete(follower);
  if (reason !== null) follower.sink.end(reason);
}

/**
 * Sends a page to a follower and returns `null`, or closes a follower that has left more than `maxBacklog` octets unread
 * and returns how many. The limit is checked before the page is added, since one page may be larger than the limit.
 */
export function sendPage(
  state: FeedState,
  follower: Follower,
  {
    page,
    text,
    maxBacklog,
  }: { readonly page: SignedPage; readonly text: string; readonly maxBacklog: number },
): number | null {
  const unread = follower.sink.backlog();
  if (unread > maxBacklog) {
    const limit = `${unread} octets were not read, the limit is ${maxBacklog}`;
    closeFollower(state, follower, `${limit}; connect again with the last event id`);
    return unread;
  }
  const { entries, since, through } = page.manifest;
  follower.position = through;
  // A page whose entries are all of other groups is sent too: the node's next page begins above it.
  if (entries.length > 0 || through > since) follower.sink.push(page, text);
  return null;
}

/** Whether a follower has read further in this epoch than the store has written; stores the highest such position. */
export function noteLostHistory(state: FeedState, { epoch, position }: FeedPosition): boolean {
  if (epoch !== state.epoch || position <= state.position) return false;
  const { lost } = state;
  if (lost?.epoch !== epoch || lost.position < position) state.lost = { position, epoch };
  return true;
}

/** Why nodes take no revision of this store, in a sentence; `null` unless it has lost history that nodes have. */
export function lostHistory({ lost, epoch, position }: FeedState): string | null {
  if (lost === null || lost.epoch !== epoch || lost.position <= position) return null;
  const far = `nodes have read up to position ${lost.position}, this store is at ${position}`;
  return `${far}: it was restored from a backup, and nodes take no revision of it until \`edgeplan restore\` begins a new epoch`;
}

/** The sets of groups of the followers; `default` if there are none, since the position is read off a page. */
export function groupsOf(followers: Iterable<Follower>): readonly string[] {
  const sets = new Set([...followers].map(({ groups }) => groups));
  return sets.size === 0 ? [DEFAULT_GROUP] : [...sets];
}
