/** The verdict about a request that an application, a listener or a proxy gets, the same on every platform. */
import type { Decision, EdgeRequest } from '../../engine/evaluator/index.ts';
import { changesResponses } from '../answers/answer-to.ts';
import { type Decided, forwardedTarget } from '../answers/decided.ts';
import type { DecidingDomain } from './exchange.ts';

/**
 * Parts of a decision that an edge beside other software may not be able to enforce:
 * - `origin` a rule chose another origin (alt_origin, origin_route, origin_pool)
 * - `cache` a cache rule matched
 * - `rewrite` a rule changed path or query, and the request was routed before the edge
 * - `body` a rule inspects the body, and all or a part of it did not reach the edge
 * - `response` the domain's settings, headers rules, gateways with `cors`, usage plans, or rate limits with `headers`, add or remove headers
 *   of responses
 * - `request` headers rules, or gateways with `upstream_headers` or `hide`, change the headers of the request
 * - `concurrency` a usage plan limits the requests in flight, and the edge does not see their end
 */
export const UNENFORCED = [
  'origin',
  'cache',
  'rewrite',
  'body',
  'response',
  'request',
  'concurrency',
] as const;
/** One of `UNENFORCED`. */
export type Unenforced = (typeof UNENFORCED)[number];

/** The decision about one request. */
export interface EdgeVerdict {
  /** The decision id, also in the answer's `X-Edgeplan-Id`. */
  readonly id: string;
  /** The domain that owns the host. */
  readonly domain: string;
  readonly decision: Decision;
  /** The request as rules match it, with the visitor's address, country and bot. */
  readonly request: EdgeRequest;
  /** What the edge does not enforce of the decision; empty for most. */
  readonly unenforced: readonly Unenforced[];
}

/** A request that was refused before a decision: it is malformed (400), or no domain has its host (421). */
export interface EdgeRefusal {
  readonly id: string;
  readonly status: number;
}

/** Listeners of every kind of edge. What they throw goes to `onFault` and does not affect the request. */
export interface EdgeListeners {
  /** Called with every decision, before the application gets the request. */
  readonly onDecision?: (verdict: EdgeVerdict) => void;
  /** Called for every request that was refused before a decision. */
  readonly onRefusal?: (refusal: EdgeRefusal) => void;
  /**
   * Called with errors: of the application, of a listener, or a bug of the edge. The visitor gets 500 if no response
   * had started. Default: `console.error`.
   */
  readonly onFault?: (error: unknown, about: string) => void;
}

const NONE: readonly Unenforced[] = Object.freeze([]);

/** What the software around the edge does of a decision: the parts that it enforces. */
export type Enforced = ReadonlySet<Unenforced>;

/**
 * The verdict about a decided request.
 * @param isPartial a rule inspects the body, and not all of it reached the edge
 */
export function verdictOf(
  { id, domain, request, decision }: Decided & { readonly domain: DecidingDomain },
  { enforced, isPartial }: { readonly enforced: Enforced; readonly isPartial: boolean },
): EdgeVerdict {
  const { origin, cache } = decision;
  const unenforced: Unenforced[] = [];
  const add = (part: Unenforced): void => {
    if (!enforced.has(part)) unenforced.push(part);
  };
  if (origin !== null && origin.source !== 'record') add('origin');
  if (cache !== null && cache.mode !== 'bypass') add('cache');
  const target = forwardedTarget(decision);
  if (target !== null && target !== request.target) add('rewrite');
  if (isPartial) add('body');
  const isStated = domain.evaluator.rateLimitFields(decision) !== null;
  const changesResponse = changesResponses(domain.settings) || decision.responseHeaders !== undefined;
  if (origin !== null && (isStated || changesResponse)) add('response');
  if (decision.requestHeaders !== undefined) add('request');
  if (domain.evaluator.needsSlot(decision)) add('concurrency');
  return {
    id,
    domain: domain.name,
    decision,
    request,
    unenforced: unenforced.length === 0 ? NONE : unenforced,
  };
}

export interface DecisionReporter {
  decided(verdict: EdgeVerdict): void;
  refused(refusal: EdgeRefusal): void;
  fault(error: unknown, about: string): void;
}

/** The listeners, made safe to call. */
export function createDecisionReporter({ onDecision, onRefusal, onFault }: EdgeListeners): DecisionReporter {
  const fault = onFault ?? ((error, about) => console.error(`edgeplan: ${about}:`, error));
  const guarded = (tell: () => void, about: string): void => {
    try {
      tell();
    } catch (error) {
      fault(error, about);
    }
  };
  return {
    decided: (verdict) => guarded(() => onDecision?.(verdict), 'onDecision'),
    refused: (refusal) => guarded(() => onRefusal?.(refusal), 'onRefusal'),
    fault,
  };
}
