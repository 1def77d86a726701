/**
 * Delivers responses whose body is in a file: reads and pushes it piece by piece, at the pace of the client.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { ResponsePart } from '../../base/http/push-memory.ts';
import type { ResponseSink, ResponseSource } from '../../base/http/response.ts';
import type { FiledBody } from './entry.ts';
import { decodeFoot, FOOT_OCTETS, readAt } from './file-format.ts';
import { READ_OCTETS } from './limits.ts';

/** Opens the file of a body; `null`: it is missing, damaged, or replaced by another. */
export async function openBody({ place, sum }: FiledBody, length: number): Promise<FileHandle | null> {
  const handle = await open(place.path, 'r').catch(() => null);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    const foot = decodeFoot(await readAt(handle, Math.max(0, size - FOOT_OCTETS), FOOT_OCTETS), size);
    if (foot !== null && foot.bodySum === sum && foot.bodyOctets === length) return handle;
  } catch {
    // An unreadable file counts as missing.
  }
  await handle.close();
  return null;
}

export interface PushFileOptions {
  readonly shaped: ResponsePart;
  readonly handle: FileHandle;
  readonly onFault: (error: unknown) => void;
}

/** Pushes a response and closes the file. */
export function pushFile({ shaped, handle, onFault }: PushFileOptions, sink: ResponseSink): ResponseSource {
  let at = shaped.from;
  let paused = false;
  let over = false;
  let reading = false;

  function close(): void {
    over = true;
    handle.close().catch(onFault);
  }

  async function push(): Promise<void> {
    while (at < shaped.to && !paused && !over) {
      const chunk = await readAt(handle, at, Math.min(READ_OCTETS, shaped.to - at));
      if (over) return;
      if (chunk.length === 0) throw new Error('a file of the cache ends before its body');
      at += chunk.length;
      sink.data(chunk);
    }
    if (over || at < shaped.to) return;
    close();
    sink.end([]);
  }

  function go(): void {
    if (reading || over) return;
    reading = true;
    push()
      .catch((error: unknown) => {
        if (over) return;
        onFault(error);
        close();
        sink.fail({ code: 'cut', reason: 'the file of a body could not be read to its end' });
      })
      .finally(() => {
        reading = false;
        if (!paused && !over) go();
      });
  }

  const source: ResponseSource = {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
      go();
    },
    abort: () => {
      if (over) return;
      over = true;
      // A read may be in progress; closing waits for it.
      handle.close().catch(onFault);
    },
  };
  sink.head({ status: shaped.status, headers: shaped.headers, madeBy: 'origin' }, source);
  go();
  return source;
}
