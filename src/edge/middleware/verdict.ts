/** The verdict that an embedded edge passes to the application and to listeners, the same on every platform. */
import type { Decision, EdgeRequest } from '../../engine/evaluator/index.ts';
import { type Decided, forwardedTarget } from '../answers/decided.ts';

/**
 * Parts of a decision that an edge inside an application does not enforce:
 * - `origin` a rule chose another origin (alt_origin, origin_route, origin_pool); the application answers instead
 * - `cache` a cache rule matched; an embedded edge has no cache
 * - `rewrite` the request was routed before the edge, so its path and query are unchanged
 */
export const UNENFORCED = ['origin', 'cache', 'rewrite'] as const;
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

/** Listeners of both kinds of edge. What they throw goes to `onFault` and does not affect the request. */
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
