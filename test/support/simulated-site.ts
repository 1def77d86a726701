/**
 * A site with visitors over simulated days: each request is decided by the plan of the domain's rules as they are stored that
 * day, and what a node counts and logs of it is sent through the routes of nodes.
 */
import { createHash, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { readDomainRows, toRuleSet } from '../../src/control/publishing/make-plan.ts';
import { createNode } from '../../src/control/publishing/nodes.ts';
import { decisionLine } from '../../src/edge/proxy/log/line.ts';
import { createTrafficLog, type RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { compile } from '../../src/engine/compiler/index.ts';
import { createTopLists, createTrafficCounts } from '../../src/engine/counts/counts.ts';
import { sealBatch, sealCounts, sealTops } from '../../src/engine/counts/layout.ts';
import { countRequest, countTops } from '../../src/engine/counts/request-counter.ts';
import {
  type Decision,
  type EdgeRequest,
  type Evaluator,
  loadPlan,
} from '../../src/engine/evaluator/index.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { serving } from '../../src/workbench/proofs/subject.ts';
import { send } from './api.ts';
import type { Subject } from './api-rules-subject.ts';
import { batchOf } from './log-lines.ts';
import { starter } from './starter.ts';

const HOUR = 3_600_000;
/** Lines of one batch of log entries. */
const LINES_AT_ONCE = 500;

/** A request of a visitor; everything else is usual, and over TLS. */
export interface Visit extends Partial<EdgeRequest> {
  /** A label of the zone. */
  readonly host?: string;
}

/** A site whose visitors come day by day. */
export interface SimulatedSite {
  /** Sends the counts and entries of visits, which are spread over the 24 hours before now. */
  day(visits: readonly Visit[]): Promise<void>;
}

/** Opens one with a node of its own. `logged`: the share of forwarded requests that the node logs. */
export async function openSite(
  { api, domain }: Subject,
  { logged = 0.01 }: { readonly logged?: number } = {},
): Promise<SimulatedSite> {
  const name = `node-of-${domain.name.split('.')[0]}`;
  const { token } = await api.store.write((tx) => createNode(tx, name, api.now()));
  const cached = new Set<string>();
  let batches = 0;

  async function post(path: string, type: string, body: Buffer): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'content-encoding': 'gzip' };
    const { status, text } = await send(api.port, { method: 'POST', path, body, headers });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  }
  async function plan(): Promise<{ readonly evaluator: Evaluator; readonly digest: string }> {
    const row = (await api.store.latest.domains.get(domain.id))!;
    const ruleSet = toRuleSet(await api.store.read((tx) => readDomainRows(tx, row)));
    const bytes = seal(compile(serving(ruleSet)).plan, { revision: 1 });
    const digest = createHash('sha256').update(bytes).digest('hex');
    return { evaluator: loadPlan(bytes, { waf: starter().waf }), digest };
  }
  /** The cache result of a decision, as of a cache that loses nothing. */
  function cacheResult({ cache }: Decision): string | null {
    if (cache === null || cache.key === null) return null;
    if (cached.has(cache.key)) return 'hit';
    cached.add(cache.key);
    return 'miss';
  }

  return {
    async day(visits) {
      const { evaluator, digest } = await plan();
      const now = api.now();
      const entries = visits.map((visit, place): RequestLogEntry => {
        const hour = Math.floor((place / visits.length) * 24);
        const at = Math.floor(now / HOUR) * HOUR - (24 - hour) * HOUR + (place % 3_000) * 1_000;
        const request = requestOf(visit, domain.name, at);
        const decision = evaluator.evaluate(request);
        const status = decision.status ?? 200;
        return entryOf(
          { evaluator, digest, domain: domain.name, request, decision, at },
          {
            status,
            cache: cacheResult(decision),
          },
        );
      });
      await post('/nodes/traffic', 'application/octet-stream', countedBatch(entries, domain.name, ++batches));
      const lines = entries.flatMap((entry, place) => {
        const isPlain =
          entry.exchange!.decision.action === 'forward' && entry.exchange!.decision.shadow === null;
        const isLogged = !isPlain || Math.floor(place * logged) !== Math.floor((place + 1) * logged);
        return isLogged ? [{ ...decisionLine(entry, isPlain ? logged : null) }] : [];
      });
      for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
        const batch = batchOf(lines.slice(from, from + LINES_AT_ONCE));
        await post('/nodes/logs', 'application/x-ndjson', gzipSync(batch));
      }
    },
  };
}

function requestOf({ host, ...visit }: Visit, domain: string, now: number): EdgeRequest {
  return {
    scheme: 'https',
    method: 'GET',
    target: '/',
    ip: '203.0.113.7',
    country: 'DE',
    bot: null,
    ja4: visit.scheme === 'http' ? null : 't13d1516h2_8daaf6152771_02713d6af862',
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' },
    body: null,
    ...visit,
    host: `${host ?? 'shop'}.${domain}`,
    now,
  };
}

interface Decided {
  readonly evaluator: Evaluator;
  readonly digest: string;
  readonly domain: string;
  readonly request: EdgeRequest;
  readonly decision: Decision;
  readonly at: number;
}

function entryOf(
  { evaluator, digest, domain, request, decision, at }: Decided,
  { status, cache }: Pick<RequestLogEntry, 'status' | 'cache'>,
): RequestLogEntry {
  const id = randomUUID();
  const served = { name: domain, evaluator, revision: 1, digest };
  const exchange = { id, request, domain: served, decision, startedAt: at };
  return {
    exchange: exchange as unknown as NonNullable<RequestLogEntry['exchange']>,
    ...{ id, status, cache, octets: 1_000, octetsIn: 0, durationMs: 5, firstOctetMs: 4 },
    ...{ origin: null, originMs: null, monitored: false, markdown: null, fault: null },
  };
}

/** The counts of requests by minute as a node sends them. */
function countedBatch(entries: readonly RequestLogEntry[], domain: string, batch: number): Buffer {
  const minutes = new Map<number, ReturnType<typeof newMinute>>();
  const log = createTrafficLog({
    count(_, request) {
      const minute = Math.floor(request.at / 60_000) * 60_000;
      const there = minutes.get(minute) ?? newMinute();
      minutes.set(minute, there);
      countRequest(there.counts, request);
      countTops(there.tops, request);
    },
  });
  for (const entry of entries) log.done(entry);
  const sealed = [...minutes].map(([minute, { counts, tops }]) => ({
    ...{ domain, minute, counts: sealCounts(counts), tops: sealTops(tops) },
  }));
  return gzipSync(sealBatch({ batch, entries: sealed }));
}

function newMinute() {
  return { counts: createTrafficCounts(), tops: createTopLists() };
}
