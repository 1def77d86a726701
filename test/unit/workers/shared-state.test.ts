/** What all workers hold alike: made by all or by none, and begun from by those that come later. */
import { describe, expect, it } from 'vitest';
import type { ChangeStep } from '../../../src/workers/messages.ts';
import { createSharedState, type SharedState } from '../../../src/workers/shared-state.ts';

interface Told {
  readonly step: ChangeStep['step'];
  readonly id: number;
  /** What a worker that starts at this moment begins from. */
  readonly begins: ReturnType<SharedState['changes']>;
}

/** Workers that answer each step in turn, the last answer from then on. */
function telling(...answers: (readonly (string | null)[])[]): { alike: SharedState; told: Told[] } {
  const alike = createSharedState({ inFiles: true });
  const told: Told[] = [];
  alike.connect({
    change: async ({ step, id }) => {
      told.push({ step, id, begins: alike.changes() });
      return answers[Math.min(told.length, answers.length) - 1]!;
    },
    reload: async () => answers[0]!,
  });
  return { alike, told };
}

const PLAN = { revision: 3, digest: 'd'.repeat(64), purgeEpoch: 1, read: () => new Uint8Array() };
const HELD = {
  kind: 'plan',
  name: 'shop.test',
  plan: { revision: 3, digest: PLAN.digest, purgeEpoch: 1, clearance: null, octets: null, previous: null },
};

describe('a change', () => {
  it('is prepared by all, then begun from and made', async () => {
    const { alike, told } = telling([null, null]);
    await alike.set('shop.test', PLAN);
    expect(told).toEqual([
      { step: 'prepare', id: 1, begins: [] },
      { step: 'commit', id: 1, begins: [HELD] },
    ]);
  });

  it('that one refuses is left by all, and begun from by none', async () => {
    const { alike, told } = telling([null, null, 'no memory'], [null]);
    const refusal = await alike.set('shop.test', PLAN).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      name: 'PlanRefusal',
      message: 'worker 2 of the node goes on as before: no memory',
      final: false,
    });
    expect(told).toEqual([
      { step: 'prepare', id: 1, begins: [] },
      { step: 'abort', id: 1, begins: [] },
    ]);
    expect(alike.size).toBe(0);
    await alike.set('shop.test', PLAN);
    expect(told.slice(2).map(({ step, id }) => [step, id])).toEqual([
      ['prepare', 2],
      ['commit', 2],
    ]);
  });

  it('before there are workers is held at once', () => {
    const alike = createSharedState({ inFiles: true });
    void alike.set('shop.test', PLAN);
    void alike.setToken('a', 'b');
    expect(alike.changes()).toEqual([{ kind: 'token', token: 'a', answer: 'b' }, HELD]);
  });
});
