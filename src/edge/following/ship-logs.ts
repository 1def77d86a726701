/**
 * Ships the queue of log entries (`log-queue.ts`) to the control plane, the oldest file first. A file is removed once the control
 * plane has stored its entries; until then it is sent again, and the control plane recognises entries by their ids, so that none
 * is stored twice.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { makeFolder } from '../../base/platform/durable-file.ts';
import { pause, retryMs } from '../../base/platform/tasks.ts';
import { type ControlPlaneClient, ControlPlaneFault } from './control-plane.ts';
import { COUNTED_FORMAT, type CountedLine } from './counted-requests.ts';
import { FIRST_RETRY_MS, FLUSH_ON_STOP_MS, LAST_RETRY_MS, MAX_LOG_FILES, SHIP_MS } from './limits.ts';
import { errorMessage, type SyncLog } from './log.ts';
import { GAP_FORMAT, LOG_QUEUE_ENDING, LOG_QUEUE_FOLDER } from './log-queue.ts';

export interface LogShipperOptions {
  readonly control: Pick<ControlPlaneClient, 'shipLogs'>;
  /** The node's own folder. */
  readonly directory: string;
  readonly log: SyncLog;
  /** Milliseconds between looks at the queue. Default: `SHIP_MS`. */
  readonly everyMs?: number;
}

/** A shipper of queued entries. */
export interface LogShipper {
  /** Ships what is queued within `FLUSH_ON_STOP_MS`, if the control plane is reached, and ends. */
  stop(): Promise<void>;
}

/** The folder of the queue, which is created. @throws the system's error */
export function makeQueueFolder(directory: string): string {
  const folder = join(directory, LOG_QUEUE_FOLDER);
  makeFolder(folder, { mode: 0o700 });
  return folder;
}

/** Starts to ship. */
export function createLogShipper({
  control,
  directory,
  log,
  everyMs = SHIP_MS,
}: LogShipperOptions): LogShipper {
  const folder = makeQueueFolder(directory);
  const ending = new AbortController();
  /** The control plane has refused a batch for its counted lines. */
  let isOlder = false;

  /** Ships every whole file. @throws ControlPlaneFault, or the system's error */
  async function shipAll(): Promise<void> {
    const names = await readdir(folder);
    const whole = names.filter((name) => name.endsWith(LOG_QUEUE_ENDING)).sort();
    // Files of processes that this node has no more are in no process's account of the bound.
    const old = whole.splice(0, Math.max(0, whole.length - MAX_LOG_FILES));
    for (const name of old) await rm(join(folder, name), { force: true });
    if (old.length > 0) log.warn({ files: old.length }, 'log entries are dropped: too many are queued');
    for (const name of whole) await shipOne(join(folder, name));
  }
  async function shipOne(file: string): Promise<void> {
    const batch = await readFile(file);
    try {
      await shipBatch(batch);
    } catch (error) {
      if (!(error instanceof ControlPlaneFault && error.code === 'answer')) throw error;
      // It would be refused again, and would stop all that follow.
      log.error({ err: errorMessage(error) }, 'the control plane refuses log entries; they are dropped');
    }
    await rm(file, { force: true });
  }
  /** Ships a batch; where it is refused, once more without counted lines, which earlier releases do not know. */
  async function shipBatch(batch: Uint8Array): Promise<void> {
    try {
      await control.shipLogs(batch);
    } catch (error) {
      const older = isRefusal(error) ? await withoutCounts(batch) : null;
      if (older === null) throw error;
      await control.shipLogs(older);
      if (!isOlder)
        log.warn({ err: errorMessage(error) }, 'the control plane takes no counted lines; it gets gaps');
      isOlder = true;
    }
  }
  async function ship(): Promise<void> {
    let failures = 0;
    while (!ending.signal.aborted) {
      try {
        await shipAll();
        failures = 0;
        await pause(everyMs, ending.signal);
      } catch (error) {
        if (failures === 0)
          log.warn({ err: errorMessage(error) }, 'log entries cannot be shipped; they are queued');
        await pause(retryMs(failures++, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS }), ending.signal);
      }
    }
  }

  const shipping = ship();
  return {
    async stop() {
      ending.abort();
      const sent = new AbortController();
      const last = shipping.then(shipAll).catch((error: unknown) => {
        log.info({ err: errorMessage(error) }, 'queued log entries are shipped after the next start');
      });
      await Promise.race([last.finally(() => sent.abort()), pause(FLUSH_ON_STOP_MS, sent.signal)]);
    },
  };
}

function isRefusal(error: unknown): boolean {
  return error instanceof ControlPlaneFault && error.isRefusal;
}

const unpack = promisify(gunzip);
const pack = promisify(gzip);

/** A batch with a gap in place of each counted line; `null`: it has none, or is damaged. */
async function withoutCounts(batch: Uint8Array): Promise<Uint8Array | null> {
  const text = await unpack(batch).then(String, () => null);
  if (text === null || !text.includes(COUNTED_FORMAT)) return null;
  let counted = 0;
  const lines = text.split('\n').map((line) => {
    if (!line.includes(COUNTED_FORMAT)) return line;
    const { format, time, id, domain, requests } = JSON.parse(line) as CountedLine;
    if (format !== COUNTED_FORMAT) return line;
    counted++;
    return JSON.stringify({ format: GAP_FORMAT, time, id, domain, dropped: requests });
  });
  return counted === 0 ? null : pack(lines.join('\n'));
}
