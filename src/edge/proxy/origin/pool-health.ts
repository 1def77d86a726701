/**
 * The health of a domain's pools. In: results of probes, if the pool has them (so many failures in a row take an origin
 * out, so many successes bring it back), and of requests (as many failures in a row eject it for a while, as Envoy's outlier
 * detection and nginx's `max_fails`). Out: which origins take requests, and their load.
 */
import type {
  OriginStates,
  PoolEjection,
  PoolHealth,
  PoolOriginAddress,
  PoolSettings,
  RuleRef,
} from '../../../engine/evaluator/index.ts';

/** Milliseconds over which the first probes of a pool are spread at most: a node that starts waits for them. */
const FIRST_SPREAD_MS = 2_000;

interface OriginState {
  inFlight: number;
  /** Consecutive. */
  failedRequests: number;
  /** On the pools' clock, milliseconds. */
  ejectedUntil: number;
  failedProbes: number;
  passedProbes: number;
  probedDown: boolean;
  /** Whether the result of its first probe is still to come. */
  unprobed: boolean;
}

interface PoolState {
  readonly settings: PoolSettings;
  /** In the order of `settings.origins`. */
  readonly origins: readonly OriginState[];
  readonly timers: NodeJS.Timeout[];
}

/** Resolves to whether an origin is healthy. */
export type Probe = (origin: PoolOriginAddress, pool: PoolSettings, health: PoolHealth) => Promise<boolean>;

/** One origin of a pool, as requests to it report their outcome. */
export interface PoolMember {
  begin(): void;
  end(outcome: 'well' | 'failed'): void;
}

/** A pool by the rule that decided. The rule may be one of a plan that has been replaced since. */
export type PoolName = Pick<RuleRef, 'id' | 'key'>;

export interface DomainPools extends OriginStates {
  /** The pool's origin with this address; `null`: the pool has no such origin. */
  origin(pool: PoolName, at: { readonly address: string; readonly port: number | null }): PoolMember | null;
  /** A healthy origin of the pool that is not among those tried (`keyOf`); `null`: none is left. */
  another(pool: PoolName, tried: readonly string[]): PoolOriginAddress | null;
  /** Origins that take no requests, as `pool/address:port`. */
  down(): readonly string[];
  /** The number of origins whose first probe has no result yet. */
  unprobed(): number;
  /** Replaces the settings. Pools whose settings stay the same retain their state. */
  replace(pools: readonly PoolSettings[]): void;
}

interface PoolsState {
  readonly probe: Probe;
  readonly clock: () => number;
  /** By the name that a pool retains from plan to plan. */
  readonly pools: Map<string, PoolState>;
  /** By the rule's id in the current plan. */
  readonly byId: Map<number, PoolState>;
}

/** @param options `clock` in milliseconds, monotonic */
export function createDomainPools(options: {
  readonly probe: Probe;
  readonly clock: () => number;
}): DomainPools {
  const state: PoolsState = { ...options, pools: new Map(), byId: new Map() };
  const { pools, byId, clock } = state;
  return {
    healthy: (pool, origin) => {
      const member = byId.get(pool)?.origins[origin];
      return member === undefined || isHealthy(member, clock());
    },
    inFlight: (pool, origin) => byId.get(pool)?.origins[origin]?.inFlight ?? 0,
    origin: (pool, at) => memberOf(state, pool, at),
    another(pool, tried) {
      const current = pools.get(nameOf(pool));
      const index = current?.settings.origins.findIndex(
        (origin, at) => !tried.includes(keyOf(origin)) && isHealthy(current.origins[at]!, clock()),
      );
      return index === undefined || index < 0 ? null : current!.settings.origins[index]!;
    },
    down: () =>
      [...pools].flatMap(([name, { settings, origins }]) =>
        settings.origins.flatMap((origin, at) =>
          isHealthy(origins[at]!, clock()) ? [] : [`${name}/${keyOf(origin)}`],
        ),
      ),
    unprobed() {
      let count = 0;
      for (const { origins } of pools.values()) for (const { unprobed } of origins) count += unprobed ? 1 : 0;
      return count;
    },
    replace: (settings) => replacePools(state, settings),
  };
}

