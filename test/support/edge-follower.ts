/** A follower over a real table of plans, with times short enough for tests. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CertificateSink } from '../../src/edge/following/certificates/install-sets.ts';
import { createPlanTable, type PlanTable } from '../../src/edge/following/plan-table.ts';
import { type ControlPlaneSync, syncWithControlPlane } from '../../src/edge/following/sync.ts';
import type { SyncOptions, SyncTimes } from '../../src/edge/following/sync-run.ts';
import type { Clearance } from '../../src/engine/plan/manifest.ts';

export interface TestFollower extends ControlPlaneSync {
  readonly plans: PlanTable;
  readonly directory: string;
  readonly secrets: Clearance[];
  /** Lines of the log, warnings and worse. */
  readonly warnings: string[];
  /** What became of a request: an action, `421` where nobody owns the host, `refused` where it must not serve. */
  decide(host: string, target: string): string;
  revision(host: string): number | null;
}

export const SHORT: SyncTimes = {
  firstOctetMs: 400,
  stallMs: 800,
  compareMs: 60_000,
  pollingMs: 60_000,
  pollSec: 1,
  lastRetryMs: 300,
};

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'edgeplan-node-'));
}

export type TestFollowerOptions = Pick<SyncOptions, 'url'> & {
  readonly token: string;
  readonly publicKey?: string;
  readonly directory?: string;
  readonly times?: Partial<SyncTimes>;
  readonly certificates?: CertificateSink;
};

export async function startFollower(options: TestFollowerOptions): Promise<TestFollower> {
  const { url, token, publicKey } = options;
  const directory = options.directory ?? newFolder();
  const secrets: Clearance[] = [];
  const warnings: string[] = [];
  const plans = createPlanTable({
    evaluatorOptions: () => ({}),
    onChange: () => undefined,
    onFault: (name, error) => warnings.push(`${name}: ${(error as Error).message}`),
    openOctets: 64 * 1024 * 1024,
  });
  const note = (fields: object, message: string): void => {
    warnings.push(`${message} ${JSON.stringify(fields)}`);
  };
  const follower = await syncWithControlPlane({
    url,
    token: () => token,
    directory,
    plans,
    ...(publicKey === undefined ? {} : { publicKey }),
    ...(options.certificates === undefined ? {} : { certificates: options.certificates }),
    onSecret: (clearance) => secrets.push(clearance),
    log: { info: () => undefined, warn: note, error: note },
    times: { ...SHORT, ...options.times },
  });
  return {
    ...follower,
    plans,
    directory,
    secrets,
    warnings,
    decide(host, target) {
      const found = plans.find(host);
      if (found === null) return '421';
      if (found === 'refused') return 'refused';
      return found.evaluator.evaluate({ scheme: 'https', method: 'GET', host, target, ip: '192.0.2.1' })
        .action;
    },
    revision(host) {
      const found = plans.find(host);
      return found === null || found === 'refused' ? null : found.revision;
    },
  };
}
