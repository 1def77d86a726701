/** The workers' shared state: a change is made by all workers or by none, and workers that start later have it. */
import { describe, expect, it } from 'vitest';
import type { ChangeStep } from '../../../../src/edge/workers/messages.ts';
import { createSharedState, type SharedState } from '../../../../src/edge/workers/shared-state.ts';

interface SentStep {
  readonly step: ChangeStep['step'];
  readonly id: number;
  /** The state that a worker would start with at this moment. */
  readonly changes: ReturnType<SharedState['changes']>;
}

/** Workers that reply to each step in turn, with the last reply from then on. */
function withWorkers(...answers: (readonly (string | null)[])[]): {
  sharedState: SharedState;
  steps: SentStep[];
} {
  const sharedState = createSharedState({ inFiles: true });
  const steps: SentStep[] = [];
  sharedState.connect({
    change: async ({ step, id }) => {
      steps.push({ step, id, changes: sharedState.changes() });
      return answers[Math.min(steps.length, answers.length) - 1]!;
    },
    reload: async () => answers[0]!,
  });
  return { sharedState, steps };
}

const PLAN = { revision: 3, digest: 'd'.repeat(64), purgeEpoch: 1, read: () => new Uint8Array() };
const STORED = {
  kind: 'plan',
  name: 'shop.test',
  plan: {
    revision: 3,
    digest: PLAN.digest,
    purgeEpoch: 1,
    purges: null,
    clearance: null,
    octets: null,
    previous: null,
  },
};

describe('a change of the shared state', () => {
  it('is stored for workers that start, and committed, only after every worker has prepared it', async () => {
    const { sharedState, steps } = withWorkers([null, null]);
    await sharedState.set('shop.test', PLAN);
    expect(steps).toEqual([
      { step: 'prepare', id: 1, changes: [] },
      { step: 'commit', id: 1, changes: [STORED] },
    ]);
  });

  it('that one worker refuses is aborted by all and not stored', async () => {
    const { sharedState, steps } = withWorkers([null, null, 'no memory'], [null]);
    const refusal = await sharedState.set('shop.test', PLAN).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      name: 'PlanRefusal',
      message: 'worker 2 of the node goes on as before: no memory',
      final: false,
    });
    expect(steps).toEqual([
      { step: 'prepare', id: 1, changes: [] },
      { step: 'abort', id: 1, changes: [] },
    ]);
    expect(sharedState.size).toBe(0);
    await sharedState.set('shop.test', PLAN);
    expect(steps.slice(2).map(({ step, id }) => [step, id])).toEqual([
      ['prepare', 2],
      ['commit', 2],
    ]);
  });

  it('is stored at once while no workers are connected', () => {
    const sharedState = createSharedState({ inFiles: true });
    void sharedState.set('shop.test', PLAN);
    void sharedState.setToken('a', 'b');
    expect(sharedState.changes()).toEqual([{ kind: 'token', token: 'a', answer: 'b' }, STORED]);
  });
});