function isHealthy({ probedDown, ejectedUntil }: OriginState, now: number): boolean {
  return !probedDown && ejectedUntil <= now;
}

function memberOf(
  { pools, clock }: PoolsState,
  pool: PoolName,
  { address, port }: { readonly address: string; readonly port: number | null },
): PoolMember | null {
  const current = pools.get(nameOf(pool));
  const index = current?.settings.origins.findIndex((one) => one.address === address && one.port === port);
  const origin = index === undefined ? undefined : current?.origins[index];
  if (current === undefined || origin === undefined) return null;
  const { ejection } = current.settings;
  return {
    begin: () => void origin.inFlight++,
    end: (outcome) => {
      origin.inFlight--;
      countRequest(origin, { ejection, failed: outcome === 'failed', now: clock() });
    },
  };
}

interface RequestResult {
  readonly ejection: PoolEjection;
  readonly failed: boolean;
  readonly now: number;
}

function countRequest(origin: OriginState, { ejection, failed, now }: RequestResult): void {
  if (!failed) {
    origin.failedRequests = 0;
    return;
  }
  if (++origin.failedRequests < ejection.failures) return;
  origin.failedRequests = 0;
  origin.ejectedUntil = now + ejection.seconds * 1_000;
}

/** A passed series of probes also ends an ejection. */
function countProbe(origin: OriginState, health: PoolHealth, passed: boolean): void {
  origin.unprobed = false;
  origin.passedProbes = passed ? origin.passedProbes + 1 : 0;
  origin.failedProbes = passed ? 0 : origin.failedProbes + 1;
  if (origin.failedProbes >= health.unhealthyThreshold) origin.probedDown = true;
  if (origin.passedProbes >= health.healthyThreshold) {
    origin.probedDown = false;
    origin.ejectedUntil = 0;
  }
}

function startPool(settings: PoolSettings, probe: Probe): PoolState {
  const { health } = settings;
  const origins = settings.origins.map(() => ({
    inFlight: 0,
    failedRequests: 0,
    ejectedUntil: 0,
    failedProbes: 0,
    passedProbes: 0,
    probedDown: false,
    unprobed: health !== null,
  }));
  if (health === null) return { settings, origins, timers: [] };
  const everyMs = health.intervalSec * 1_000;
  const timers = settings.origins.flatMap((origin, index) => {
    const run = (): void => {
      void probe(origin, settings, health).then((passed) => countProbe(origins[index]!, health, passed));
    };
    // The first probes are spread over a part of the interval, so that a pool does not send all at once.
    const firstMs = (Math.min(everyMs, FIRST_SPREAD_MS) * index) / settings.origins.length;
    return [setTimeout(run, firstMs).unref(), setInterval(run, everyMs).unref()];
  });
  return { settings, origins, timers };
}

function stopPool({ timers }: PoolState): void {
  // Ends time-outs, too.
  for (const timer of timers) clearInterval(timer);
}

function replacePools({ pools, byId, probe }: PoolsState, next: readonly PoolSettings[]): void {
  const names = new Set(next.map(nameOf));
  for (const [name, pool] of pools) {
    if (names.has(name)) continue;
    stopPool(pool);
    pools.delete(name);
  }
  byId.clear();
  for (const settings of next) {
    const name = nameOf(settings);
    const before = pools.get(name);
    const isUnchanged = before !== undefined && settingsText(before.settings) === settingsText(settings);
    if (before !== undefined && !isUnchanged) stopPool(before);
    const pool = isUnchanged ? before : startPool(settings, probe);
    pools.set(name, pool);
    byId.set(settings.id, pool);
  }
}

function nameOf({ id, key }: PoolName): string {
  return key ?? String(id);
}

/** All settings but the id, which differs between plans if it is a position in a file. */
function settingsText({ id, ...settings }: PoolSettings): string {
  return JSON.stringify(settings);
}

/** The name of an origin among those tried. */
export function keyOf({ address, port }: { readonly address: string; readonly port: number | null }): string {
  return `${address}:${port}`;
}
