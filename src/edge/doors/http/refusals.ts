/**
 * Requests that break the contract of the HTTP door. In: why, and the header that it is about. Out: plain numbers by reason
 * for metrics, and a sentence for the log, at most once a minute for each reason. No sentence has the value of a header.
 */
import { MAX_LOGGED_NAME, REFUSAL_LOG_MS } from './limits.ts';

/** Why a request at the door gets 403 without a decision. */
export const CONTRACT_FAULTS = [
  'secret_missing',
  'secret_wrong',
  'missing',
  'doubled',
  'alias',
  'malformed',
  'address_list',
  'endpoint',
  'headers',
] as const;
/** One of `CONTRACT_FAULTS`. */
export type ContractFault = (typeof CONTRACT_FAULTS)[number];

/** A request that breaks the contract. */
export interface ContractRefusal {
  readonly ok: false;
  readonly fault: ContractFault;
  /** The lower-case name of the header, or the path, that it is about. */
  readonly about: string;
}

/** What is wrong, and what the operator does about it. */
const SENTENCES: Readonly<Record<ContractFault, (about: string) => string>> = {
  secret_missing: (about) =>
    `the header \`${about}\` is missing: set it in the proxy to the secret of the agent`,
  secret_wrong: (about) =>
    `the value of the header \`${about}\` is none of the agent's secrets: set the same one in the proxy and in the agent`,
  missing: (about) => `the header \`${about}\` is missing: set it in the proxy, as fixtures/proxies does`,
  doubled: (about) =>
    `the header \`${about}\` was sent twice: the proxy must remove the one of the visitor before it sets its own`,
  alias: (about) =>
    `the header \`${about}\` reads as one of the proxy's own where servers take \`_\` or \`.\` for \`-\`: remove it in the proxy`,
  malformed: (about) =>
    `the header \`${about}\` has a value that it cannot have: compare the proxy with fixtures/proxies`,
  address_list: (about) =>
    `the header \`${about}\` has not exactly one address: set it to the visitor's, or give the agent the number of trusted hops`,
  endpoint: (about) =>
    `there is no endpoint \`${about}\`: the proxy asks at /nginx, /caddy, /traefik or /envoy`,
  headers: () => 'there are too many headers: limit them in the proxy',
};

/** Counts refusals, and logs the first of each minute and reason. */
export interface ContractRefusals {
  add(refusal: ContractRefusal): void;
  counts(): Readonly<Record<ContractFault, number>>;
}

/** @param log receives a sentence */
export function createContractRefusals(log: (sentence: string) => void): ContractRefusals {
  const counts = Object.fromEntries(CONTRACT_FAULTS.map((fault) => [fault, 0])) as Record<
    ContractFault,
    number
  >;
  const loggedAt = new Map<ContractFault, number>();
  return {
    add({ fault, about }) {
      counts[fault]++;
      const now = performance.now();
      if (now - (loggedAt.get(fault) ?? Number.NEGATIVE_INFINITY) < REFUSAL_LOG_MS) return;
      loggedAt.set(fault, now);
      const sentence = SENTENCES[fault](about.slice(0, MAX_LOGGED_NAME));
      log(
        `the HTTP door refused a request with 403: ${sentence} (logged at most once a minute for each reason)`,
      );
    },
    counts: () => ({ ...counts }),
  };
}
