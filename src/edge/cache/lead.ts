/** One request to the origin on behalf of the cache, and what becomes of whatever it answers. */
import type { ResponseFault, ResponseHead, ResponseSink, ResponseSource } from '../response.ts';
import { type Ask, createLaterSource, type LaterSource, NOBODY, passedHeaders } from './ask.ts';
import { validation } from './conditions.ts';
import { type Entry, isShared, isValidatable, mayServeOnError, mayServeUnreached } from './entry.ts';
import { createFill } from './fill.ts';
import { type Flight, join, land, read, release, type Shared, type Tower } from './flight.ts';
import { MAX_DROPPED } from './limits.ts';
import { type Answered, type Draft, draftOf, finished, freshened, isOther } from './make.ts';
import { respond } from './respond.ts';
import type { Spilling } from './store.ts';
import { variantOf, varyNames } from './vary.ts';

/** What takes the rest of an answer after its head. */
type Rest = Pick<ResponseSink, 'data' | 'end' | 'fail'>;

interface Lead {
  readonly tower: Tower;
  readonly ask: Ask;
  /** The stale entry there is. */
  readonly held: Entry | null;
  readonly flight: Flight | null;
  readonly sentAt: number;
  /** The moment it was asked for, as `Recent` counts them. */
  readonly asked: number;
  /** The origin is asked whether what is held has changed. */
  readonly validating: boolean;
  /** What the client holds back and aborts. */
  readonly later: LaterSource;
}

const MB = 1024 * 1024;

/** Asks the origin. While others wait for the answer it is fetched even after who asked has left. */
export function lead(tower: Tower, ask: Ask, held: Entry | null, key: string | null): ResponseSource {
  const sentAt = tower.clock();
  const asked = tower.recent.moment();
  const flight: Flight | null = key === null ? null : { key, asked, waiting: new Set(), shared: null };
  if (flight !== null) tower.flights.set(flight.key, flight);
  const reading = ask.request.method === 'GET';
  const validating = reading && held !== null && isValidatable(held);
  const one: Lead = { tower, ask, held, flight, sentAt, asked, validating, later: createLaterSource() };
  let rest: Rest | null = null;
  const own = reading && (held !== null || flight !== null || ask.request.headers['range'] !== undefined);
  const source = ask.fetch(own ? changesFor(validating ? held : null) : {}, {
    informational: (status, headers) => {
      if (!ask.gone) ask.sink.informational(status, headers);
    },
    head: (head, from) => {
      rest = takeHead(one, head, from);
    },
    data: (chunk) => rest?.data(chunk),
    end: (trailers) => rest?.end(trailers),
    fail: (fault) => (rest === null ? takeFault(one, fault) : rest.fail(fault)),
  });
  return {
    pause: one.later.pause,
    resume: one.later.resume,
    abort: () => {
      ask.gone = true;
      one.later.abort();
      if (rest !== null || (flight !== null && flight.waiting.size > 0)) return;
      land(tower, flight);
      source.abort();
    },
  };
}

/**
 * The client's own conditions and range are for the cache to answer: the origin is asked for all, or for news. Where
 * nothing is held, and nothing has lately been worth holding, they go on, for the origin may still answer 304.
 */
function changesFor(held: Entry | null): Readonly<Record<string, string | null>> {
  const conditions = held === null ? { etag: null, lastModified: null } : held.validators;
  return { ...validation(conditions), range: null, 'if-range': null };
}

function takeHead(one: Lead, head: ResponseHead, source: ResponseSource): Rest {
  const { ask, held, sentAt, tower } = one;
  const { headers, domain, directive, method } = ask.request;
  const now = tower.clock();
  if (held !== null && SERVER_ERRORS.has(head.status) && mayServeOnError(held, now)) {
    tower.recent.setFailing(ask.resource.key, 'error');
    standIn(one, held, (entry) => mayServeOnError(entry, now));
    return dropping(source);
  }
  const authorized = headers['authorization'] !== undefined;
  const answered = { head, directive, authorized, epoch: domain.purgeEpoch, sentAt, now };
  if (held !== null && one.validating && head.status === 304) {
    if (isOther(held, head.headers)) askAfresh(one);
    else refresh(one, held, answered);
    return NOBODY;
  }
  const draft = method === 'GET' ? draftOf(answered) : null;
  const most = domain.settings.cacheCapMb * MB;
  if (draft === null || (draft.announced ?? 0) > most) return passOn(one, head, source);
  return record(one, draft, source);
}

const SERVER_ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** What is held answers in place of an origin that fails, for those who wait as well. */
function standIn({ tower, ask, flight }: Lead, entry: Entry, may: (entry: Entry) => boolean): void {
  const told = { result: 'stale', status: 'hit; fwd=stale' } as const;
  land(tower, flight);
  if (!ask.gone) respond(tower, ask, entry, told);
  release(tower, flight, (waiting) => {
    if (waiting.held === null || !may(waiting.held)) return false;
    respond(tower, waiting.ask, waiting.held, told);
    return true;
  });
}

