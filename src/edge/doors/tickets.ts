/**
 * Tickets: a door that can carry no page hands the proxy a ticket for one, and the proxy fetches the page at the agent's HTTP
 * listener. The page is that of the decision already made: nothing is decided again.
 *
 * A ticket is random, signed with a key of the agent (HMAC-SHA-256, RFC 2104), valid for 10 s and for one use. Agents of one
 * group have the same key and share their pages, and so do two processes while one takes over from the other.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import type { SharedPages } from './shared-pages.ts';

/** Milliseconds for which a ticket is valid: a proxy fetches its page at once. */
export const TICKET_MS = 10_000;
/** Most octets of pages that wait for their proxies; beyond, the oldest ticket ends. */
const MAX_OCTETS = 16 * 1024 * 1024;
/** Octets of an entry besides its body. */
const ENTRY_OVERHEAD = 1_024;
const ID_OCTETS = 16;
/** Octets of a key. */
export const PAGE_KEY_OCTETS = 32;
/** Octets of the signature: 128 bits cannot be guessed within the life of a ticket. */
const SIGNATURE_OCTETS = 16;

/** The pages that wait for their proxies. */
export interface Tickets {
  /** Stores an answer; returns its ticket, 43 characters of base64url. */
  issue(answer: EdgeAnswer): string;
  /**
   * The answer of a ticket, once; `null`: the ticket is forged, used, or over. A promise while the process that has its page is
   * about to share it.
   */
  redeem(ticket: string): EdgeAnswer | null | Promise<EdgeAnswer | null>;
  /** Tickets that ended unused so far: their time was over, or newer pages took their place. */
  expired(): number;
}

interface Entry {
  readonly answer: EdgeAnswer;
  readonly octets: number;
  readonly until: number;
  /** Whether its page is in a shared folder: the process that takes it from there answers. */
  isShared: boolean;
}

/** Tickets that processes can share. */
export interface SharableTickets extends Tickets {
  redeem(ticket: string): EdgeAnswer | null;
  /** The key of signatures, for the next process. */
  readonly key: Uint8Array;
  /** Shares the pages that wait and all further ones. */
  share(): void;
  /** Shares no further pages; those of the other process can still be redeemed. */
  unshare(): void;
}

export interface TicketsOptions {
  /** The key of the process before; absent or `null`: a new one. */
  readonly key?: Uint8Array | null;
  /** Where pages are shared. */
  readonly shared?: SharedPages;
  /** Called with the system's error when a page could not be shared. */
  readonly onFault?: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly clock?: () => number;
}

/** Creates an empty store. */
export function createTickets(options: TicketsOptions = {}): SharableTickets {
  const { shared = null, onFault = () => undefined, clock = () => performance.now() } = options;
  const key = options.key?.length === PAGE_KEY_OCTETS ? options.key : randomBytes(PAGE_KEY_OCTETS);
  let isSharing = false;
  /** By id in base64url, in the order of issue, which is that of expiry. */
  const entries = new Map<string, Entry>();
  let octets = 0;
  let expired = 0;

  function remove(id: string, entry: Entry): void {
    entries.delete(id);
    octets -= entry.octets;
  }

  /** Runs `work` on the shared pages; a fault leaves a page with the process that issued its ticket. */
  function withShared<T>(work: (pages: SharedPages) => T): T | null {
    if (shared === null) return null;
    try {
      return work(shared);
    } catch (error) {
      onFault(error);
      return null;
    }
  }

  function share(id: string, entry: Entry): void {
    const until = Date.now() + entry.until - clock();
    withShared((pages) => {
      pages.put(id, { answer: entry.answer, until });
      entry.isShared = true;
    });
  }

  /** Ends tickets whose time is over, and the oldest ones while there is too much. */
  function trim(now: number): void {
    for (const [id, entry] of entries) {
      if (entry.until > now && octets <= MAX_OCTETS) return;
      remove(id, entry);
      if (entry.isShared) withShared((pages) => pages.drop(id));
      expired++;
    }
  }

  function signatureOf(id: Uint8Array): Buffer {
    return createHmac('sha256', key).update(id).digest().subarray(0, SIGNATURE_OCTETS);
  }

  return {
    issue(answer) {
      const now = clock();
      const id = randomBytes(ID_OCTETS);
      const size = ENTRY_OVERHEAD + sizeOf(answer);
      const entry: Entry = { answer, octets: size, until: now + TICKET_MS, isShared: false };
      const name = id.toString('base64url');
      entries.set(name, entry);
      octets += size;
      // Before the proxy has the ticket: it may fetch the page at the other process.
      if (isSharing) share(name, entry);
      trim(now);
      return Buffer.concat([id, signatureOf(id)]).toString('base64url');
    },
    redeem(ticket) {
      const read = Buffer.from(ticket, 'base64url');
      if (read.length !== ID_OCTETS + SIGNATURE_OCTETS) return null;
      const id = read.subarray(0, ID_OCTETS);
      if (!timingSafeEqual(read.subarray(ID_OCTETS), signatureOf(id))) return null;
      trim(clock());
      const name = id.toString('base64url');
      const entry = entries.get(name);
      if (entry !== undefined) remove(name, entry);
      return entry?.isShared === false ? entry.answer : withShared((pages) => pages.take(name));
    },
    expired: () => expired,
    key,
    share() {
      isSharing = true;
      for (const [id, entry] of entries) if (!entry.isShared) share(id, entry);
    },
    unshare() {
      isSharing = false;
    },
  };
}

function sizeOf({ body, headers }: EdgeAnswer): number {
  const listed = headers.reduce((sum, text) => sum + text.length, 0);
  return listed + (body === null ? 0 : Buffer.byteLength(body));
}
