/** What an embedded edge tells the application about a request, the same on every platform. */
import { type Decided, forwardedTarget } from '../answers/decided.ts';
import type { Decision, EdgeRequest } from '../evaluator/index.ts';

/**
 * What a decision asks for that an edge inside an application does not do:
 * - `origin` a rule chose another origin (alt_origin, origin_route, origin_pool); the application answers instead
 * - `cache` a cache rule matched; nothing is kept
 * - `rewrite` the request had been routed before the edge was asked, so it kept its path and query
 */
export const UNENFORCED = ['origin', 'cache', 'rewrite'] as const;
export type Unenforced = (typeof UNENFORCED)[number];

export interface EdgeVerdict {
  /** The decision id, also in the answer's `X-Edgeplan-Id`. */
  readonly id: string;
  /** The domain that owns the host. */
  readonly domain: string;
  readonly decision: Decision;
  /** The request as rules saw it: the visitor's address, country and bot among it. */
  readonly request: EdgeRequest;
  /** What the decision asks for and the edge did not do; empty for most. */
  readonly unenforced: readonly Unenforced[];
}

/** A request that was refused before a plan was asked: it is malformed (400), or nobody owns its host (421). */
export interface EdgeRefusal {
  readonly id: string;
  readonly status: number;
}

/** Told by either kind of edge. What these throw is told to `onFault` and changes nothing for the request. */
export interface EdgeListeners {
  /** Told of every decision, before the application is asked. */
  readonly onDecision?: (verdict: EdgeVerdict) => void;
  /** Told of every request that no plan was asked about. */
  readonly onRefusal?: (refusal: EdgeRefusal) => void;
  /**
   * Told of what was thrown: by the application, by a listener, or by a bug of ours. The visitor gets 500 where no
   * answer had begun. Default: `console.error`.
   */
  readonly onFault?: (error: unknown, about: string) => void;
}

const NONE: readonly Unenforced[] = Object.freeze([]);

/** @param rewritable false: the application has routed the request already */
export function verdictOf({ id, domain, request, decision }: Decided, rewritable: boolean): EdgeVerdict {
  const { origin, cache } = decision;
  const unenforced: Unenforced[] = [];
  if (origin !== null && origin.source !== 'record') unenforced.push('origin');
  if (cache !== null && cache.mode !== 'bypass') unenforced.push('cache');
  const target = forwardedTarget(decision);
  if (!rewritable && target !== null && target !== request.target) unenforced.push('rewrite');
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
