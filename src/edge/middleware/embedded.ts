/**
 * What every edge has that decides inside another program, on any platform: its domains, its counters, its challenges.
 * In: the options of such an edge. Out: the services of its decisions, and the installation of plans.
 */
import { webSha256 } from '../../base/platform/web-cryptography.ts';
import { steadyNow } from '../../base/text/time.ts';
import { createCounters, createDomains, type Domains, loadPlan } from '../../engine/evaluator/index.ts';
import { openSignatures } from '../../engine/plan/open-signatures.ts';
import { loadSignatures } from '../../engine/waf/load/load.ts';
import { createChallenges } from '../answers/challenge/challenge.ts';
import { createCredentialVerifier } from '../credentials/verify.ts';
import type { DecidingDomain } from '../decide/exchange.ts';
import type { DecisionServices } from '../decide/request-context.ts';
import { createDecisionReporter, type DecisionReporter, type EdgeListeners } from '../decide/verdict.ts';
import {
  COUNT,
  checkOctets,
  checkPlan,
  createSecrets,
  type InstalledPlan,
  LISTENERS,
  PLANS,
  SECRET,
  SIGNATURES,
} from './check-options.ts';

/** Options of every such edge. */
export interface EmbeddedOptions extends EdgeListeners {
  /** Sealed plans to start with (`edgeplan compile -o`, `seal`); `install` adds more. */
  readonly plans?: readonly Uint8Array[];
  /**
   * The secret that signs challenges, at least 16 octets: the same in every isolate, process and region. Default: a
   * random one of this isolate, which is enough for one process.
   */
  readonly secret?: Uint8Array | string;
  /** A sealed signature program for `waf` rules (`edgeplan waf compile -o`). Default: such rules match and do nothing. */
  readonly signatures?: Uint8Array | null;
  /** Octets of rate counters. Default: 16 MiB, an eighth of what a Worker has. */
  readonly counterOctets?: number;
}

/** The kinds of these options. */
export const EMBEDDED_OPTIONS = {
  plans: PLANS,
  secret: SECRET,
  signatures: SIGNATURES,
  counterOctets: COUNT,
  ...LISTENERS,
} as const;

/** A small share of the 128 MB that a Worker has. */
const COUNTER_OCTETS = 16 * 1024 * 1024;

/** The parts of such an edge. */
export interface EmbeddedEdge {
  readonly reporter: DecisionReporter;
  readonly services: DecisionServices;
  /** As `FetchEdge.install`. */
  install(plan: Uint8Array): InstalledPlan;
  remove(domain: string): void;
  /** Number of installed domains. */
  size(): number;
}

/**
 * Creates the parts. Needs no random numbers and no clock, so Workers may do so before their first request.
 * @throws PlanFault when a plan or the signatures cannot be opened; RangeError when `secret` is too short
 */
export function createEmbedded(options: EmbeddedOptions): EmbeddedEdge {
  const counters = createCounters({
    clock: steadyNow,
    maxBytes: options.counterOctets ?? COUNTER_OCTETS,
  });
  const waf = options.signatures == null ? null : loadSignatures(openSignatures(options.signatures));
  const domains = createDomains<DecidingDomain>();
  const challenges = createChallenges({ secrets: createSecrets(options.secret) });
  const reporter = createDecisionReporter(options);

  function install(bytes: Uint8Array): InstalledPlan {
    checkOctets(bytes);
    // A copy: the caller may change its buffer, and a plan must not change while it serves.
    const octets = bytes.slice();
    const plan = checkPlan(octets);
    const onFault = (error: unknown): void => reporter.fault(error, `a decision of ${plan.domain}`);
    const evaluator = loadPlan(octets, { counters, waf, onFault, trusted: true });
    domains.set(plan.domain, { name: plan.domain, evaluator, settings: evaluator.settings() });
    return plan;
  }

  for (const plan of options.plans ?? []) install(plan);
  return {
    reporter,
    services: {
      plans: domains,
      challenges,
      credentials: createCredentialVerifier(webSha256),
      classifier: BY_FACTS_ONLY,
      // Each refusal goes to `onRefusal`.
      unserved: { hosts: (most) => hostsOf(domains, most), report: () => undefined },
    },
    install,
    remove: (domain) => void domains.delete(domain),
    size: () => domains.size,
  };
}

/** Classifies nobody: the caller knows country and autonomous system, and the evaluator reads the User-Agent. */
const BY_FACTS_ONLY: DecisionServices['classifier'] = {
  country: () => null,
  asn: () => null,
  bot: () => undefined,
};

function hostsOf(domains: Domains<DecidingDomain>, most: number): readonly string[] {
  const hosts: string[] = [];
  for (const { evaluator } of domains.values()) {
    if (hosts.length >= most) break;
    hosts.push(...evaluator.hosts(most - hosts.length));
  }
  return hosts;
}
