/** Which origin a request goes to: pools, routes and a host's own records (semantics §5 origin_pool, origin_route). */
import type {
  BotRouteRule,
  DnsRecord,
  OriginPoolRule,
  OriginRouteRule,
  PoolOrigin,
} from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import { defaultPort } from './path.ts';
import type { OracleEnv, Origin } from './types.ts';

export interface Origins {
  /** The index of the origin a pool gives this request; with `peek` the pool's state does not move. */
  pickPool(rule: OriginPoolRule, peek: boolean): number;
  /** The index of the record a host's group of records gives this request. */
  pickRecord(records: readonly DnsRecord[], peek: boolean): number;
}

interface Choice {
  /** Indexes of the origins that may be taken. */
  readonly among: readonly number[];
  readonly weightOf: (index: number) => number;
}

/** One step of smooth weighted round robin (nginx, ngx_http_upstream_round_robin); `current` is changed. */
function smooth(current: number[], { among, weightOf }: Choice): number {
  for (const index of among) current[index] = (current[index] ?? 0) + weightOf(index);
  let best = among[0]!;
  for (const index of among) if (current[index]! > current[best]!) best = index;
  current[best] = current[best]! - among.reduce((sum, index) => sum + weightOf(index), 0);
  return best;
}

function choose(rule: OriginPoolRule, env: OracleEnv): Choice {
  const { origins } = rule;
  const nodeId = env.nodeId ?? null;
  const weightOf = (index: number) => origins[index]!.weight;
  const healthy = (index: number) => env.healthy?.(rule.id, index) ?? true;
  const members = (wanted: (origin: PoolOrigin) => boolean) =>
    [...origins.keys()].filter((index) => weightOf(index) > 0 && wanted(origins[index]!));
  const everyone = members(() => true);
  const eligible = everyone.some(healthy) ? everyone.filter(healthy) : everyone;
  switch (rule.lb_type) {
    case 'round_robin':
      return { among: eligible, weightOf };
    case 'least_load': {
      const load = (index: number) => (env.inFlight?.(rule.id, index) ?? 0) / weightOf(index);
      const least = Math.min(...eligible.map(load));
      return { among: eligible.filter((index) => load(index) === least), weightOf };
    }
    case 'geo': {
      const here = members((origin) => nodeId !== null && origin.node_ids.includes(nodeId));
      const groups = [here, members((origin) => origin.node_ids.length === 0), everyone];
      const alive = groups.find((group) => group.some(healthy))?.filter(healthy);
      return { among: alive ?? groups.find((group) => group.length > 0)!, weightOf: () => 1 };
    }
  }
}

/** Fresh pool and record state. */
export function createOrigins(env: OracleEnv): Origins {
  const pools = new Map<number, number[]>();
  const turns = new Map<string, number>();
  return {
    pickPool(rule, peek) {
      const current = [...(pools.get(rule.id) ?? rule.origins.map(() => 0))];
      const picked = smooth(current, choose(rule, env));
      if (!peek) pools.set(rule.id, current);
      return picked;
    },
    pickRecord(records, peek) {
      const key = records.map((record) => record.id).join(',');
      const turn = turns.get(key) ?? 0;
      if (!peek) turns.set(key, (turn + 1) % records.length);
      return turn;
    },
  };
}

/** The Host an origin gets: its own where one is set, else the visitor's with the listener's port unless that is the default. */
function hostHeader(own: string, facts: Facts): string {
  if (own !== '') return own;
  const shown = facts.listenerPort !== defaultPort(facts.scheme);
  return shown ? `${facts.host}:${facts.listenerPort}` : facts.host;
}

/** The origin a bot_route rule pins. */
export function altOrigin(rule: BotRouteRule, facts: Facts): Origin {
  return {
    address: rule.alt_dest,
    port: rule.alt_port ?? defaultPort(rule.alt_scheme),
    scheme: rule.alt_scheme,
    hostHeader: hostHeader('', facts),
    source: 'alt_origin',
    timeoutSec: null,
  };
}

/** The origin of an origin_route rule. */
export function routeOrigin(rule: OriginRouteRule, facts: Facts): Origin {
  return {
    address: rule.address,
    port: rule.port ?? defaultPort(rule.scheme),
    scheme: rule.scheme,
    hostHeader: hostHeader(rule.host_header, facts),
    source: 'origin_route',
    timeoutSec: null,
  };
}

/** The origin at an index of a pool. */
export function poolOrigin(rule: OriginPoolRule, index: number, facts: Facts): Origin {
  const { address, port, scheme } = rule.origins[index]!;
  return {
    address,
    port: port ?? defaultPort(scheme),
    scheme,
    hostHeader: hostHeader(rule.host_header, facts),
    source: 'origin_pool',
    timeoutSec: null,
  };
}

/** The origin that is a record's own destination. */
export function recordOrigin(record: DnsRecord, facts: Facts): Origin {
  const schemes = { Default: facts.scheme, Auto: 'auto', Http: 'http', Https: 'https' } as const;
  const scheme = schemes[record.scheme];
  return {
    address: record.destination,
    port: record.port ?? (scheme === 'auto' ? null : defaultPort(scheme)),
    scheme,
    hostHeader: hostHeader(record.host_header, facts),
    source: 'record',
    timeoutSec: record.timeout,
  };
}
