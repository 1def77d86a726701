/**
 * What all workers of a node hold alike: plans, the secret of clearance, answers to a certificate authority. The primary
 * keeps it; a worker that starts begins from all of it. Those that run prepare a change first, and make it once each of
 * them could: so a change that one of them refuses is made by none, and after one that is made no worker serves what was
 * before, now or later.
 */
import type { Clearance } from '../plan/manifest.ts';
import { PlanRefusal } from '../sync/fetch-plan.ts';
import type { Installed, PlanSink } from '../sync/plan-table.ts';
import type { ChangeStep, PlanMessage, SharedStateChange } from './messages.ts';

export interface SharedState extends PlanSink {
  set(name: string, entry: Installed | 'refused'): Promise<void>;
  delete(name: string): Promise<void>;
  /** Names something is held for. */
  readonly size: number;
  setClearance(clearance: Clearance): Promise<void>;
  /** `null` takes it out. */
  setToken(token: string, answer: string | null): Promise<void>;
  /** Has all read anew what files say. @throws PlanRefusal naming a worker that could not; the others have */
  reload(): Promise<void>;
  /** What a worker begins from. */
  changes(): readonly SharedStateChange[];
  /** A worker cannot read the plan of a name: whoever brought it is asked to look, and to bring it again. */
  lookAt(name: string): void;
  /** From now on there are workers, and changes are told to them. */
  tellBy(workers: Workers): void;
}

/** Why each worker could not do as it was told, or `null`, by their index; one that is away begins from what is held. */
export type Answers = Promise<readonly (string | null)[]>;

/** All workers together. */
export interface Workers {
  change(step: ChangeStep): Answers;
  reload(): Answers;
}

export interface SharedStateOptions {
  /** Plans lie in files that workers read; otherwise their octets travel. */
  readonly inFiles: boolean;
}

export function createSharedState({ inFiles }: SharedStateOptions): SharedState {
  const plans = new Map<string, Installed | 'refused'>();
  const tokens = new Map<string, string>();
  let clearance: Clearance | null = null;
  let workers: Workers | null = null;
  let last = 0;

  function toldOf(entry: Installed | 'refused'): PlanMessage | 'refused' {
    if (entry === 'refused') return entry;
    const { revision, digest, purgeEpoch, clearance = null } = entry;
    const octets = inFiles ? null : Buffer.from(entry.read()).toString('base64');
    const { previous = null } = entry;
    const before = previous === null ? null : { revision: previous.revision, digest: previous.digest };
    return { revision, digest, purgeEpoch, clearance, octets, previous: before };
  }

  /** @param hold keeps it for workers that begin from now on @throws PlanRefusal naming a worker that could not */
  async function change(made: SharedStateChange, hold: () => void): Promise<void> {
    if (workers === null) return hold();
    const id = ++last;
    try {
      refuseAny(await workers.change({ step: 'prepare', id, change: made }));
    } catch (error) {
      await workers.change({ step: 'leave', id });
      throw error;
    }
    // INVARIANT: kept and told in one turn: a worker that starts begins from it, or hears of it.
    hold();
    await workers.change({ step: 'make', id, change: made });
  }

  return {
    get size() {
      return plans.size;
    },
    set(name, entry) {
      return change({ kind: 'plan', name, plan: toldOf(entry) }, () => plans.set(name, entry));
    },
    delete(name) {
      return change({ kind: 'plan', name, plan: null }, () => plans.delete(name));
    },
    setClearance(next) {
      return change({ kind: 'clearance', clearance: next }, () => {
        clearance = next;
      });
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
      ...[...tokens].map(([token, answer]) => ({ kind: 'token', token, answer }) as const),
      ...[...plans].map(([name, entry]) => ({ kind: 'plan', name, plan: toldOf(entry) }) as const),
    ],
    lookAt(name) {
      const entry = plans.get(name);
      if (entry === undefined || entry === 'refused') return;
      try {
        entry.read();
      } catch {
        // Whoever brought it has seen by this what became of it, says so, and brings it again.
      }
    },
    tellBy(all) {
      workers = all;
    },
  };
}

function refuseAny(faults: readonly (string | null)[]): void {
  const index = faults.findIndex((fault) => fault !== null);
  if (index >= 0) {
    throw new PlanRefusal(`worker ${index} of the node goes on as before: ${faults[index]}`, false);
  }
}
