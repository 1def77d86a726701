/** The settings of a plan that a node needs besides decisions: the domain's edge settings, its pools' health checks. */
import { SWITCH_LIST, type SwitchValues } from '../../base/vocabulary/switches.ts';
import { ORIGIN_SCHEMES, type OriginScheme } from '../../base/vocabulary/vocabulary.ts';
import {
  DEFAULT_EJECTION,
  EJECTIONS,
  META,
  MONITORED,
  NONE,
  POOL_EJECTION,
  POOL_FIELDS,
  POOL_HEALTH,
  POOL_ORIGIN,
  phaseStart,
  SLOT,
  typeIndex,
} from '../plan/layout.ts';
import { openPlan } from '../plan/seal.ts';
import { keyOfSlot } from './identity.ts';
import { type LoadedPlan, textOf } from './loaded.ts';

/** How a pool's origins are probed. */
export interface PoolHealth {
  readonly path: string;
  /** The Host sent; empty: the pool's own host header. */
  readonly host: string;
  readonly intervalSec: number;
  readonly timeoutSec: number;
  /** Consecutive failures that take an origin out, and consecutive successes that bring it back. */
  readonly unhealthyThreshold: number;
  readonly healthyThreshold: number;
}

/** Where an origin of a pool is reached. */
export interface PoolOriginAddress {
  readonly address: string;
  readonly port: number;
  readonly scheme: OriginScheme;
}

/** Passive ejection: what requests themselves show of an origin. */
export interface PoolEjection {
  /** Consecutive failed requests that eject an origin. */
  readonly failures: number;
  readonly seconds: number;
}

/** One origin pool; `OriginStates` identifies an origin by its index in `origins`. */
export interface PoolSettings {
  /** The rule's id. */
  readonly id: number;
  /** The rule's identity if the id is only its place in an edge file; absent: the id. */
  readonly key?: string;
  readonly hostHeader: string;
  readonly origins: readonly PoolOriginAddress[];
  /** `null`: not probed. */
  readonly health: PoolHealth | null;
  readonly ejection: PoolEjection;
}

/** A domain's settings that shape responses rather than decisions. */
export interface EdgeSettings extends SwitchValues {
  /** Megabytes of the largest response body that is cached. */
  readonly cacheCapMb: number;
  readonly diskMaxGb: number;
  readonly diskTtlDays: number;
  /** Whether a host of the domain is monitored; `Evaluator.monitors` answers for one host. */
  readonly monitored: boolean;
  readonly pools: readonly PoolSettings[];
}

/** Reads the settings of a plan; called once per evaluator. */
export function readEdgeSettings(loaded: LoadedPlan): EdgeSettings {
  const { meta } = loaded.plan;
  const on = (bit: number): boolean => (meta[META.switches]! & bit) !== 0;
  return {
    ...(Object.fromEntries(SWITCH_LIST.map(({ property, bit }) => [property, on(bit)])) as SwitchValues),
    cacheCapMb: meta[META.cacheCapMb]!,
    diskMaxGb: meta[META.diskMaxGb]!,
    diskTtlDays: meta[META.diskTtlDays]!,
    monitored: on(MONITORED),
    pools: readPools(loaded),
  };
}

/** Whether a sealed plan, checked before, has a pool whose origins are probed. @throws PlanFault */
export function hasProbes(bytes: Uint8Array): boolean {
  const { plan } = openPlan(bytes, { trusted: true });
  const { slots, words } = plan;
  const type = typeIndex('origin_pool');
  for (let slot = phaseStart(plan, type); slot < phaseStart(plan, type + 1); slot++) {
    const at = slots[slot * SLOT.size + SLOT.fields]!;
    if (words[at + POOL_FIELDS.health]! !== NONE) return true;
  }
  return false;
}

function readPools(loaded: LoadedPlan): readonly PoolSettings[] {
  const { slots, words } = loaded.plan;
  const type = typeIndex('origin_pool');
  const pools: PoolSettings[] = [];
  for (let slot = phaseStart(loaded.plan, type); slot < phaseStart(loaded.plan, type + 1); slot++) {
    const at = slots[slot * SLOT.size + SLOT.fields]!;
    const origins = Array.from({ length: words[at + POOL_FIELDS.count]! }, (_, index) => {
      const row = at + POOL_FIELDS.origins + index * POOL_ORIGIN.size;
      return {
        address: textOf(loaded, words[row + POOL_ORIGIN.address]!),
        port: words[row + POOL_ORIGIN.port]!,
        scheme: ORIGIN_SCHEMES[words[row + POOL_ORIGIN.scheme]!]!,
      };
    });
    const key = keyOfSlot(loaded, slot);
    pools.push({
      id: slots[slot * SLOT.size + SLOT.id]!,
      ...(key === '' ? {} : { key }),
      hostHeader: textOf(loaded, words[at + POOL_FIELDS.hostHeader]!),
      origins,
      health: readHealth(loaded, words[at + POOL_FIELDS.health]!),
      ejection: readEjection(loaded, at),
    });
  }
  return pools;
}

function readHealth(loaded: LoadedPlan, at: number): PoolHealth | null {
  if (at === NONE) return null;
  const { words } = loaded.plan;
  return {
    path: textOf(loaded, words[at + POOL_HEALTH.path]!),
    host: textOf(loaded, words[at + POOL_HEALTH.host]!),
    intervalSec: words[at + POOL_HEALTH.interval]!,
    timeoutSec: words[at + POOL_HEALTH.timeout]!,
    unhealthyThreshold: words[at + POOL_HEALTH.unhealthy]!,
    healthyThreshold: words[at + POOL_HEALTH.healthy]!,
  };
}

/** The ejection of the pool at `at`. With probes it is part of `POOL_HEALTH`, which earlier releases read too. */
function readEjection({ plan: { meta, words } }: LoadedPlan, at: number): PoolEjection {
  const health = words[at + POOL_FIELDS.health]!;
  if (health !== NONE) {
    return {
      failures: words[health + POOL_HEALTH.unhealthy]!,
      seconds: words[health + POOL_HEALTH.eject]!,
    };
  }
  if ((meta[META.switches]! & EJECTIONS) === 0) return DEFAULT_EJECTION;
  const row = at + POOL_FIELDS.origins + words[at + POOL_FIELDS.count]! * POOL_ORIGIN.size;
  return { failures: words[row + POOL_EJECTION.failures]!, seconds: words[row + POOL_EJECTION.seconds]! };
}
