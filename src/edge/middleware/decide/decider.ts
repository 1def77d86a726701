/**
 * Decisions for a program of any kind: a proxy's plug-in, a test, a gateway. In: a request as the program saw it. Out: what
 * to do with it, forwarded with changes or answered whole. The doors of `edgeplan agent` stand on the same stages.
 */
import { checkOptions, type OptionKind, type OptionKinds } from '../../../base/diagnostics/options.ts';
import type { EdgeAnswer } from '../../../base/http/header-fields.ts';
import { countResponse } from '../../../engine/evaluator/rate-outcomes.ts';
import { type DecideOutcome, decideRequest, STAGES } from '../../decide/decide.ts';
import {
  createProxiedReader,
  type ForwardChanges,
  forwardChanges,
  incomingProxied,
  type ProxiedRequest,
} from '../../decide/proxied.ts';
import { createRequestContext } from '../../decide/request-context.ts';
import { type EdgeVerdict, UNENFORCED } from '../../decide/verdict.ts';
import type { InstalledPlan } from '../check-options.ts';
import { createEmbedded, EMBEDDED_OPTIONS, type EmbeddedOptions } from '../embedded.ts';
import { inflate } from '../web-streams.ts';

/** The parts that a program can enforce: a decider does not see the end of requests. */
const ENFORCEABLE = UNENFORCED.filter((part) => part !== 'concurrency');
type Enforceable = (typeof ENFORCEABLE)[number];

/** Options of `createDecider`. */
export interface DeciderOptions extends EmbeddedOptions {
  /** The parts of a decision that the program enforces; the others are in `verdict.unenforced`. Default: none. */
  readonly enforced?: readonly Enforceable[];
}

/** What to do with a request. */
export type DeciderAnswer =
  | {
      readonly kind: 'forward';
      readonly verdict: EdgeVerdict;
      readonly changes: ForwardChanges;
    }
  | {
      readonly kind: 'answer';
      /** `null`: the request was refused before a decision. */
      readonly verdict: EdgeVerdict | null;
      /** The response for the visitor, whole. */
      readonly answer: EdgeAnswer;
    };

/** A decider. Its functions need no `this`. */
export interface Decider {
  /**
   * Decides a request; a promise only where a clearance, credentials, an inspected body or a challenge are awaited. What it throws, or
   * rejects with, is a bug of edgeplan: do not forward the request then.
   */
  decide(request: ProxiedRequest): DeciderAnswer | Promise<DeciderAnswer>;
  /**
   * Counts a forwarded request under rate limits with `count_statuses`, by the status of its response. To be called once, as soon
   * as the status is known; without it such rules count the edge's own answers alone. Takes the verdict of `decide`, no copy.
   */
  responded(verdict: EdgeVerdict, status: number): void;
  /**
   * Installs a sealed plan in place of the one its domain has, whole. Rate counters go on.
   * @throws PlanFault when the bytes are no plan, or none that can serve; what was installed before stays
   */
  install(plan: Uint8Array): InstalledPlan;
  /** Removes a domain. */
  remove(domain: string): void;
  /** Number of installed domains. */
  readonly size: number;
}

const PARTS: OptionKind = {
  what: `a list of ${ENFORCEABLE.map((part) => `\`${part}\``).join(', ')}`,
  is: (value) => Array.isArray(value) && value.every((part) => ENFORCEABLE.includes(part as Enforceable)),
};

const OPTIONS: OptionKinds<DeciderOptions> = { ...EMBEDDED_OPTIONS, enforced: PARTS };

/** The octets in the form that decompression streams take. */
function octetsOf(octets: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(octets);
}

/**
 * Makes a decider, on any platform with the web's own interfaces.
 * @throws PlanFault when one of `plans`, or `signatures`, cannot be opened; RangeError when `secret` is too short;
 * TypeError naming an option that is unknown or of a wrong kind
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createDecider, type ProxiedRequest } from 'edgeplan/decide';
 *
 * const decider = createDecider({ plans: [await readFile('example.com.edgeplan')], enforced: ['rewrite'] });
 *
 * export async function statusOf(request: ProxiedRequest): Promise<number | null> {
 *   const decided = await decider.decide(request);
 *   return decided.kind === 'answer' ? decided.answer.status : null;
 * }
 * ```
 */
export function createDecider(options: DeciderOptions = {}): Decider {
  checkOptions('createDecider', options, OPTIONS);
  const { reporter, services, install, remove, size } = createEmbedded(options);
  const reader = createProxiedReader({ octetsOf, inflate });
  const how = { reporter, enforced: new Set(options.enforced ?? []), stages: STAGES };
  const finish = (outcome: DecideOutcome): DeciderAnswer => {
    const { verdict } = outcome;
    return outcome.kind === 'answer'
      ? { kind: 'answer', verdict, answer: outcome.answer }
      : {
          kind: 'forward',
          verdict: outcome.verdict,
          changes: forwardChanges(outcome.exchange, services.challenges),
        };
  };
  return {
    decide(request) {
      const context = createRequestContext({ services, incoming: incomingProxied(request), reader });
      const outcome = decideRequest(context, how);
      return outcome instanceof Promise ? outcome.then(finish) : finish(outcome);
    },
    responded({ decision }, status) {
      countResponse(decision, status);
    },
    install,
    remove,
    get size() {
      return size();
    },
  };
}
