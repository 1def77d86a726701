/**
 * Restarts that nobody notices, of `edgeplan node` and `edgeplan agent`: the sockets that systemd passes, `--upgrade`, and the
 * upgrades that a started process accepts. In: flags, and what serves. Out: sockets, progress on stderr, or a CommandFault.
 */
import { join } from 'node:path';
import { ActivationFault, type ActivationInput, activatedSockets } from '../edge/handover/activation.ts';
import { CONTROL_SOCKET, requestUpgrade, type UpgradeLine } from '../edge/handover/control-socket.ts';
import { ownCommand } from '../edge/handover/messages.ts';
import type { HandOverParts } from '../edge/handover/predecessor.ts';
import type { InheritedSockets } from '../edge/handover/sockets.ts';
import { acceptUpgrades, type Upgrades, type UpgradesOptions } from '../edge/handover/upgrades.ts';
import { CommandFault, EXIT, usageFault } from './exit.ts';
import { note, write } from './output.ts';

/** The flag that is left out of the command line of the next process. */
const UPGRADE = '--upgrade';

/** The flags of an upgrade. */
export interface UpgradeFlags {
  readonly data: string;
  /** Seconds for the next process to load, and again to become ready. */
  readonly upgradeWait: number;
}

/** The sockets that systemd passes, by the names of listeners. @throws CommandFault when one cannot be used */
export function inheritedSockets(input: Pick<ActivationInput, 'names' | 'unixNames'>): InheritedSockets {
  try {
    return activatedSockets({ env: process.env, pid: process.pid, ...input });
  } catch (error) {
    if (error instanceof ActivationFault) throw usageFault(error.message, error.remedy);
    throw error;
  } finally {
    // They are for this process alone (sd_listen_fds(3)).
    for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete process.env[name];
  }
}

/**
 * Runs `--upgrade`.
 * @param what the command, `node` or `agent`
 * @throws CommandFault when the running process serves on, or no process runs
 */
export async function upgrade(what: string, { data, upgradeWait }: UpgradeFlags): Promise<void> {
  const command = ownCommand(process.argv.slice(2).filter((word) => word !== UPGRADE));
  let last: Exclude<UpgradeLine, { kind: 'progress' }>;
  try {
    last = await requestUpgrade(join(data, CONTROL_SOCKET), { command, waitMs: upgradeWait * 1_000 }, note);
  } catch (error) {
    throw unreachable(what, data, error);
  }
  if (last.kind === 'served') return write(`process ${last.pid} serves\n`);
  throw new CommandFault(EXIT.server, `the upgrade failed, the running process serves on: ${last.reason}`);
}

function unreachable(what: string, data: string, cause: unknown): CommandFault {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') {
    const remedy = `run the command as the user of the ${what}`;
    return new CommandFault(EXIT.server, `the ${what} of \`${data}\` belongs to another user`, {
      cause,
      remedy,
    });
  }
  const isAway = code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';
  const reason = isAway ? `no ${what} that can be upgraded runs there` : message;
  const remedy = `name the folder of the running ${what} with --data; without --upgrade the command starts one`;
  return new CommandFault(EXIT.server, `\`${data}\`: ${reason}`, { cause, remedy });
}

/** Accepts upgrades of a started process, by `--upgrade` and SIGUSR2. @param leave as `acceptUpgrades` has it */
export function serveUpgrades(
  { data, upgradeWait }: UpgradeFlags,
  { sockets, unready, release, reclaim }: HandOverParts,
  leave: UpgradesOptions['leave'],
): Upgrades {
  return acceptUpgrades({
    data,
    own: ownCommand(),
    waitMs: upgradeWait * 1_000,
    parts: { sockets, unready, release, reclaim },
    leave,
    note: (sentence) => note(`edgeplan: ${sentence}`),
  });
}
