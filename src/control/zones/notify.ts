/** Sends NOTIFY to every secondary when a zone has a new version (RFC 1996). */
import type { ServerAddress } from '../dns/server-address.ts';
import { createNotifyQueue, type NotifyQueueOptions, type WaitingNotify } from './notify-queue.ts';
import type { Secondary } from './secondaries.ts';
import type { ZoneHead } from './zone-source.ts';

/** What a notifier is created with. */
export interface ZoneNotifierOptions extends NotifyQueueOptions {
  readonly secondaries: readonly Secondary[];
}

/** What one secondary has not accepted yet. */
export interface SecondaryStatus {
  readonly server: ServerAddress;
  /** Zones whose newest version waits. */
  readonly waiting: number;
  /** Whether it answers nothing. */
  readonly silent: boolean;
}

/** Sends NOTIFY. */
export interface ZoneNotifier {
  /** Sends the version to every secondary, now and until it is accepted; replaces an earlier version that waits. */
  notify(head: ZoneHead): void;
  /** Sends no more about a zone that is served no more. */
  forget(name: string): void;
  /** In the order of the options. */
  status(): readonly SecondaryStatus[];
  /** The secondaries that have not accepted the newest version of a zone. */
  waiting(name: string): readonly (WaitingNotify & { readonly server: ServerAddress })[];
  stop(): void;
}

/** Creates a notifier; it opens a socket per secondary when there is something to send. */
export function createNotifier({ secondaries, log, clock }: ZoneNotifierOptions): ZoneNotifier {
  const queues = secondaries.map((secondary) => ({
    server: secondary.server,
    queue: createNotifyQueue(secondary, { log, clock }),
  }));
  let stopped = false;
  return {
    notify(head) {
      if (!stopped) for (const { queue } of queues) queue.add(head);
    },
    forget(name) {
      for (const { queue } of queues) queue.remove(name);
    },
    status: () =>
      queues.map(({ server, queue }) => ({ server, waiting: queue.size(), silent: queue.isSilent() })),
    waiting: (name) =>
      queues.flatMap(({ server, queue }) => {
        const entry = queue.waiting(name);
        return entry === null ? [] : [{ ...entry, server }];
      }),
    stop() {
      stopped = true;
      for (const { queue } of queues) queue.stop();
    },
  };
}
