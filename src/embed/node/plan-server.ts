/** An edge that serves what a server publishes, from a folder of its own while the server is away. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Secrets } from '../../answers/challenge/keys.ts';
import { takeFolder } from '../../store/sqlite/take-folder.ts';
import type { SyncLog } from '../../sync/log.ts';
import type { PlanTable } from '../../sync/plan-table.ts';
import { secretsOf } from '../../sync/secrets.ts';
import { syncWithControlPlane } from '../../sync/sync.ts';
import type { DecisionReporter } from '../verdict.ts';
import type { ControlPlane, SyncStatus } from './options.ts';

export interface PlanSync {
  state(): SyncStatus;
  /** Ends following; what is in place stays served. */
  stop(): Promise<void>;
}

export interface ServerParts {
  readonly table: PlanTable;
  /** Called with what challenges are signed with at domains without secrets of their own, whenever it changes. */
  readonly onSecrets: (secrets: Secrets) => void;
  readonly reporter: DecisionReporter;
}

/** Milliseconds that the first plans ever are waited for. */
const FIRST_PLANS_MS = 10_000;

/**
 * Serves what was kept and follows the server from then on. Where nothing was kept, waits for the first plans; without
 * them the edge begins empty, which is told.
 * @throws TypeError when `url` is none; Error when the folder cannot be used or is another's, `trust` is
 * no key, or nothing was kept and the server refuses the token
 */
export async function syncFromServer(
  { url, token, trust, folder }: ControlPlane,
  { table, onSecrets, reporter }: ServerParts,
): Promise<PlanSync> {
  if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) {
    throw new TypeError(`\`control.url\` is written http://host:port, found \`${url}\``);
  }
  const letGo = takeFolder(folder);
  try {
    /** Aborted once the first plans are in place, or with the sentence that says why they will not come. */
    const first = new AbortController();
    const follower = await syncWithControlPlane({
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
        await follower.stop();
        throw error;
      });
    }
    return {
      state() {
        const { mode, silentMs, pending, refused, problem } = follower.state();
        return { connected: mode !== 'away', silentMs, pending, refused, problem };
      },
      async stop() {
        await follower.stop();
        letGo();
      },
    };
  } catch (error) {
    letGo();
    throw error;
  }
}

/** @throws Error when the server refuses the token */
async function firstPlans(url: string, first: AbortSignal, telling: DecisionReporter): Promise<void> {
  await pause(FIRST_PLANS_MS, null, { signal: first }).catch(() => undefined);
  if (typeof first.reason === 'string') throw new Error(first.reason);
  if (first.aborted) return;
  telling.fault(new Error('no plan has come yet; every host is answered 421 until one does'), url);
}

/** Warnings are faults to an application; what goes well is nobody's business. */
function logTo(telling: DecisionReporter): SyncLog {
  const tell = (fields: object, message: string): void => {
    const details = Object.entries(fields).map(([name, value]) => `${name} ${String(value)}`);
    telling.fault(new Error(details.join(', ')), message);
  };
  return { info: () => undefined, warn: tell, error: tell };
}
