/** Connects a node to the source of its plans: an edge file, or a control plane with its secrets and traffic reports. */
import { loadGateway } from '../../engine/evaluator/gateways.ts';
import { refOfSlot, refText } from '../../engine/evaluator/identity.ts';
import { createLoaded, type LoadedPlan } from '../../engine/evaluator/loaded.ts';
import type { CacheReport } from '../../engine/plan/cache-report.ts';
import { FLAG, META, NONE, RATE_FIELDS, RATE_OPTIONS, SLOT, typeNumber } from '../../engine/plan/layout.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import { openPlan } from '../../engine/plan/seal.ts';
import type { ChallengeSink } from '../following/install-challenges.ts';
import type { PlanSink } from '../following/plan-table.ts';
import { createLogShipper } from '../following/ship-logs.ts';
import { syncWithControlPlane } from '../following/sync.ts';
import { type NodeTraffic, openTraffic } from '../following/traffic/traffic.ts';
import type { SyncProgress } from '../proxy/log/metrics.ts';
import { createOwnLookup } from '../proxy/origin/names.ts';
import { type FeedPairSink, receiveCertificates } from './feed-certificates.ts';
import type { EdgeNodeOptions, PlanOrigin } from './options.ts';

/** Most domains with rules that a node warns of, as far as it cannot evaluate them: a log needs no more to act on. */
const MAX_BLIND_DOMAINS = 1_000;
/** Most rules that one such warning names. */
export const MAX_BLIND_RULES = 5;
/**
 * Maximum time, in milliseconds, that a restarted node waits for what was published and purged while it was off before it
 * serves the plans on its disk: a control plane that answers at all needs less, and one that is refused ends the wait.
 */
const CATCH_UP_MS = 3_000;

/** A source that is followed. */
export interface PlanSource {
  /** Takes the traffic counts for the control plane; `null`: no control plane. */
  readonly traffic: NodeTraffic | null;
  /** Sends reports of caches; `null`: no control plane. */
  readonly reportCache: ((report: CacheReport) => Promise<void>) | null;
  /** Reads the progress of sync; `null`: no control plane is followed. */
  readonly progress: (() => SyncProgress) | null;
  /** Checks for changes now. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

interface PlanReceivers {
  readonly plans: PlanSink;
  /** Receives the certificates that a control plane sends to a node with TLS. */
  readonly certificates: FeedPairSink;
  /** Receives the challenges of certificate authorities that a control plane sends. */
  readonly challenges: ChallengeSink;
  /** Called with the control plane's secret for clearances. */
  readonly onSecret: (clearance: Clearance) => void;
  /** The decisions are for proxies that ask at the doors of an agent; absent: for requests that are served here. */
  readonly atDoors?: true;
}

/**
 * Starts to follow the source.
 * @throws what the edge file is refused for; of a control plane only TrustFault and the system's errors: while it cannot
 * be reached, the plans on disk are served
 */
export async function followPlans(options: EdgeNodeOptions, receivers: PlanReceivers): Promise<PlanSource> {
  const { plans: origin, log } = options;
  const known = {
    signatures: options.signatures !== null,
    countries: options.countries !== null,
    atDoors: receivers.atDoors === true,
  };
  const plans = warnOfBlindRules(receivers.plans, { known, warn: (sentence) => log.warn(sentence) });
  if (origin.kind === 'control') return followControlPlane(origin, options, { ...receivers, plans });
  const { check, stop } = await origin.follow(plans);
  return { traffic: null, reportCache: null, progress: null, check, stop: async () => stop() };
}

async function followControlPlane(
  { url, token, publicKey }: PlanOrigin & { readonly kind: 'control' },
  { data, log, tls, shipped, onCaughtUp, onTokenRefused }: EdgeNodeOptions,
  { plans, certificates, challenges, onSecret }: PlanReceivers,
): Promise<PlanSource> {
  const received = tls === null ? null : receiveCertificates(certificates);
  const sync = await syncWithControlPlane({
    url,
    token,
    ...(publicKey === null ? {} : { publicKey }),
    directory: data,
    lookup: createOwnLookup(),
    plans,
    ...(received === null ? {} : { certificates: received.sink }),
    challenges,
    onSecret,
    onCaughtUp,
    onTokenRefused,
    log,
  });
  // Before anything is served: what was purged while this node was off may be in its disk cache.
  await sync.caughtUp(CATCH_UP_MS);
  const traffic = await openTraffic({ control: sync.control, directory: data, log });
  const shipper = shipped === null ? null : createLogShipper({ control: sync.control, directory: data, log });
  return {
    traffic,
    reportCache: sync.control.reportCache,
    progress() {
      const { mode, ...state } = sync.state();
      const sent = received?.facts() ?? { count: 0, firstExpiry: null };
      return { ...state, certificates: sent, connected: mode !== 'away', traffic: traffic.state() };
    },
    // Changes arrive on the stream; a new stream uses the token that the file has now.
    check: async () => sync.reconnect(),
    async stop() {
      await traffic.stop();
      await shipper?.stop();
      await sync.stop();
    },
  };
}

// Warns of rules that a node cannot evaluate as they are meant: `waf` rules without signatures, country filters without a
// country database, JA4H filters, headers and statuses at doors that do not carry them. In: the plans on their way to what serves
// them. Out: sentences that name the rules and
// the remedy.

/** What the rules of a node are evaluated with. */
export interface NodeFacts {
  readonly signatures: boolean;
  readonly countries: boolean;
  /** As in `PlanReceivers`; default `false`. */
  readonly atDoors?: boolean;
}

