/**
 * The shared state of a node's workers: plans, the clearance secret, certificates and challenges of the control plane's feed,
 * the node's own answers to a certificate authority. The primary stores it in its memory, and a worker starts with all of it.
 * A change has two phases: every running worker prepares it, and all commit it when each succeeded. So a change that one worker refuses is made by none, and after a committed change no worker serves the
 * old state, now or after a restart.
 */
import { digestsIn } from '../../engine/plan/list-digests.ts';
import type { Clearance, HttpChallenge } from '../../engine/plan/manifest.ts';
import { PlanRefusal } from '../following/fetch-plan.ts';
import type { ChallengeSink } from '../following/install-challenges.ts';
import type { Installed, PlanSink } from '../following/plan-table.ts';
import type { FeedPair } from '../listeners/tls/certificate-pairs.ts';
import type { ChangeStep, PlanMessage, SharedStateChange } from './messages.ts';

/** The primary's copy, and its changes. Changes reject with PlanRefusal naming a worker that failed. */
export interface SharedState extends PlanSink {
  set(name: string, entry: Installed | 'refused'): Promise<void>;
  delete(name: string): Promise<void>;
  /** Number of names. */
  readonly size: number;
  setClearance(clearance: Clearance): Promise<void>;
  /** `null`: none was set. */
  clearance(): Clearance | null;
  /** The certificates of domains; `null` removes those of a domain. */
  readonly certificates: {
    set(domain: string, pairs: readonly FeedPair[]): Promise<void>;
    delete(domain: string): Promise<void>;
  };
  /** The HTTP-01 challenges of domains. */
  readonly challenges: ChallengeSink;
  /** Sets the answer to a challenge token of the node's own; `null` removes it. */
  setToken(token: string, answer: string | null): Promise<void>;
  /** The answers of the node's own. */
  tokens(): readonly (readonly [token: string, answer: string])[];
  /** Makes all workers read changed files. @throws PlanRefusal naming a worker that failed; the others have reloaded */
  reload(): Promise<void>;
  /** The whole state, as changes from nothing, for a worker that starts. */
  changes(): readonly SharedStateChange[];
  /** Reads the plan of a name that a worker found damaged: its owner notices the damage by that and installs it again. */
  verify(name: string): void;
  /** Sends changes to workers from now on. */
  connect(workers: Workers): void;
}

/** By worker: why it failed; `null`: it succeeded, or it is not running and will start with the changed state. */
export type Answers = Promise<readonly (string | null)[]>;

/** All workers together. */
export interface Workers {
  change(step: ChangeStep): Answers;
  reload(): Answers;
}

export interface SharedStateOptions {
  /** Whether workers read plans from files; otherwise messages contain their octets. */
  readonly inFiles: boolean;
}

export function createSharedState({ inFiles }: SharedStateOptions): SharedState {
  const plans = new Map<string, Installed | 'refused'>();
  const tokens = new Map<string, string>();
  const certificates = new Map<string, readonly FeedPair[]>();
  const challenges = new Map<string, readonly HttpChallenge[]>();
  let clearance: Clearance | null = null;
  let workers: Workers | null = null;
  let last = 0;

  const messageOf = (entry: Installed | 'refused') => planMessage(entry, inFiles);

  /** @param apply changes the primary's copy @throws PlanRefusal naming a worker that failed; nothing changed then */
  async function change(changed: SharedStateChange, apply: () => void): Promise<void> {
    if (workers === null) return apply();
    const id = ++last;
    try {
      refuseAny(await workers.change({ step: 'prepare', id, change: changed }));
    } catch (error) {
      await workers.change({ step: 'abort', id });
      throw error;
    }
    // INVARIANT: applied and sent synchronously: a worker that starts has the change in its state or gets the commit.
    apply();
    await workers.change({ step: 'commit', id, change: changed });
  }

  return {
    get size() {
      return plans.size;
    },
    set(name, entry) {
      return change({ kind: 'plan', name, plan: messageOf(entry) }, () => plans.set(name, entry));
    },
    delete(name) {
      return change({ kind: 'plan', name, plan: null }, () => plans.delete(name));
    },
    setClearance(next) {
      return change({ kind: 'clearance', clearance: next }, () => {
        clearance = next;
      });
    },
    clearance: () => clearance,
    tokens: () => [...tokens],
    certificates: {
      set: (domain, pairs) =>
        change({ kind: 'certificates', domain, pairs }, () => certificates.set(domain, pairs)),
      delete: (domain) =>
        change({ kind: 'certificates', domain, pairs: null }, () => certificates.delete(domain)),
    },
    challenges: {
      set: (domain, list) =>
        change({ kind: 'challenges', domain, challenges: list }, () => {
          if (list.length === 0) challenges.delete(domain);
          else challenges.set(domain, list);
        }),
    },
    setToken(token, answer) {
      return change({ kind: 'token', token, answer }, () => {
        if (answer === null) tokens.delete(token);
        else tokens.set(token, answer);
      });
    },
    async reload() {
      if (workers !== null) refuseAny(await workers.reload());
    },
    changes: () => [
      ...(clearance === null ? [] : [{ kind: 'clearance', clearance } as const]),
      ...[...certificates].map(([domain, pairs]) => ({ kind: 'certificates', domain, pairs }) as const),
      ...[...challenges].map(([domain, list]) => ({ kind: 'challenges', domain, challenges: list }) as const),
      ...[...tokens].map(([token, answer]) => ({ kind: 'token', token, answer }) as const),
      ...[...plans].map(([name, entry]) => ({ kind: 'plan', name, plan: messageOf(entry) }) as const),
    ],
    verify(name) {
      const entry = plans.get(name);
      if (entry === undefined || entry === 'refused') return;
      try {
        for (const list of digestsIn(entry.read())) entry.lists?.verify(list);
      } catch {
        // The owner's `read` has noticed and logged the damage, and installs the plan again.
      }
    },
    connect(all) {
      workers = all;
    },
  };
}

function planMessage(entry: Installed | 'refused', inFiles: boolean): PlanMessage | 'refused' {
  if (entry === 'refused') return entry;
  const { revision, digest, purgeEpoch, clearance = null } = entry;
  const octets = inFiles ? null : Buffer.from(entry.read()).toString('base64');
  const { previous = null, purges = null } = entry;
  const purged = purges === null ? null : { through: purges.through, digest: purges.digest };
  const before = previous === null ? null : { revision: previous.revision, digest: previous.digest };
  return { revision, digest, purgeEpoch, purges: purged, clearance, octets, previous: before };
}

function refuseAny(faults: readonly (string | null)[]): void {
  const index = faults.findIndex((fault) => fault !== null);
  if (index >= 0) {
    throw new PlanRefusal(`worker ${index} of the node goes on as before: ${faults[index]}`, false);
  }
}
