/**
 * Restarts of `edgeplan node` that nobody notices: the sockets that a process starts with, `--upgrade`, and the wait of a process
 * that takes over. In: flags. Out: options of the node, progress on stderr, or a CommandFault.
 */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { foreignHost } from '../base/addresses/host.ts';
import { ActivationFault, activatedSockets } from '../edge/handover/activation.ts';
import { CONTROL_SOCKET, requestUpgrade, type UpgradeLine } from '../edge/handover/control-socket.ts';
import { ownCommand } from '../edge/handover/messages.ts';
import { chooseSockets, type InheritedSockets } from '../edge/handover/sockets.ts';
import type { Handed, Predecessor } from '../edge/handover/successor.ts';
import { acceptUpgrades, type Upgrades } from '../edge/handover/upgrades.ts';
import { type HandedState, readHandedState } from '../edge/node/handed-state.ts';
import {
  type EdgeNodeOptions,
  HTTP,
  HTTPS,
  LISTENER_NAMES,
  OPERATIONS,
  type RunningNode,
} from '../edge/node/options.ts';
import { CommandFault, EXIT, usageFault } from './exit.ts';
import type { NodeFlags } from './node-options.ts';
import { settingsOf } from './node-settings.ts';
import { note, write } from './output.ts';

/** The flag that is left out of the command line of the next process. */
const UPGRADE = '--upgrade';

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
  let sockets: InheritedSockets;
  try {
    sockets = activatedSockets({ env: process.env, pid: process.pid, names: LISTENER_NAMES });
  } catch (error) {
    if (error instanceof ActivationFault) throw usageFault(error.message, error.remedy);
    throw error;
  }
  // They are for this process alone (sd_listen_fds(3)).
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete process.env[name];
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

/** Runs `edgeplan node --upgrade`. @throws CommandFault when the running process serves on, or no process runs */
export async function upgrade({ data, upgradeWait }: NodeFlags): Promise<void> {
  const command = ownCommand(process.argv.slice(2).filter((word) => word !== UPGRADE));
  let last: Exclude<UpgradeLine, { kind: 'progress' }>;
  try {
    last = await requestUpgrade(join(data, CONTROL_SOCKET), { command, waitMs: upgradeWait * 1_000 }, note);
  } catch (error) {
    throw unreachable(data, error);
  }
  if (last.kind === 'served') return write(`process ${last.pid} serves\n`);
  throw new CommandFault(EXIT.server, `the upgrade failed, the running process serves on: ${last.reason}`);
}

function unreachable(data: string, cause: unknown): CommandFault {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') {
    const remedy = 'run the command as the user of the node';
    return new CommandFault(EXIT.server, `the node of \`${data}\` belongs to another user`, {
      cause,
      remedy,
    });
  }
  const isAway = code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';
  const reason = isAway ? 'no node that can be upgraded runs there' : message;
  const remedy =
    'name the folder of the running node with --data; without --upgrade the command starts a node';
  return new CommandFault(EXIT.server, `\`${data}\`: ${reason}`, { cause, remedy });
}

/** Accepts upgrades of a started node, by `--upgrade` and SIGUSR2. */
export function serveUpgrades({ data, drain, upgradeWait }: NodeFlags, running: RunningNode): Upgrades {
  const { sockets, unready, release, reclaim } = running;
  return acceptUpgrades({
    data,
    own: ownCommand(),
    waitMs: upgradeWait * 1_000,
    parts: { sockets, unready, release, reclaim },
    leave: ({ report }) => running.leave(drain * 1_000, report),
    note: (sentence) => note(`edgeplan: ${sentence}`),
  });
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
