/**
 * Writes a large response body to its cache file. Chunks that arrive during a write are written with the next
 * one.
 */
import { open, unlink } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { encodeEnding, writeAll } from './file-format.ts';
import type { BodyFile } from './fill.ts';
import { SPILL_STALL_MS, SPILL_WINDOW } from './limits.ts';

export interface CommittableBodyFile extends BodyFile {
  /** Ends the file with its head. Resolves to whether the file is in place. */
  commit(head: unknown): Promise<boolean>;
  /** Checksum of the octets written so far. */
  sum(): number;
}

export interface BodyFileOptions {
  readonly failed: (error: unknown) => void;
  /** Called when fewer octets are queued than the window allows. */
  readonly onRest: () => void;
  /**
   * Moves the finished file of `size` octets into place. `false`: the file has been invalidated meanwhile.
   */
  readonly move: (size: number) => Promise<boolean>;
  /** Called when the file is closed, in every case. */
  readonly over: () => void;
}

export function createBodyFile(
  path: string,
  options: BodyFileOptions,
): CommittableBodyFile & { readonly finished: Promise<void> } {
  let queue: Uint8Array[] = [];
  let waiting = 0;
  let octets = 0;
  let bodySum = 0;
  let stopped = false;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const opening = open(path, 'wx', 0o600);
  let writing: Promise<void> | null = null;

  async function writeOut(): Promise<void> {
    const handle = await opening;
    while (queue.length > 0 && !stopped) {
      const batch = Buffer.concat(queue);
      queue = [];
      const late = setTimeout(stop, SPILL_STALL_MS, new Error('a disk took too long to write'));
      await writeAll(handle, batch).finally(() => clearTimeout(late));
      waiting -= batch.length;
      if (waiting < SPILL_WINDOW) options.onRest();
    }
    writing = null;
  }

  /** Closes the file, and removes it unless it was moved into place. */
  async function end(keep: boolean): Promise<void> {
    await writing?.catch(() => undefined);
    await opening.then((handle) => handle.close()).catch(() => undefined);
    if (!keep) await unlink(path).catch(() => undefined);
    options.over();
    finish();
  }

  function stop(error: unknown): void {
    if (stopped) return;
    stopped = true;
    options.failed(error);
    options.onRest();
    void end(false);
  }
  opening.catch(stop);

  return {
    finished,
    sum: () => bodySum,
    isBehind: () => !stopped && waiting >= SPILL_WINDOW,
    write(chunk) {
      if (stopped) return false;
      queue.push(chunk);
      waiting += chunk.length;
      octets += chunk.length;
      bodySum = crc32(chunk, bodySum);
      if (writing === null) {
        writing = writeOut();
        writing.catch(stop);
      }
      return true;
    },
    abandon() {
      if (stopped) return;
      stopped = true;
      void end(false);
    },
    async commit(head) {
      if (stopped) return false;
      const ending = encodeEnding({ head, bodyOctets: octets, bodySum });
      try {
        await writing;
        if (ending === null) throw new Error('the head of an answer is too large for its file');
        await writeAll(await opening, ending);
        if (stopped) return false;
        const placed = await options.move(octets + ending.length);
        stopped = true;
        await end(true);
        return placed;
      } catch (error) {
        stop(error);
        return false;
      }
    },
  };
}
