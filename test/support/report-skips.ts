/** The last lines of a run: how many tests were skipped, by reason. A skip without a reason fails the run. */
import './postgres-setup.ts';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

export default class SkipReport implements Reporter {
  private vitest: Vitest | null = null;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // With `-t` every other test counts as skipped.
    if (this.vitest?.config.testNamePattern !== undefined) return;
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const counts = new Map<string, number>();
    for (const test of skipped) {
      const reason = reasonOf(test);
      const key = reason ?? `NO REASON GIVEN: ${test.module.relativeModuleId} > ${test.fullName}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (reason === null) process.exitCode = 1;
    }
    this.vitest?.logger.log(describe(counts));
    const missing = this.vitest?.getRootProject().getProvidedContext().missingPostgres ?? null;
    if (missing !== null) this.vitest?.logger.log(` Left out  every test on PostgreSQL: ${missing}\n`);
  }
}

function reasonOf(test: TestCase): string | null {
  const result = test.result();
  if (result.state === 'skipped' && result.note !== undefined) return result.note;
  for (let task: TestCase['parent'] | TestCase = test; task.type !== 'module'; task = task.parent) {
    const { skipReason } = task.meta();
    if (skipReason !== undefined) return skipReason;
  }
  return null;
}

/** One line, and one more for each reason, the most frequent first. */
function describe(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, one) => sum + one, 0);
  const reasons = [...counts].sort(([, left], [, right]) => right - left);
  const lines = reasons.map(([reason, count]) => `${String(count).padStart(7)}  ${reason}`);
  return [`\n Skipped  ${total === 0 ? 'nothing' : `${total} tests`}`, ...lines, ''].join('\n');
}
