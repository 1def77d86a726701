/** A stall of the event loop is counted, and by how much it was late. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { addProcessMetrics } from '../../../../../src/base/telemetry/metrics/process.ts';

async function stallsOf(registry: Registry): Promise<{ readonly count: number; readonly seconds: number }> {
  const text = await registry.metrics();
  const read = (name: string): number =>
    Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  return { count: read('edgeplan_stall_seconds_count'), seconds: read('edgeplan_stall_seconds_sum') };
}

test('an event loop that is blocked for 300 ms counts as a stall in every registry of the process', async () => {
  const [registry, other] = [new Registry(), new Registry()];
  addProcessMetrics(registry);
  addProcessMetrics(other);
  const before = await stallsOf(registry);
  const until = performance.now() + 300;
  while (performance.now() < until);
  await sleep(200);
  const after = await stallsOf(registry);
  expect(after.count).toBeGreaterThan(before.count);
  // The look that was due came up to one interval into the stall.
  expect(after.seconds - before.seconds).toBeGreaterThan(0.24);
  expect(await stallsOf(other)).toEqual(await stallsOf(registry));
});
