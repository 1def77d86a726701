/** Entries of the journal as the walk of a request makes them, decided by a real plan. */
import { createHash, randomUUID } from 'node:crypto';
import type { Exchange } from '../../src/edge/decide/exchange.ts';
import type { ServedDomain } from '../../src/edge/following/served-domain.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { type EdgeRequest, loadPlan } from '../../src/engine/evaluator/index.ts';
import { NO_PURGES } from '../../src/engine/plan/purges.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';

export interface JournalSubject {
  readonly digest: string;
  entry(request: Partial<EdgeRequest>, more?: Partial<RequestLogEntry>): RequestLogEntry;
}

/** A rule set, as the API and files write it, that answers requests to `https://example.com/`. */
export function journalSubject(source: unknown, revision = 7): JournalSubject {
  const parsed = parseRuleSet(source);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  const bytes = seal(compile(parsed.ruleSet).plan, { revision });
  const evaluator = loadPlan(bytes, { random: () => 0 });
  const digest = createHash('sha256').update(bytes).digest('hex');
  const domain: ServedDomain = {
    name: evaluator.domain,
    evaluator,
    settings: evaluator.settings(),
    revision,
    digest,
    purgeEpoch: 0,
    purges: NO_PURGES,
  };
  return {
    digest,
    entry(asked, more = {}) {
      const now = Date.UTC(2026, 0, 31, 12);
      const request: EdgeRequest = {
        scheme: 'https',
        method: 'GET',
        host: 'example.com',
        target: '/',
        headers: {},
        ip: '203.0.113.7',
        country: null,
        now,
        cleared: [],
        ...asked,
      };
      const id = randomUUID();
      const { ip = null } = request;
      const visitor: Exchange['visitor'] = {
        ip,
        peer: ip,
        scheme: 'https',
        port: 443,
        trusted: false,
        hops: [],
        serverName: null,
      };
      const decision = evaluator.evaluate(request);
      const exchange: Exchange = { id, startedAt: now, visitor, request, domain, decision };
      const status = decision.status ?? 200;
      return {
        exchange,
        id,
        status,
        octets: 66,
        octetsIn: 0,
        durationMs: 1.5,
        firstOctetMs: 1.25,
        origin: null,
        originMs: null,
        monitored: false,
        cache: null,
        markdown: null,
        fault: null,
        ...more,
      };
    },
  };
}

export const RECORDS = [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }] as const;
export const DOMAIN = { name: 'example.com', status: 'active' } as const;
