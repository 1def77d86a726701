/**
 * Origins that are known by name. A name is asked for once, however many connections wait for it, and its addresses are
 * believed as long as the DNS says. While the DNS fails, those known last are used on (RFC 8767).
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { MAX_ORIGIN_NAMES, NAME_RECHECK_MS, NAME_STALE_MS } from '../limits.ts';
import type { Resolve, ResolvedAddresses } from './resolve.ts';

export interface OriginNames {
  /** As `net.connect` takes it. */
  readonly lookup: LookupFunction;
  /**
   * A number that is another once a name has none of the addresses it had before: whoever keeps connections there
   * should make them anew. Looks behind where the addresses known are too old.
   */
  generation(name: string): number;
}

interface Known {
  six: readonly string[];
  four: readonly string[];
  /** Why there are no addresses, or why those here are old; `null`: they are as the DNS has them. */
  fault: NodeJS.ErrnoException | null;
  /** Until when it is not asked for again. */
  believedUntil: number;
  /** Until when the addresses may be used though the DNS fails. */
  usableUntil: number;
  /** The question that is out. */
  asked: Promise<void> | null;
  generation: number;
  /** Counts connections, for their turns. */
  turn: number;
}

/** `clock` in milliseconds, from wherever, that never jumps. */
export function createOriginNames({
  resolve,
  clock,
}: {
  readonly resolve: Resolve;
  readonly clock: () => number;
}): OriginNames {
  const names = new LRUCache<string, Known>({ max: MAX_ORIGIN_NAMES });

  function knownOf(name: string): Known {
    const found = names.get(name);
    if (found !== undefined) return found;
    const began: Known = {
      six: [],
      four: [],
      fault: null,
      believedUntil: Number.NEGATIVE_INFINITY,
      usableUntil: Number.NEGATIVE_INFINITY,
      asked: null,
      generation: 0,
      turn: 0,
    };
    names.set(name, began);
    return began;
  }

  function take(known: Known, found: ResolvedAddresses, name: string): void {
    const now = clock();
    if (found.kind === 'addresses') {
      if (isElsewhere(known, found)) known.generation++;
      known.six = found.six;
      known.four = found.four;
      known.fault = null;
      known.believedUntil = now + found.keptMs;
      known.usableUntil = now + NAME_STALE_MS;
      return;
    }
    known.fault = unresolved(name, found.reason);
    known.believedUntil = now + NAME_RECHECK_MS;
    if (found.kind === 'unknown' && now < known.usableUntil) return;
    if (hasAddresses(known)) known.generation++;
    known.six = [];
    known.four = [];
  }

  function ask(name: string, known: Known): Promise<void> {
    known.asked ??= resolve(name).then((found) => {
      known.asked = null;
      take(known, found, name);
    });
    return known.asked;
  }

  return {
    lookup(hostname, options, callback) {
      const name = hostname.toLowerCase();
      const known = knownOf(name);
      const answer = (): void => answerWith(known, options, callback as Callback);
      if (clock() < known.believedUntil) return process.nextTick(answer);
      const asked = ask(name, known);
      // Who waited for the DNS once while it fails is enough.
      if (known.fault !== null && hasAddresses(known)) process.nextTick(answer);
      else void asked.then(answer);
    },
    generation(name) {
      const known = knownOf(name);
      if (clock() >= known.believedUntil) void ask(name, known);
      return known.generation;
    },
  };
}

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** In turns, as the DNS would deal them out, and IPv6 first: Node tries the families by turns. */
function answerWith(known: Known, { all, family }: LookupOptions, callback: Callback): void {
  const turn = known.turn++;
  const six =
    family === 4 || family === 'IPv4' ? [] : known.six.map((_, at) => entry(known.six, at + turn, 6));
  const four =
    family === 6 || family === 'IPv6' ? [] : known.four.map((_, at) => entry(known.four, at + turn, 4));
  const found = [...six, ...four];
  const [first] = found;
  if (first === undefined) callback(known.fault ?? unresolved('', 'no address of this family'), '');
  else if (all === true) callback(null, found);
  else callback(null, first.address, first.family);
}

function entry(list: readonly string[], turn: number, family: 4 | 6): LookupAddress {
  return { address: list[turn % list.length]!, family };
}

function hasAddresses({ six, four }: Pick<Known, 'six' | 'four'>): boolean {
  return six.length + four.length > 0;
}

/** Addresses that have one in common are those of servers that are dealt out. */
function isElsewhere(known: Known, found: Pick<Known, 'six' | 'four'>): boolean {
  const before = new Set([...known.six, ...known.four]);
  return before.size > 0 && ![...found.six, ...found.four].some((address) => before.has(address));
}

/** The code of an error by which a name was not resolved. */
export const UNRESOLVED = 'EDGE_UNRESOLVED';

function unresolved(name: string, reason: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${name} has no address: ${reason}`), { code: UNRESOLVED });
}
