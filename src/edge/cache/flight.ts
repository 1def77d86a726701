/**
 * Fetches that several requests share. Whoever asks first leads; who asks for the same meanwhile waits for the head of
 * that answer and then reads along, or asks alone when it turns out not to be for sharing.
 */
import type { ResponseSource } from '../response.ts';
import { type Ask, type CacheResult, createLaterSource } from './ask.ts';
import { ruledHeaders, shape } from './deliver.ts';
import { ageOf, type Entry } from './entry.ts';
import type { Budget, Fill } from './fill.ts';
import { WAIT_MS } from './limits.ts';
import type { Draft } from './make.ts';
import type { Recent } from './recent.ts';
import type { Store } from './store.ts';
import { variantOf } from './vary.ts';

/** What asking needs of the cache around it. */
export interface Tower {
  readonly store: Store;
  readonly budget: Budget;
  /** Octets of a body held in memory. */
  readonly mostInMemory: number;
  readonly clock: () => number;
  /** Fetches others may share, by the key of the variant asked for. */
  readonly flights: Map<string, Flight>;
  readonly recent: Recent;
  readonly onFault: (error: unknown) => void;
  /** Asks the origin; `key` is the variant that others may share, `null` alone. */
  readonly lead: (ask: Ask, held: Entry | null, key: string | null) => ResponseSource;
}

/** A word for the journal, and what `Cache-Status` says after the cache's name. */
export interface Told {
  readonly result: CacheResult;
  readonly status: string;
}

/** A fetch that others may share. */
export interface Flight {
  readonly key: string;
  /** The moment it was asked for, as `Recent` counts them. */
  readonly asked: number;
  readonly waiting: Set<Waiting>;
  /** What comes of it, once its head is here. */
  shared: Shared | null;
}

export interface Waiting {
  readonly ask: Ask;
  readonly held: Entry | null;
  /** Ends the wait, by whatever answers it next. */
  readonly leave: () => void;
}

export interface Shared {
  readonly fill: Fill;
  readonly draft: Draft;
  /** The leader's values of what the answer varies by. */
  readonly variant: string;
}

/** Asks the origin, or joins who asks already. `held` is the stale entry there is. */
export function askOrigin(tower: Tower, ask: Ask, held: Entry | null, key: string | null): ResponseSource {
  const flight = key === null ? undefined : tower.flights.get(key);
  if (key === null || flight === undefined) return tower.lead(ask, held, key);
  // What is under way is older than a change: the next answer is the one to share.
  if (tower.recent.isChangedSince(ask.resource.key, flight.asked)) return tower.lead(ask, held, key);
  if (flight.shared === null) return wait(tower, flight, { ask, held });
  return join(flight.shared, ask) ?? tower.lead(ask, held, null);
}

function wait(tower: Tower, flight: Flight, { ask, held }: Pick<Waiting, 'ask' | 'held'>): ResponseSource {
  const later = createLaterSource();
  const waiting: Waiting = {
    ask,
    held,
    leave: () => {
      flight.waiting.delete(waiting);
      clearTimeout(late);
    },
  };
  const late = setTimeout(() => {
    waiting.leave();
    later.become(tower.lead(ask, held, null));
  }, WAIT_MS);
  flight.waiting.add(waiting);
  return {
    pause: later.pause,
    resume: later.resume,
    abort: () => {
      ask.gone = true;
      waiting.leave();
      later.abort();
    },
  };
}

/** Takes a flight out of the sky: who comes now starts another. */
export function land({ flights }: Tower, flight: Flight | null): void {
  if (flight !== null && flights.get(flight.key) === flight) flights.delete(flight.key);
}

/** Ends the wait of all: `take` answers those it can, the others ask alone. */
export function release(tower: Tower, flight: Flight | null, take: (waiting: Waiting) => boolean): void {
  if (flight === null) return;
  for (const waiting of [...flight.waiting]) {
    waiting.leave();
    if (!waiting.ask.gone && !take(waiting)) tower.lead(waiting.ask, waiting.held, null);
  }
}

/** Reads along, where the answer fits the request and all of it is here; else `null`. */
export function join({ fill, draft, variant }: Shared, ask: Ask): ResponseSource | null {
  const fits = variantOf(draft.names, ask.request.headers) === variant;
  return fits && fill.isRecording() ? read(ask, { fill, draft, result: 'shared' }) : null;
}

export interface Reading {
  readonly fill: Fill;
  readonly draft: Draft;
  readonly result: 'miss' | 'shared';
}

/** Gives one client its part of an answer that is coming in. */
export function read({ request, sink }: Ask, { fill, draft, result }: Reading): ResponseSource {
  const { entry, announced } = draft;
  const held = { status: entry.status, headers: entry.headers, length: announced };
  const headers = ruledHeaders(held, request.directive.browserTtl, entry.terms.mode === 'force');
  const shaped = shape({ ...held, headers }, request);
  const age = ageOf(entry, request.now);
  const aged = age > 0 && headers === entry.headers ? ['Age', String(age)] : [];
  request.note(result);
  // Who reads to the end waits for the end: only then is it certain that the answer is whole.
  const to = shaped.to === announced ? Number.POSITIVE_INFINITY : shaped.to;
  const { openSpool } = request;
  const reader = fill.attach({
    sink,
    from: shaped.from,
    to: shaped.from === shaped.to ? shaped.to : to,
    openSpool,
  });
  const status = `edgeplan; fwd=miss; ${result === 'shared' ? 'collapsed' : 'stored'}`;
  const told = [...shaped.headers, ...aged, 'Cache-Status', status];
  sink.head({ status: shaped.status, headers: told, madeBy: 'origin' }, reader);
  reader.start();
  return reader;
}
