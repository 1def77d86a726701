/** The zones of `edgeplan serve`: their publisher, the server of transfers, NOTIFY, and lookups of ALIAS targets. */
import type { Registry } from 'prom-client';
import type { Dns } from '../control/dns/resolver.ts';
import { createFlattener } from '../control/zones/flatten.ts';
import { addZoneMetrics } from '../control/zones/metrics.ts';
import { createNotifier } from '../control/zones/notify.ts';
import { createZonePublisher } from '../control/zones/publish-zones.ts';
import { createZoneServer } from '../control/zones/server.ts';
import { createStoreSource } from '../control/zones/store-source.ts';
import { createStoreTargets } from '../control/zones/store-targets.ts';
import { createZoneMaker } from '../control/zones/zone-maker.ts';
import { addressText, createZoneService, type ZoneService } from '../control/zones/zone-service.ts';
import type { ServerOptions } from './server-options.ts';
import type { ZoneOptions } from './zone-options.ts';

/** The zones of a server. */
export interface ServerZones {
  readonly service: ZoneService;
  /** Publishes, listens and looks up; resolves with the address of transfers. @throws Error the address cannot be used */
  start(): Promise<string>;
  stop(): Promise<void>;
}

/** What zones work with besides their options. */
export interface ServerZonesTools {
  readonly dns: Dns;
  readonly registry: Registry;
}

/** Composes the parts; nothing runs yet. */
export function createServerZones(
  { listen, settings, keys, secondaries }: ZoneOptions,
  { store, log }: Pick<ServerOptions, 'store' | 'log'>,
  { dns, registry }: ServerZonesTools,
): ServerZones {
  const clock = Date.now;
  const source = createStoreSource(store, settings.catalog);
  const notifier = createNotifier({ secondaries, log, clock });
  const metrics = addZoneMetrics(registry, {
    store,
    waiting: () =>
      notifier.status().map(({ server: at, waiting }) => ({ secondary: addressText(at), zones: waiting })),
  });
  const maker = createZoneMaker({ store, settings });
  const publisher = createZonePublisher({
    ...{ store, maker, settings, clock, log },
    notify: (head) => notifier.notify(head),
    forget: (name) => notifier.forget(name),
    onPublished: metrics.published,
    onTargets: () => flattener.wake(),
  });
  const server = createZoneServer({
    ...{ source, keys, secondaries, listen, log, clock },
    onAnswer: ({ kind }) => metrics.answered(kind),
  });
  const flattener = createFlattener({
    ...{ dns, clock },
    targets: createStoreTargets(store, clock),
    note: (note) => {
      if (note.kind === 'failed')
        log.debug({ target: note.target, err: note.error }, 'ALIAS target not looked up');
    },
  });
  const service = createZoneService({
    store,
    secondaries: secondaries.map(({ server: address }) => ({
      server: address,
      waits: (zone) => notifier.waiting(zone).some((waiting) => waiting.server === address),
    })),
  });
  return {
    service,
    async start() {
      const address = addressText(await server.start());
      await publisher.start();
      flattener.start();
      return address;
    },
    async stop() {
      await flattener.stop();
      await publisher.stop();
      await maker.close();
      notifier.stop();
      await server.stop();
    },
  };
}
