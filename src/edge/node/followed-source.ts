/**
 * The source of a node's plans while processes of the node hand over to each other: a control plane is followed by one of them,
 * an edge file by any number. In: the way to follow it. Out: the source as it is now, and its last progress.
 */
import type { CountsRelay } from './counts-relay.ts';
import type { EdgeNodeOptions } from './options.ts';
import type { PlanSource } from './plan-source.ts';

/** Progress of sync; `null`: there is no control plane. */
export type SourceProgress = ReturnType<NonNullable<PlanSource['progress']>> | null;

/** A source that can be left to another process and taken up again. */
export interface FollowedSource {
  /** Follows the source, unless it does. Rejects as `followPlans`. */
  start(): Promise<void>;
  /** Stops to follow what one process of a folder may follow. */
  pause(): Promise<void>;
  stop(): Promise<void>;
  /** Checks for changes now. */
  check(): Promise<void>;
  /** `null`: it is not followed now. */
  current(): PlanSource | null;
  /** Of the source as it is now, or as it was when this process followed it last. */
  progress(): SourceProgress;
}

/** What follows the source, and what gets its sink of counts. */
export interface FollowedSourceParts {
  readonly relay: CountsRelay;
  readonly follow: () => Promise<PlanSource>;
}

/** A source that is not followed yet. */
export function createFollowedSource(
  { plans }: Pick<EdgeNodeOptions, 'plans'>,
  { relay, follow }: FollowedSourceParts,
): FollowedSource {
  let source: PlanSource | null = null;
  let last: SourceProgress = null;
  const progress = (): SourceProgress => {
    last = source?.progress?.() ?? last;
    return last;
  };
  async function stop(): Promise<void> {
    progress();
    const stopped = source;
    source = null;
    await stopped?.stop();
  }
  return {
    async start() {
      if (source !== null) return;
      source = await follow();
      if (source.traffic !== null) await relay.to(source.traffic.add);
    },
    async pause() {
      if (plans.kind === 'control') await stop();
    },
    stop,
    check: async () => source?.check(),
    current: () => source,
    progress,
  };
}
