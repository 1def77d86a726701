/**
 * Restarts of `edgeplan node` that nobody notices: the sockets that a process starts with, and how it takes over from another
 * one. In: flags. Out: options of the node, or a CommandFault.
 */
import { isIP } from 'node:net';
import { foreignHost } from '../base/addresses/host.ts';
import { chooseSockets, type InheritedSockets } from '../edge/handover/sockets.ts';
import type { Handed, Predecessor } from '../edge/handover/successor.ts';
import type { Upgrades } from '../edge/handover/upgrades.ts';
import { type HandedState, readHandedState } from '../edge/node/handed-state.ts';
import {
  type EdgeNodeOptions,
  HTTP,
  HTTPS,
  LISTENER_NAMES,
  OPERATIONS,
  type RunningNode,
} from '../edge/node/options.ts';
import { EXIT, usageFault } from './exit.ts';
import type { NodeFlags } from './node-options.ts';
import { settingsOf } from './node-settings.ts';
import { inheritedSockets, serveUpgrades } from './upgrades.ts';

/** What a node starts with besides its flags. */
export interface NodeOrigin {
  readonly settings: ReturnType<typeof settingsOf>;
  readonly sockets: InheritedSockets;
  readonly handed: HandedState | null;
}

/**
 * The sockets that systemd passes, and the settings with them.
 * @throws CommandFault when a socket cannot be used, or one of a configured listener is missing
 */
export function activatedOrigin(flags: NodeFlags): NodeOrigin {
  const sockets = inheritedSockets({ names: LISTENER_NAMES });
  const settings = settingsOf(flags, new Set(sockets.keys()));
  const needed = settings.tls === null ? [HTTP] : [HTTP, HTTPS];
  const missing = sockets.size === 0 ? [] : needed.filter((name) => !sockets.has(name));
  if (missing.length > 0) {
    throw usageFault(
      `LISTEN_FDS has no socket for ${missing.join(', ')}, found ${[...sockets.keys()].join(', ')}`,
      `add a socket unit with FileDescriptorName=${missing[0]}, or leave the listener out`,
    );
  }
  return { settings, sockets, handed: null };
}

/** What a process that takes over starts with: the sockets of the one before, as far as the flags have their addresses. */
export function handedOrigin(flags: NodeFlags, { sockets, state }: Handed): NodeOrigin {
  const fixed = sockets.filter(({ place }) => place === null).map(({ name }) => name);
  const settings = settingsOf(flags, new Set(fixed));
  const { host, port, tls, operationsPort, operationsAddress } = settings;
  const wanted = new Map([[HTTP, { host, port }]]);
  if (tls !== null) wanted.set(HTTPS, { host, port: tls.port });
  if (operationsPort !== null) wanted.set(OPERATIONS, { host: operationsAddress, port: operationsPort });
  return { settings, sockets: chooseSockets(sockets, wanted), handed: readHandedState(state) };
}

/** The warning about a health and metrics listener that others reach; `null`: it is on loopback. */
export function exposedLine({
  operationsPort,
  operationsAddress,
}: Pick<EdgeNodeOptions, 'operationsPort' | 'operationsAddress'>): string | null {
  const host = isIP(operationsAddress) === 6 ? `[${operationsAddress}]` : operationsAddress;
  if (operationsPort === null || foreignHost(host) === null) return null;
  return `--ops-address ${operationsAddress}: metrics have no authentication, and who reaches port ${operationsPort} reads them; let a firewall admit probes and Prometheus only`;
}

/** Accepts upgrades of a started node, by `--upgrade` and SIGUSR2. */
export function serveNodeUpgrades(flags: NodeFlags, running: RunningNode): Upgrades {
  return serveUpgrades(flags, running, ({ report }) => running.leave(flags.drain * 1_000, report));
}

/**
 * Lets a started node take over: opens the health and metrics listener once it is ready, reports that to the process before, and
 * takes what that process still counts.
 */
export async function takeOver(predecessor: Predecessor, running: RunningNode): Promise<void> {
  predecessor.onAbort(() => {
    running.stop(0).finally(() => process.exit(EXIT.server));
  });
  predecessor.onReport((report) => running.absorb(report as Parameters<RunningNode['absorb']>[0]));
  await predecessor.ready(running.unready);
  await running.openOperations();
  await predecessor.serving();
}
