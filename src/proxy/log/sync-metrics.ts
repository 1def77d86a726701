/** What a node that follows a control plane tells of it, for Prometheus. */
import type { Registry } from 'prom-client';
import { addGauge } from './metrics.ts';

export interface SyncProgress {
  /** Whether the manifest is read now, in whichever way. */
  readonly connected: boolean;
  /** Milliseconds since the control plane said anything, or since the start. */
  readonly silentMs: number;
  /** Names that are not yet where the manifest wants them. */
  readonly pending: number;
  /** Names whose newest plan was refused. */
  readonly refused: number;
  /** Why what the control plane says cannot be stored, as a phrase; `null`: it can. */
  readonly disk: string | null;
  /** Answers about plans that the control plane has not heard. */
  readonly unreported: number;
  /** Rows of traffic that it has not taken. */
  readonly rows: number;
}

/** Why no traffic should be sent to a node that follows, as a sentence; `null`: it should. */
export function unreadySync({ disk }: SyncProgress): string | null {
  return disk === null ? null : `changes cannot be stored, so that what is served grows old: ${disk}`;
}

export function addSyncMetrics(registry: Registry, read: () => SyncProgress): void {
  const add = (name: string, help: string, value: (following: SyncProgress) => number): void =>
    // One process of a node follows.
    addGauge(registry, { name, help, read: () => value(read()), together: 'max' });
  add('edgeplan_node_following', 'Whether the control plane is followed now: 1 or 0', ({ connected }) =>
    connected ? 1 : 0,
  );
  add(
    'edgeplan_node_control_silent_seconds',
    'Seconds since the control plane said anything, or since the start; it does every 15 while it is followed',
    ({ silentMs }) => silentMs / 1_000,
  );
  add(
    'edgeplan_node_plans_pending',
    'Names that are not yet where the control plane wants them',
    ({ pending }) => pending,
  );
  add(
    'edgeplan_node_plans_refused',
    'Names whose newest plan was refused; the one before is served on',
    ({ refused }) => refused,
  );
  add(
    'edgeplan_node_reports_waiting',
    'Answers about plans that the control plane has not heard',
    ({ unreported }) => unreported,
  );
  add(
    'edgeplan_node_disk_failing',
    'Whether the last change could not be stored, for want of room or another fault of the disk: 1 or 0',
    ({ disk }) => (disk === null ? 0 : 1),
  );
  add('edgeplan_node_usage_rows', 'Rows of traffic that the control plane has not taken', ({ rows }) => rows);
}