/** The sentences about a sealed plan that this node has checked already; one for each fact that is missing. */
export function blindRules(bytes: Uint8Array, known: NodeFacts): readonly string[] {
  const { plan, revision } = openPlan(bytes, { trusted: true });
  const loaded = createLoaded(plan, revision);
  const found = {
    ...{ waf: [] as number[], countries: [] as number[], ja4h: [] as number[] },
    ...{ headers: [] as number[], statuses: [] as number[], gateways: [] as number[] },
    clients: [] as number[],
  };
  for (let slot = 0; slot < plan.meta[META.slots]!; slot++) {
    const row = slot * SLOT.size;
    const flags = plan.slots[row + SLOT.flags]!;
    if ((flags & FLAG.enabled) === 0) continue;
    const type = flags & FLAG.type;
    if (!known.signatures && type === typeNumber('waf')) found.waf.push(slot);
    if (!known.countries && plan.slots[row + SLOT.countries] !== NONE) found.countries.push(slot);
    if (known.atDoors === true && type === typeNumber('rate_limit') && countsStatuses(loaded, row))
      found.statuses.push(slot);
    if (type === typeNumber('fingerprint') && hasJa4h(loaded, row)) found.ja4h.push(slot);
    if (known.atDoors === true && type === typeNumber('headers')) found.headers.push(slot);
    if (known.atDoors === true && type === typeNumber('gateway') && changesHeaders(loaded, slot))
      found.gateways.push(slot);
    if (
      known.atDoors === true &&
      type === typeNumber('gateway') &&
      loadGateway(loaded, slot).clients !== null
    )
      found.clients.push(slot);
  }
  const sentences: string[] = [];
  const add = (slots: readonly number[], text: string): void => {
    if (slots.length > 0) sentences.push(`${namesOf(loaded, slots)}: ${text}`);
  };
  add(
    found.waf,
    'nothing is inspected and attacks pass, since this node has no signatures; start it without `--signatures none` (`EDGEPLAN_SIGNATURES`)',
  );
  add(
    found.countries,
    'every country is unknown, so `include` matches nobody and `exclude` everybody; give a database with --countries',
  );
  add(
    found.ja4h,
    'this node does not compute JA4H, so `match_ja4h` matches nobody; use `match_ja4`, which needs --tls-port',
  );
  add(
    found.statuses,
    "an agent does not see the statuses of origins, so `count_statuses` counts the edge's own answers alone; leave it out, or use a node",
  );
  add(
    found.headers,
    'of forwarded requests an agent changes headers at its gRPC door alone, without removals from responses; at other doors set them in the configuration of the proxy',
  );
  add(
    found.gateways,
    "an agent changes headers of forwarded requests at its gRPC door alone; at other doors origins get keys that `hide` removes, and a visitor's own headers by the names in `upstream_headers`, and responses have no fields of `cors`: set and remove them in the configuration of the proxy",
  );
  add(
    found.clients,
    "the TLS of an agent's visitors ends at the proxy, so no request has a client certificate, and a gateway that requires `mtls` answers 401; use another kind of credentials, or a node",
  );
  return sentences;
}

/** Whether a gateway changes headers of requests that it admits, or of responses to them. */
function changesHeaders(loaded: LoadedPlan, slot: number): boolean {
  const { cors, headers, hide, sources } = loadGateway(loaded, slot);
  return cors !== null || headers !== NONE || (hide && sources.length > 0);
}

/** Whether a rate limit counts by the statuses of responses. */
function countsStatuses({ plan: { slots, words } }: LoadedPlan, row: number): boolean {
  const fields = slots[row + SLOT.fields]!;
  const isExtended = (words[fields + RATE_FIELDS.options]! & RATE_OPTIONS.extended) !== 0;
  return isExtended && words[fields + RATE_FIELDS.statuses] !== NONE;
}

/** The second of a rule's two lists, `match_ja4` and `match_ja4h`. */
function hasJa4h({ plan: { slots, words } }: LoadedPlan, row: number): boolean {
  const first = slots[row + SLOT.kinds]!;
  return words[first + 1 + words[first]!]! > 0;
}

function namesOf(loaded: LoadedPlan, slots: readonly number[]): string {
  const named = slots.slice(0, MAX_BLIND_RULES).map((slot) => refText(refOfSlot(loaded, slot)));
  const more = slots.length - named.length;
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

/** Options of `warnOfBlindRules`. */
export interface BlindRulesOptions {
  readonly known: NodeFacts;
  readonly warn: (sentence: string) => void;
}

/**
 * Passes plans on, and warns of each domain's blind rules when a plan is installed: once for the same sentences, and for
 * `MAX_BLIND_DOMAINS` domains at a time.
 */
export function warnOfBlindRules(plans: PlanSink, { known, warn }: BlindRulesOptions): PlanSink {
  /** By domain, the sentences it had last. */
  const warned = new Map<string, ReadonlySet<string>>();
  return {
    async set(name, entry) {
      await plans.set(name, entry);
      if (entry === 'refused') return;
      const before = warned.get(name);
      if (before === undefined && warned.size >= MAX_BLIND_DOMAINS) return;
      const sentences = blindRules(entry.read(), known);
      for (const sentence of sentences) if (before?.has(sentence) !== true) warn(`${name}: ${sentence}`);
      if (sentences.length === 0) warned.delete(name);
      else warned.set(name, new Set(sentences));
    },
    async delete(name) {
      warned.delete(name);
      await plans.delete(name);
    },
  };
}
