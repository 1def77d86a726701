/**
 * The body of an answer whose client takes it slowly. Octets pass through as long as the client takes them; once it has
 * held the answer up for a while, they are taken from the origin for it, so that the origin's connection is free.
 */
import type { HeaderList, ResponseFault, ResponseSink, ResponseSource } from '../http/response.ts';
import type { Drain, DrainPlace } from './drain-queue.ts';
import { HOLD_UP_MS, MAX_ANSWER_OCTETS } from './limits.ts';
import type { BufferSpace } from './space.ts';
import { createSpool, type Spool } from './spool.ts';

/** Opens where the answer for one client is stored; `onRoom` is called when it has room again. */
export type OpenSpool = (onRoom: () => void) => Spool;

/** Stores answers for clients of one network. */
export function answerSpools(space: BufferSpace, network: string): OpenSpool {
  return (onRoom) => createSpool({ space, network, most: MAX_ANSWER_OCTETS, onRoom });
}

export interface AnswerBufferOptions {
  /** Takes the answer's body. */
  readonly sink: Pick<ResponseSink, 'data' | 'end' | 'fail'>;
  /** Where the body comes from. */
  readonly source: ResponseSource;
  readonly openSpool: OpenSpool;
  /** Whether others wait for the origin's connection, so that it is given up at once. Default: they do not. */
  readonly isWanted?: () => boolean;
  /** Asks for turns in which the answer is taken while its client takes nothing. Default: it needs none. */
  readonly joinDrains?: (drain: Drain) => DrainPlace;
}

/** A source for the client, and a sink for the origin. */
export interface AnswerBuffer extends ResponseSource, Pick<ResponseSink, 'data' | 'end' | 'fail'> {
  /** Ends it at once, with a fault for the client. */
  cut(fault: ResponseFault): void;
  /** Others wait for the origin's connection: stores at once what the client holds up. */
  hurry(): void;
  /** Octets that the client took. */
  octets(): number;
  /** Milliseconds so far in which the origin was paused for the client. */
  waitedMs(): number;
}

/** How an answer ends: with trailers, or by a fault. */
type Ending = { readonly trailers: HeaderList } | { readonly fault: ResponseFault };

export function createAnswerBuffer(options: AnswerBufferOptions): AnswerBuffer {
  const { sink, source, openSpool, isWanted = () => false, joinDrains = null } = options;
  let spool: Spool | null = null;
  /** The client takes nothing now. */
  let paused = false;
  /** Since when the origin is paused; `null`: it is not. */
  let pausedSince: number | null = null;
  let waited = 0;
  let taken = 0;
  let late: NodeJS.Timeout | null = null;
  let ending: Ending | null = null;
  let pushing = false;
  /** In the queue of those whose clients take nothing; `null`: it is not. */
  let place: DrainPlace | null = null;
  let hasTurn = false;
  /** The next octet of the spool for the client. */
  let at = 0;
  let over = false;

  function pauseSource(): void {
    if (pausedSince !== null || ending !== null) return;
    pausedSince = performance.now();
    source.pause();
  }
  function resumeSource(): void {
    if (pausedSince === null) return;
    waited += performance.now() - pausedSince;
    pausedSince = null;
    source.resume();
  }
  function give(chunk: Uint8Array): void {
    taken += chunk.length;
    sink.data(chunk);
  }
  /** Lets the origin send into the spool: at once for a client that takes octets, else in its turn. */
  function fill(): void {
    if (over || ending !== null || !spool!.hasRoom()) return;
    if (!paused || joinDrains === null || hasTurn) resumeSource();
    else place ??= joinDrains(drain);
  }
  const drain: Drain = {
    start() {
      hasTurn = true;
      resumeSource();
    },
    stop() {
      hasTurn = false;
      pauseSource();
      if (!spool!.hasRoom()) leaveQueue();
    },
  };

  function leaveQueue(): void {
    hasTurn = false;
    place?.leave();
    place = null;
  }

  function close(): void {
    over = true;
    leaveQueue();
    if (late !== null) clearTimeout(late);
    spool?.close();
  }
  function finish(how: Ending): void {
    close();
    if ('fault' in how) sink.fail(how.fault);
    else sink.end(how.trailers);
  }

  /** The client holds the answer up: what comes is stored. */
  function store(): void {
    if (late !== null) clearTimeout(late);
    late = null;
    if (over || !paused || spool !== null || ending !== null) return;
    spool = openSpool(fill);
    fill();
  }

  async function push(from: Spool): Promise<void> {
    while (!paused && !over && at < from.length) {
      const found = from.read(at);
      const chunk = found instanceof Promise ? await found : found;
      if (over) return;
      at += chunk.length;
      give(chunk);
      from.release(at);
    }
    if (!paused && !over && ending !== null) finish(ending);
  }

  /** Gives the client what is stored, as fast as it takes it. */
  function go(): void {
    if (pushing || over || spool === null) return;
    pushing = true;
    push(spool)
      .catch((error: unknown) => {
        if (over) return;
        finish({ fault: { code: 'cut', reason: error instanceof Error ? error.message : 'a file failed' } });
        source.abort();
      })
      .finally(() => {
        pushing = false;
        if (!paused && !over && (at < spool!.length || ending !== null)) go();
      });
  }

  return {
    data(chunk) {
      if (over) return;
      if (spool === null) return give(chunk);
      spool.write(chunk);
      place?.took(chunk.length);
      if (!spool.hasRoom()) pauseSource();
      if (!paused) go();
    },
    end(trailers) {
      if (over) return;
      ending = { trailers };
      settle();
    },
    fail(fault) {
      if (over) return;
      ending = { fault };
      settle();
    },
    pause() {
      paused = true;
      if (over || ending !== null) return;
      if (spool !== null) {
        fill();
        if (joinDrains !== null && !hasTurn) pauseSource();
        return;
      }
      pauseSource();
      if (isWanted()) store();
      else late ??= setTimeout(store, HOLD_UP_MS);
    },
    resume() {
      paused = false;
      if (spool !== null) {
        leaveQueue();
        fill();
        go();
        return;
      }
      if (late !== null) clearTimeout(late);
      late = null;
      resumeSource();
    },
    abort() {
      if (over) return;
      close();
      source.abort();
    },
    cut(fault) {
      if (over) return;
      finish({ fault });
      source.abort();
    },
    hurry: store,
    octets: () => taken,
    waitedMs: () => (pausedSince === null ? waited : waited + performance.now() - pausedSince),
  };

  /** Passes the end on at once where nothing is stored before it. */
  function settle(): void {
    leaveQueue();
    if (spool === null || (at === spool.length && !pushing)) finish(ending!);
    else if (!paused) go();
  }
}
