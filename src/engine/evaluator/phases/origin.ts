/** Phase 10: where the request goes. A pinned origin, else a route, else a pool, else the host's own records. */
import { LB_TYPES, ORIGIN_SCHEMES, RECORD_SCHEMES } from '../../../base/vocabulary/vocabulary.ts';
import {
  BOT_FIELDS,
  DEFAULT_PORTS,
  GROUP,
  POOL_FIELDS,
  POOL_ORIGIN,
  RECORD,
  ROUTE_FIELDS,
  SLOT,
  typeIndex,
} from '../../plan/layout.ts';
import {
  createPoolState,
  createTurnState,
  type Pool,
  pick,
  pickInTurn,
  type Surroundings,
} from '../balancer.ts';
import type { RuleExplanation, RuleReason, Settled } from '../checks.ts';
import type { Decision, Origin, OriginSource } from '../decision.ts';
import { defaultPort, type Facts } from '../facts.ts';
import { type LoadedPlan, textOf } from '../loaded.ts';
import {
  acts,
  type Context,
  endPhase,
  type LoadedPool,
  nextMatch,
  type Run,
  record,
  refOf,
  slotWord,
} from '../run.ts';
import { rewrittenQuery } from './rewrite.ts';

const ORIGIN_ROUTE = typeIndex('origin_route');
const ORIGIN_POOL = typeIndex('origin_pool');

/**
 * Chooses the origin and writes what it gets. Never ends a request, and always finds an origin, since the gate refuses
 * hosts without records.
 */
export function origin(context: Context, run: Run): false {
  run.origin = originPinned(context, run) ?? originOfRule(context, run) ?? originOfRecords(context, run);
  return forward(context, run);
}

/** Runs the phase if no route or pool can match. */
export function originWithoutRules(context: Context, run: Run): false {
  run.origin = originPinned(context, run) ?? originOfRecords(context, run);
  return forward(context, run);
}

/** Writes the path and query that the origin gets. */
function forward(context: Context, run: Run): false {
  run.path ??= context.facts.forwarded;
  run.query = rewrittenQuery(context, run);
  return false;
}

/** The origin of the bot_route rule that pinned it, or `null`. */
function originPinned(context: Context, run: Run): Origin | null {
  if (run.pinned < 0) return null;
  run.rule = refOf(context, run.pinned);
  return altOrigin(context, run.pinned);
}

/** The origin of the first route, else of the first pool, or `null`. */
function originOfRule(context: Context, run: Run): Origin | null {
  const route = firstActing(context, run, ORIGIN_ROUTE);
  if (route >= 0) {
    run.rule = refOf(context, route);
    return routeOrigin(context, route);
  }
  const pool = firstActing(context, run, ORIGIN_POOL);
  if (pool < 0) return null;
  run.rule = refOf(context, pool);
  return poolOrigin(context, run, pool);
}

/** The first matching rule of a type that acts, or -1. */
function firstActing(context: Context, run: Run, type: number): number {
  for (let slot = nextMatch(context, type); slot >= 0; slot = nextMatch(context, type)) {
    record(context, run, slot, 'origin');
    if (!acts(context, run, slot)) continue;
    endPhase(context, type);
    return slot;
  }
  return -1;
}

/** The visitor's own host, with the listener's port unless that is the scheme's default. */
function visitorHost(facts: Facts): string {
  const usual = facts.listenerPort === defaultPort(facts.https);
  return usual ? facts.host : `${facts.host}:${facts.listenerPort}`;
}

function hostHeader(context: Context, string: number): string {
  return string === 0 ? visitorHost(context.facts) : textOf(context.loaded, string);
}

/** Where the fields of an origin are: offsets in `words`; `hostHeader` is a string number. */
interface OriginWords {
  readonly address: number;
  readonly port: number;
  readonly scheme: number;
  readonly hostHeader: number;
  readonly source: OriginSource;
}

function makeOrigin(context: Context, from: OriginWords): Origin {
  const { words } = context.loaded.plan;
  return {
    address: textOf(context.loaded, words[from.address]!),
    port: words[from.port]!,
    scheme: ORIGIN_SCHEMES[words[from.scheme]!]!,
    hostHeader: hostHeader(context, from.hostHeader),
    source: from.source,
    timeoutSec: null,
  };
}

function altOrigin(context: Context, slot: number): Origin {
  const fields = slotWord(context, slot, SLOT.fields);
  const at = {
    address: fields + BOT_FIELDS.dest,
    port: fields + BOT_FIELDS.port,
    scheme: fields + BOT_FIELDS.scheme,
  };
  return makeOrigin(context, { ...at, hostHeader: 0, source: 'alt_origin' });
}

function routeOrigin(context: Context, slot: number): Origin {
  const fields = slotWord(context, slot, SLOT.fields);
  return makeOrigin(context, {
    address: fields + ROUTE_FIELDS.address,
    port: fields + ROUTE_FIELDS.port,
    scheme: fields + ROUTE_FIELDS.scheme,
    hostHeader: context.loaded.plan.words[fields + ROUTE_FIELDS.hostHeader]!,
    source: 'origin_route',
  });
}

