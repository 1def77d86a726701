/** An edge that serves what a server publishes, from a folder of its own while the server is away. */
import { setTimeout as pause } from 'node:timers/promises';
import { takeFolder } from '../../../base/storage/sqlite.ts';
import type { Secrets } from '../../answers/challenge/keys.ts';
import type { DecisionReporter } from '../../decide/verdict.ts';
import type { SyncLog } from '../../following/log.ts';
import type { PlanTable } from '../../following/plan-table.ts';
import { secretsOf } from '../../following/secrets.ts';
import { syncWithControlPlane } from '../../following/sync.ts';
import type { ControlPlane, SyncStatus } from './options.ts';

export interface PlanSync {
  state(): SyncStatus;
  /** Ends following; what is in place stays served. */
  stop(): Promise<void>;
}

export interface ServerParts {
  readonly table: PlanTable;
  /** Called at the start and on each change with the fallback secrets, used for domains that have none of their own. */
  readonly onSecrets: (secrets: Secrets) => void;
  readonly reporter: DecisionReporter;
}

/** Milliseconds that the very first start waits for plans. */
const FIRST_PLANS_MS = 10_000;

/**
 * Serves the plans of the folder and follows the server. An empty folder waits for the first plans; without them the edge
 * starts empty, which is reported.
 * @throws TypeError when `url` is not an http(s) URL; Error when the folder cannot be used or another process has it,
 * `trust` is no key, or the folder is empty and the server refuses the token
 */
export async function syncFromServer(
  { url, token, trust, folder }: ControlPlane,
  { table, onSecrets, reporter }: ServerParts,
): Promise<PlanSync> {
  if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) {
    throw new TypeError(`\`control.url\` is written http://host:port, found \`${url}\``);
  }
  const release = takeFolder(folder);
  try {
    /** Aborts when the first plans are installed, or with the sentence why they will not be. */
    const first = new AbortController();
    const sync = await syncWithControlPlane({
      url,
      token: () => token,
      ...(trust === undefined ? {} : { publicKey: trust }),
      directory: folder,
      plans: table,
      onSecret: (clearance) => onSecrets(secretsOf(clearance)),
      onCaughtUp: () => first.abort(),
      onTokenRefused: (sentence) => first.abort(sentence),
      log: logTo(reporter),
    });
    if (table.size === 0) {
      await firstPlans(url, first.signal, reporter).catch(async (error: unknown) => {
        await sync.stop();
        throw error;
      });
    }
    return {
      state() {
        const { mode, silentMs, pending, refused, problem } = sync.state();
        return { connected: mode !== 'away', silentMs, pending, refused, problem };
      },
      async stop() {
        await sync.stop();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** @throws Error when the server refuses the token */
async function firstPlans(url: string, first: AbortSignal, reporter: DecisionReporter): Promise<void> {
  await pause(FIRST_PLANS_MS, null, { signal: first }).catch(() => undefined);
  if (typeof first.reason === 'string') throw new Error(first.reason);
  if (first.aborted) return;
  reporter.fault(new Error('no plan has come yet; every host is answered 421 until one does'), url);
}

/** Reports warnings and errors of sync to `onFault`; information is dropped. The log's field `err` is the reason. */
function logTo(reporter: DecisionReporter): SyncLog {
  const report = (fields: object, message: string): void => {
    const details = Object.entries(fields).map(([name, value]) =>
      name === 'err' ? String(value) : `${name} ${String(value)}`,
    );
    reporter.fault(new Error(details.join(', ')), message);
  };
  return { info: () => undefined, warn: report, error: report };
}