/** Reads an error to its end unless that is far, so that its connection can be used again. */
function dropping(source: ResponseSource): Rest {
  let octets = 0;
  return {
    ...NOBODY,
    data: (chunk) => {
      octets += chunk.length;
      if (octets > MAX_DROPPED) source.abort();
    },
  };
}

/** The 304 speaks of another answer than the one held: that one goes, and the whole is asked for. */
function askAfresh({ tower, ask, flight, later }: Lead): void {
  tower.store.remove(ask.resource);
  land(tower, flight);
  release(tower, flight, () => false);
  if (!ask.gone) later.become(tower.lead(ask, null, null));
}

/** What is held is as good as new. */
function refresh({ tower, ask, flight, asked }: Lead, held: Entry, answered: Answered): void {
  const { entry, keep } = freshened(held, answered);
  const names = varyNames(entry.headers);
  const stays = keep && names !== null && !tower.recent.isChangedSince(ask.resource.key, asked);
  if (stays) tower.store.put(ask.resource, ask.request.headers, { entry, names });
  else tower.store.remove(ask.resource);
  land(tower, flight);
  if (!ask.gone)
    respond(tower, ask, entry, { result: 'revalidated', status: 'hit; fwd=stale; fwd-status=304' });
  release(tower, flight, (waiting) => {
    // Who waited with the same in hand has the same answer; of anything else the 304 says nothing.
    if (!stays || waiting.held !== held) return false;
    respond(tower, waiting.ask, entry, { result: 'revalidated', status: 'hit; fwd=stale; collapsed' });
    return true;
  });
}

/** An answer that is not kept goes to who asked for it, alone. */
function passOn({ tower, ask, held, flight }: Lead, head: ResponseHead, source: ResponseSource): Rest {
  if (held !== null && head.status < 500 && ask.request.method === 'GET') tower.store.remove(ask.resource);
  if (flight !== null) tower.recent.setShareable(flight.key, false);
  land(tower, flight);
  release(tower, flight, () => false);
  if (ask.gone) {
    source.abort();
    return NOBODY;
  }
  ask.request.note('pass');
  ask.sink.head({ ...head, headers: passedHeaders(ask, head, held === null ? 'miss' : 'stale') }, source);
  return ask.sink;
}

/** Keeps an answer as it comes, and gives it to all who want the same. */
function record(one: Lead, draft: Draft, source: ResponseSource): Rest {
  const { tower, ask, flight, asked } = one;
  const { headers, domain } = ask.request;
  const { mostInMemory, store } = tower;
  const large = (draft.announced ?? 0) > mostInMemory;
  let spilling: Spilling | null = null;
  const fill = createFill({
    source,
    budget: tower.budget,
    mostInMemory: large ? 0 : mostInMemory,
    most: domain.settings.cacheCapMb * MB,
    spill: (onRest) => {
      spilling = store.spill(ask.resource, headers, { names: draft.names, onRest });
      return spilling === null ? null : spilling.file;
    },
    done: (kept, octets) => {
      land(tower, flight);
      if (kept === null) return;
      const whole = finished(draft, octets);
      const overtaken = tower.recent.isChangedSince(ask.resource.key, asked);
      if (kept instanceof Uint8Array) {
        if (!overtaken)
          store.put(ask.resource, headers, { entry: { ...whole, body: kept }, names: draft.names });
      } else if (overtaken) kept.abandon();
      else spilling?.keep(whole);
    },
  });
  const variant = variantOf(draft.names, headers);
  const shared: Shared | null =
    variant !== null && isShared(draft.entry) && !large ? { fill, draft, variant } : null;
  if (flight !== null) {
    flight.shared = shared;
    tower.recent.setShareable(flight.key, shared !== null);
    if (shared === null) land(tower, flight);
  }
  if (ask.gone) fill.attach({ sink: NOBODY, from: 0, to: 0, openSpool: ask.request.openSpool }).abort();
  else one.later.become(read(ask, { fill, draft, result: 'miss' }));
  release(tower, flight, (waiting) => shared !== null && join(shared, waiting.ask) !== null);
  return fill;
}

/** No answer: the origin cannot be reached, or the fetch broke off. */
function takeFault({ tower, ask, held, flight }: Lead, fault: ResponseFault): void {
  const unreached = UNREACHED.has(fault.code);
  const now = tower.clock();
  const instead = (entry: Entry | null): boolean =>
    entry !== null && unreached && mayServeUnreached(entry, now);
  const told = { result: 'stale', status: 'hit; fwd=stale' } as const;
  if (unreached) tower.recent.setFailing(ask.resource.key, 'unreached');
  land(tower, flight);
  if (!ask.gone) {
    if (held !== null && instead(held)) respond(tower, ask, held, told);
    else ask.sink.fail(fault);
  }
  release(tower, flight, (waiting) => {
    // The origin is down for those who wait as well; what was wrong with this one request is not theirs.
    if (!unreached) return false;
    if (waiting.held !== null && instead(waiting.held)) respond(tower, waiting.ask, waiting.held, told);
    else waiting.ask.sink.fail(fault);
    return true;
  });
}

const UNREACHED: ReadonlySet<string> = new Set([
  'busy',
  'unresolved',
  'forbidden',
  'refused',
  'unreachable',
  'unreached',
  'reset',
  'timeout',
]);