function poolOrigin(context: Context, run: Run, slot: number): Origin {
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const row = fields + POOL_FIELDS.origins + pickOrigin(context, run, slot) * POOL_ORIGIN.size;
  return makeOrigin(context, {
    address: row + POOL_ORIGIN.address,
    port: row + POOL_ORIGIN.port,
    scheme: row + POOL_ORIGIN.scheme,
    hostHeader: words[fields + POOL_FIELDS.hostHeader]!,
    source: 'origin_pool',
  });
}

/** A rule's pool, decoded at its first use. */
function poolOf(context: Context, slot: number): LoadedPool {
  const known = context.pools.get(slot);
  if (known !== undefined) return known;
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const weights: number[] = [];
  const nodeIds: (readonly number[])[] = [];
  for (let index = 0; index < words[fields + POOL_FIELDS.count]!; index++) {
    const row = fields + POOL_FIELDS.origins + index * POOL_ORIGIN.size;
    const nodes = words[row + POOL_ORIGIN.nodes]!;
    weights.push(words[row + POOL_ORIGIN.weight]!);
    nodeIds.push([...words.subarray(nodes + 1, nodes + 1 + words[nodes]!)]);
  }
  const pool: Pool = { lbType: LB_TYPES[words[fields + POOL_FIELDS.lbType]!]!, weights, nodeIds };
  const { nodeId, origins } = context;
  const id = slotWord(context, slot, SLOT.id);
  const around: Surroundings = {
    nodeId,
    healthy: (origin) => origins.healthy(id, origin),
    inFlight: (origin) => origins.inFlight(id, origin),
  };
  const made = { pool, state: createPoolState(weights.length), around };
  context.pools.set(slot, made);
  return made;
}

/** The index of the origin that the pool's balancer picks, once per request. */
function pickOrigin(context: Context, run: Run, slot: number): number {
  const known = context.memo.picks.get(slot);
  if (known !== undefined) return known;
  const { pool, state, around } = poolOf(context, slot);
  const picked = pick(pool, state, around, { advance: !run.shadow });
  if (!run.shadow) context.memo.picks.set(slot, picked);
  return picked;
}

/** Key of the host's own records among the picks of a request. */
const OWN_RECORDS = -1;

/** Several records of one host take turns in the order of their ids. */
function originOfRecords(context: Context, run: Run): Origin {
  const { facts, memo, turns } = context;
  const { words } = context.loaded.plan;
  const count = words[facts.group + GROUP.count]!;
  if (count === 1) return recordAt(context, facts.group + GROUP.records);
  let picked = memo.picks.get(OWN_RECORDS);
  if (picked === undefined) {
    const state = turns.get(facts.group) ?? createTurnState();
    turns.set(facts.group, state);
    picked = pickInTurn(count, state, { advance: !run.shadow });
    if (!run.shadow) memo.picks.set(OWN_RECORDS, picked);
  }
  return recordAt(context, facts.group + GROUP.records + picked * RECORD.size);
}

function recordAt(context: Context, row: number): Origin {
  const { loaded, facts } = context;
  const { words } = loaded.plan;
  const scheme = recordScheme(loaded, row, facts);
  const port = words[row + RECORD.port]!;
  const timeout = words[row + RECORD.timeout]!;
  return {
    address: textOf(loaded, words[row + RECORD.destination]!),
    port: port !== 0 ? port : scheme === 'auto' ? null : DEFAULT_PORTS[ORIGIN_SCHEMES.indexOf(scheme)]!,
    scheme,
    hostHeader: hostHeader(context, words[row + RECORD.hostHeader]!),
    source: 'record',
    timeoutSec: timeout === 0 ? null : timeout,
  };
}

function recordScheme(loaded: LoadedPlan, row: number, facts: Facts): Origin['scheme'] {
  switch (RECORD_SCHEMES[loaded.plan.words[row + RECORD.scheme]!]) {
    case 'Auto':
      return 'auto';
    case 'Http':
      return 'http';
    case 'Https':
      return 'https';
    default:
      return facts.https ? 'https' : 'http';
  }
}

/** The note of a trace about an origin that no rule has chosen. */
export function recordNote(_context: Context, { origin: chosen }: Decision): string | null {
  return chosen?.source === 'record' ? "the host's own records" : null;
}

function pinnedReason({ pinnedBy }: Settled): RuleReason | null {
  return pinnedBy === null ? null : { code: 'overridden', text: `the origin is pinned by ${pinnedBy}` };
}

/** What a trace says of origin_route rules. */
export const routeExplanation: RuleExplanation = { overridden: pinnedReason };

/** What a trace says of origin_pool rules. */
export const poolExplanation: RuleExplanation = {
  hasPaths: false,
  overridden: (settled) => pinnedReason(settled) ?? routedReason(settled),
};

function routedReason({ decision: { rule } }: Settled): RuleReason | null {
  if (rule?.type !== 'origin_route') return null;
  return { code: 'overridden', text: `${rule.type} #${rule.id} takes precedence over pools` };
}
