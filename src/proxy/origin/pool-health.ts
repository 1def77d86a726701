/**
 * Which origins of a pool take requests. Two judges: probes, where the pool asks for them (so many failures in a row
 * take an origin out, so many successes bring it back), and requests themselves (as many failures in a row eject it for
 * a while; Envoy's outlier detection and nginx's `max_fails` do the same).
 */
import type {
  OriginStates,
  PoolHealth,
  PoolOriginAddress,
  PoolSettings,
  RuleRef,
} from '../../evaluator/index.ts';

/** Failed requests in a row that eject an origin of a pool without probes, and for how long, as nginx would. */
const FAILURES = 3;
const EJECT_MS = 30_000;

interface OriginState {
  inFlight: number;
  /** In a row. */
  failedRequests: number;
  ejectedUntil: number;
  failedProbes: number;
  passedProbes: number;
  probedDown: boolean;
}

interface PoolState {
  readonly settings: PoolSettings;
  readonly origins: readonly OriginState[];
  readonly timers: NodeJS.Timeout[];
}

/** Asks an origin whether it is well. */
export type Probe = (origin: PoolOriginAddress, pool: PoolSettings, health: PoolHealth) => Promise<boolean>;

/** One origin of a pool, as requests to it report. */
export interface PoolMember {
  begin(): void;
  end(outcome: 'well' | 'failed'): void;
}

/** A pool, as the rule that decided names it: it may be one of a plan that was replaced meanwhile. */
export type PoolName = Pick<RuleRef, 'id' | 'key'>;

export interface DomainPools extends OriginStates {
  /** The pool's origin with this address, `null` when the pool has none such. */
  origin(pool: PoolName, at: { readonly address: string; readonly port: number | null }): PoolMember | null;
  /** Another origin of the pool to try after `failed`, healthy and not tried yet; `null`: none is left. */
  another(pool: PoolName, tried: readonly string[]): PoolOriginAddress | null;
  /** Origins that are out, as `pool/address:port`. */
  down(): readonly string[];
  /** New settings: pools that stay as they are keep what is known of them. */
  replace(pools: readonly PoolSettings[]): void;
}

export function createDomainPools({ probe, clock }: { probe: Probe; clock: () => number }): DomainPools {
  /** By what each goes by from plan to plan. */
  const pools = new Map<string, PoolState>();
  /** As the plan now in force asks: by id. */
  const byId = new Map<number, PoolState>();

  function start(settings: PoolSettings): PoolState {
    const origins = settings.origins.map(() => ({
      inFlight: 0,
      failedRequests: 0,
      ejectedUntil: 0,
      failedProbes: 0,
      passedProbes: 0,
      probedDown: false,
    }));
    const { health } = settings;
    const timers =
      health === null
        ? []
        : settings.origins.map((origin, index) => {
            const ask = (): void => {
              void probe(origin, settings, health).then((well) => judge(origins[index]!, health, well));
            };
            // Spread, so that a node with many pools does not ask all at one moment.
            const first = setTimeout(ask, (health.intervalSec * 1_000 * index) / settings.origins.length);
            first.unref();
            return setInterval(ask, health.intervalSec * 1_000).unref();
          });
    return { settings, origins, timers };
  }

  function stop(pool: PoolState): void {
    for (const timer of pool.timers) clearInterval(timer);
  }

  function isWell(state: OriginState): boolean {
    return !state.probedDown && state.ejectedUntil <= clock();
  }

  return {
    healthy: (pool, origin) => {
      const state = byId.get(pool)?.origins[origin];
      return state === undefined || isWell(state);
    },
    inFlight: (pool, origin) => byId.get(pool)?.origins[origin]?.inFlight ?? 0,
    origin(pool, { address, port }) {
      const known = pools.get(nameOf(pool));
      const index = known?.settings.origins.findIndex((one) => one.address === address && one.port === port);
      const state = index === undefined ? undefined : known?.origins[index];
      if (known === undefined || state === undefined) return null;
      const { health } = known.settings;
      return {
        begin: () => void state.inFlight++,
        end: (outcome) => {
          state.inFlight--;
          if (outcome === 'well') state.failedRequests = 0;
          else if (++state.failedRequests >= (health?.unhealthyThreshold ?? FAILURES)) {
            state.failedRequests = 0;
            state.ejectedUntil = clock() + (health === null ? EJECT_MS : health.ejectSec * 1_000);
          }
        },
      };
    },
    another(pool, tried) {
      const known = pools.get(nameOf(pool));
      const place = known?.settings.origins.findIndex(
        (one, index) => !tried.includes(keyOf(one)) && isWell(known.origins[index]!),
      );
      return place === undefined || place < 0 ? null : known!.settings.origins[place]!;
    },
    down: () =>
      [...pools].flatMap(([name, { settings, origins }]) =>
        settings.origins.flatMap((origin, index) =>
          isWell(origins[index]!) ? [] : [`${name}/${keyOf(origin)}`],
        ),
      ),
    replace(next) {
      const staying = new Set(next.map(nameOf));
      for (const [name, pool] of pools) {
        if (staying.has(name)) continue;
        stop(pool);
        pools.delete(name);
      }
      byId.clear();
      for (const settings of next) {
        const name = nameOf(settings);
        const before = pools.get(name);
        const same = before !== undefined && settingsText(before.settings) === settingsText(settings);
        if (before !== undefined && !same) stop(before);
        const pool = same ? before : start(settings);
        pools.set(name, pool);
        byId.set(settings.id, pool);
      }
    },
  };
}

function nameOf({ id, key }: PoolName): string {
  return key ?? String(id);
}

/** All but the id, which may be a place. */
function settingsText({ id, ...settings }: PoolSettings): string {
  return JSON.stringify(settings);
}

/** The name of an origin among those tried. */
export function keyOf({ address, port }: { readonly address: string; readonly port: number | null }): string {
  return `${address}:${port}`;
}

function judge(state: OriginState, health: PoolHealth, well: boolean): void {
  state.passedProbes = well ? state.passedProbes + 1 : 0;
  state.failedProbes = well ? 0 : state.failedProbes + 1;
  if (state.failedProbes >= health.unhealthyThreshold) state.probedDown = true;
  if (state.passedProbes >= health.healthyThreshold) {
    state.probedDown = false;
    state.ejectedUntil = 0;
  }
}
