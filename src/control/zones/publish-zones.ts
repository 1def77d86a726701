/**
 * Publishes zones: marked names are claimed, made in a thread, and written with the step from the version before; then
 * secondaries are notified. Several processes may do so on one store: claims divide the work, and of two that make one
 * zone at once the later finds its mark gone, so serials only rise.
 */
import { StoreFault } from '../../base/storage/fault.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import {
  NOTIFIED_AT_START,
  ZONE_ATTEMPTS,
  ZONE_HISTORY,
  ZONE_LEASE_MS,
  ZONE_PACE_MS,
  ZONE_POLL_MS,
  ZONES_CLAIMED,
  ZONES_SIDE_BY_SIDE,
} from './limits.ts';
import type { ZoneLog } from './log.ts';
import type { MadeZone } from './make-zone.ts';
import { settingsId, type ZoneSettings } from './settings.ts';
import type { ZoneMaker } from './zone-maker.ts';
import {
  advanceCatalog,
  beginCatalog,
  CATALOG_SERVER,
  type CatalogChange,
  headOf,
  SOA_TIMERS,
  type ZoneHead,
} from './zone-source.ts';

export interface ZonePublisherOptions {
  readonly store: Store;
  readonly maker: ZoneMaker;
  readonly settings: ZoneSettings;
  /** Receives every new version, for NOTIFY. */
  readonly notify: (head: ZoneHead) => void;
  /** Receives the name of a zone that is removed. */
  readonly forget: (name: string) => void;
  /** Called when a zone with targets was made: they may be new. */
  readonly onTargets?: () => void;
  /** Receives the milliseconds from the change to its version, for metrics. */
  readonly onPublished?: (sinceChangeMs: number) => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Pick<ZoneLog, 'warn'>;
}

/** Publishes the zones of one store. */
export interface ZonePublisher {
  /** Marks what the settings change, notifies of recent versions, and begins to publish. */
  start(): Promise<void>;
  /** Claims nothing further; resolves once the zones under way are written. */
  stop(): Promise<void>;
}

interface State extends ZonePublisherOptions {
  stopping: boolean;
  running: Promise<void> | null;
  again: boolean;
}

export function createZonePublisher(options: ZonePublisherOptions): ZonePublisher {
  const state: State = { ...options, stopping: false, running: null, again: false };
  const { store, settings, clock } = options;
  let poll: NodeJS.Timeout | undefined;
  let unlisten = (): void => undefined;
  return {
    async start() {
      await store.write(async (tx) => {
        await beginCatalog(tx, settings.catalog, clock());
        await tx.zones.markOthers(settingsId(settings), clock());
      });
      await notifyOfRecent(state);
      unlisten = store.listen((change) => {
        if (change === 'zones' || change === 'unknown') wake(state);
      });
      poll = setInterval(() => wake(state), ZONE_POLL_MS).unref();
      wake(state);
    },
    async stop() {
      state.stopping = true;
      clearInterval(poll);
      unlisten();
      await state.running;
    },
  };
}

/** A process that was killed between a commit and its NOTIFY sends it now; older ones were due for a refresh anyway. */
async function notifyOfRecent({ store, settings, clock, notify }: State): Promise<void> {
  const since = clock() - SOA_TIMERS.refresh * 1_000;
  const catalog = await store.latest.zones.catalog(settings.catalog);
  if (catalog !== null) notify({ name: catalog.name, serial: catalog.serial, primary: CATALOG_SERVER });
  for (const row of await store.latest.zones.changedSince(since, NOTIFIED_AT_START)) notify(headOf(row));
}

function wake(state: State): void {
  if (state.stopping) return;
  state.again = true;
  state.running ??= run(state).finally(() => {
    state.running = null;
    // A hint that came after the last claim.
    if (state.again) wake(state);
  });
}

/** Claims and publishes until nothing can be claimed. Never rejects. */
async function run(state: State): Promise<void> {
  const { store, clock, log } = state;
  while (!state.stopping) {
    state.again = false;
    try {
      const now = clock();
      const claim = { now, until: now + ZONE_LEASE_MS, limit: ZONES_CLAIMED };
      const queue = [...(await store.write((tx) => tx.zones.claim(claim)))];
      if (queue.length === 0) return;
      const worker = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          await publish(state, next.name, next.since);
        }
      };
      await Promise.all(Array.from({ length: ZONES_SIDE_BY_SIDE }, worker));
      await new Promise((resolve) => setTimeout(resolve, ZONE_PACE_MS));
    } catch (error) {
      log.warn({ err: error }, 'zones not published; will retry');
      state.again = false;
      return;
    }
  }
}

/** Publishes what is marked for one name. A zone that cannot be made is claimed again when its claim lapses. */
async function publish(state: State, name: string, since: number): Promise<void> {
  const { maker, store, clock, log } = state;
  try {
    for (let attempt = 1; attempt <= ZONE_ATTEMPTS; attempt++) {
      const now = clock();
      const made = await maker.make(name, now);
      if (made === null) return;
      const written = await store.write((tx) => write(tx, made, { name, now, settings: state.settings }));
      if (written === null) continue;
      if (made.kind === 'removed') state.forget(name);
      for (const head of written) state.notify(head);
      if (made.kind === 'changed') state.onPublished?.(clock() - since);
      if ('targets' in made && made.targets.length > 0) state.onTargets?.();
      return;
    }
    // Writes come faster than the zone is made; others have their turn first.
    await store.write((tx) => tx.zones.release(name));
  } catch (error) {
    const known = error instanceof StoreFault ? { code: error.code } : {};
    log.warn(
      { zone: name, ...known, err: error },
      `zone not published; tried again in ${ZONE_LEASE_MS / 1_000} s`,
    );
  }
}

/** Where a made zone is written. */
interface WriteContext {
  readonly name: string;
  readonly now: number;
  readonly settings: ZoneSettings;
}

/** Writes what was made; answers the new versions, or `null` if the name was changed meanwhile. */
async function write(
  tx: WriteTransaction,
  made: MadeZone,
  { name, now, settings }: WriteContext,
): Promise<readonly ZoneHead[] | null> {
  // The mark is the lock: a write of the domain waits for it, or has replaced it.
  if (!(await tx.zones.take(name, made.version))) return null;
  switch (made.kind) {
    case 'none':
      return [];
    case 'removed': {
      await tx.zones.remove(name);
      await tx.zones.setTargets(name, []);
      const removed = [{ name, domain_id: made.domain_id }];
      const change = { removed, added: [], removedSerial: made.serial };
      return [await advanceCatalog(tx, { catalog: settings.catalog, now }, change)];
    }
    case 'same':
      await tx.zones.touch(made.zone);
      await tx.zones.setTargets(name, made.targets);
      return [];
    case 'changed': {
      await tx.zones.put(made.zone, made.step, ZONE_HISTORY);
      await tx.zones.setTargets(name, made.targets);
      const change = memberChange(made);
      if (change === null) return [headOf(made.zone)];
      // The catalog first: a secondary that does not know the zone yet refuses its NOTIFY.
      return [await advanceCatalog(tx, { catalog: settings.catalog, now }, change), headOf(made.zone)];
    }
  }
}

/** How the catalog changes by a version; `null`: the zone was a member as this one is. */
function memberChange({ zone, before }: Extract<MadeZone, { kind: 'changed' }>): CatalogChange | null {
  if (before === zone.domain_id) return null;
  const added = [{ name: zone.name, domain_id: zone.domain_id }];
  return { removed: before === null ? [] : [{ name: zone.name, domain_id: before }], added };
}
