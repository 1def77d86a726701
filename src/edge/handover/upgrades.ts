/**
 * Upgrades of a process that serves, one at a time: by the control socket in its data folder, or by SIGUSR2 as nginx has it. In:
 * what serves. Out: a successor, to which this process leaves its clients; or a sentence, and everything as before.
 */
import { join } from 'node:path';
import { CONTROL_SOCKET, type ControlSocket, openControlSocket, type UpgradeLine } from './control-socket.ts';
import { endsContainer, ownPlace } from './main-process.ts';
import type { ProgramCommand } from './messages.ts';
import { type HandOverParts, handOver, type RunningSuccessor } from './predecessor.ts';

/** What `acceptUpgrades` needs. */
export interface UpgradesOptions {
  /** The data folder, whose lock this process has. */
  readonly data: string;
  /** The command line of this process, for SIGUSR2. */
  readonly own: ProgramCommand;
  /** Milliseconds that a successor by SIGUSR2 has to load, and again to become ready. */
  readonly waitMs: number;
  readonly parts: HandOverParts;
  /** Drains this process once the successor serves, and ends it. */
  readonly leave: (successor: RunningSuccessor) => Promise<void>;
  /** Called with sentences for the log. */
  readonly note: (sentence: string) => void;
}

/** Accepted upgrades. */
export interface Upgrades {
  /** Ends a successor that does not serve yet, and accepts no more. Resolves when it is gone. */
  stop(): Promise<void>;
}

/** Accepts upgrades from now on. */
export function acceptUpgrades({ data, own, waitMs, parts, leave, note }: UpgradesOptions): Upgrades {
  const path = join(data, CONTROL_SOCKET);
  const stopping = new AbortController();
  // Now: a process whose parent has ended becomes a child of process 1, which goes on without it.
  const unreplaceable = endsContainer(ownPlace());
  let control: ControlSocket | null = null;
  let running: Promise<void> | null = null;

  function open(): void {
    try {
      control = openControlSocket(path, ({ command, waitMs: ms }, reply) => start(command, ms, reply));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      note(`there is no control socket: ${reason}; SIGUSR2 upgrades this process`);
    }
  }
  function close(): void {
    control?.close();
    control = null;
  }
  const handed: HandOverParts = {
    ...parts,
    // The successor opens its own at the same path.
    release(report) {
      close();
      return parts.release(report);
    },
    async reclaim() {
      await parts.reclaim();
      open();
    },
  };

  async function upgrade(
    command: ProgramCommand,
    ms: number,
    reply: (line: UpgradeLine) => void,
  ): Promise<void> {
    const onProgress = (text: string): void => reply({ kind: 'progress', text });
    const outcome = await handOver(command, handed, { waitMs: ms, onProgress, signal: stopping.signal });
    if (outcome.kind === 'failed') {
      const lost = outcome.lost === null ? '' : `, but without what it had released: ${outcome.lost}`;
      note(`the upgrade failed, this process serves on${lost}: ${outcome.reason}`);
      return reply({ kind: 'failed', reason: outcome.reason });
    }
    const { successor } = outcome;
    note(`process ${successor.pid} serves; this one, ${process.pid}, drains`);
    reply({ kind: 'served', pid: successor.pid });
    await leave(successor);
    successor.leave();
  }

  /** Why no upgrade can begin now; `null`: one can. */
  function refusal(): string | null {
    if (stopping.signal.aborted) return 'this process is stopping';
    if (running !== null) return 'another upgrade is under way';
    return unreplaceable;
  }

  function start(command: ProgramCommand, ms: number, reply: (line: UpgradeLine) => void): void {
    const reason = refusal();
    if (reason !== null) {
      reply({ kind: 'failed', reason });
      return;
    }
    running = upgrade(command, ms, reply)
      .catch((error: unknown) =>
        note(`the end was not clean: ${error instanceof Error ? error.message : String(error)}`),
      )
      .finally(() => {
        running = null;
      });
  }

  open();
  process.on('SIGUSR2', () => {
    const reason = refusal();
    if (reason !== null) note(`SIGUSR2 has no effect: ${reason}`);
    else start(own, waitMs, (line) => line.kind === 'progress' && note(line.text));
  });
  return {
    async stop() {
      stopping.abort();
      close();
      await running;
    },
  };
}
