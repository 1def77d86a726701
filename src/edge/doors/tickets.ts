/**
 * Tickets: a door that can carry no page hands the proxy a ticket for one, and the proxy fetches the page at the agent's HTTP
 * listener. The page is that of the decision already made: nothing is decided again.
 *
 * A ticket is random, signed with a key of the process (HMAC-SHA-256, RFC 2104), valid for 10 s and for one use.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { EdgeAnswer } from '../../base/http/header-fields.ts';

/** Milliseconds for which a ticket is valid: a proxy fetches its page at once. */
const TICKET_MS = 10_000;
/** Most octets of pages that wait for their proxies; beyond, the oldest ticket ends. */
const MAX_OCTETS = 16 * 1024 * 1024;
/** Octets of an entry besides its body. */
const ENTRY_OVERHEAD = 1_024;
const ID_OCTETS = 16;
/** Octets of the signature: 128 bits cannot be guessed within the life of a ticket. */
const SIGNATURE_OCTETS = 16;

/** The pages that wait for their proxies. */
export interface Tickets {
  /** Stores an answer; returns its ticket, 43 characters of base64url. */
  issue(answer: EdgeAnswer): string;
  /** The answer of a ticket, once; `null`: the ticket is forged, used, or over. */
  redeem(ticket: string): EdgeAnswer | null;
  /** Tickets that ended unused so far: their time was over, or newer pages took their place. */
  expired(): number;
}

interface Entry {
  readonly answer: EdgeAnswer;
  readonly octets: number;
  readonly until: number;
}

/** Creates an empty store. @param clock milliseconds of a monotonic clock */
export function createTickets(clock: () => number = () => performance.now()): Tickets {
  const key = randomBytes(32);
  /** By id in base64url, in the order of issue, which is that of expiry. */
  const entries = new Map<string, Entry>();
  let octets = 0;
  let expired = 0;

  function remove(id: string, entry: Entry): void {
    entries.delete(id);
    octets -= entry.octets;
  }

  /** Ends tickets whose time is over, and the oldest ones while there is too much. */
  function trim(now: number): void {
    for (const [id, entry] of entries) {
      if (entry.until > now && octets <= MAX_OCTETS) return;
      remove(id, entry);
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
      const entry = { answer, octets: ENTRY_OVERHEAD + sizeOf(answer), until: now + TICKET_MS };
      entries.set(id.toString('base64url'), entry);
      octets += entry.octets;
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
      if (entry === undefined) return null;
      remove(name, entry);
      return entry.answer;
    },
    expired: () => expired,
  };
}

function sizeOf({ body, headers }: EdgeAnswer): number {
  const listed = headers.reduce((sum, text) => sum + text.length, 0);
  return listed + (body === null ? 0 : Buffer.byteLength(body));
}
