/** Responds from an entry, whether its body is in memory or in a file. */
import { type FileHandle, open } from 'node:fs/promises';
import {
  type HeaderList,
  pushMemory,
  type ResponsePart,
  type ResponseSink,
  type ResponseSource,
} from '../../base/http/response.ts';
import { decodeFoot, FOOT_OCTETS, readAt } from './body-file.ts';
import type { CacheEntry, FiledBody } from './entry.ts';
import type { FetchContext, FetchResult } from './in-flight.ts';
import { READ_OCTETS } from './limits.ts';
import { createDeferredSource, type Lookup } from './lookup.ts';
import { shapeEntry } from './stored-response.ts';

// Delivers responses whose body is in a file: reads and pushes it piece by piece, at the pace of the client.

/** Opens the file of a body; `null`: it is missing, damaged, or replaced by another. */
async function openBody({ place, sum }: FiledBody, length: number): Promise<FileHandle | null> {
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
function pushFile({ shaped, handle, onFault }: PushFileOptions, sink: ResponseSink): ResponseSource {
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

/** Responds to one client. An entry whose file is missing is removed, and the response is fetched from the origin. */
export function respond(
  context: FetchContext,
  lookup: Lookup,
  entry: CacheEntry,
  { result, status, visitorHeaders = NO_HEADERS }: FetchResult,
): ResponseSource {
  lookup.request.note(result);
  const { body } = entry;
  const part = shapeEntry(entry, lookup.request, status);
  const shaped =
    visitorHeaders.length === 0 ? part : { ...part, headers: [...part.headers, ...visitorHeaders] };
  if (body instanceof Uint8Array) return pushMemory(shaped, body, lookup.sink);
  if (shaped.from === shaped.to) return pushMemory(shaped, NOTHING, lookup.sink);
  const deferred = createDeferredSource();
  const { onFault, store } = context;
  openBody(body, entry.length)
    .then(async (handle) => {
      if (deferred.aborted) return handle?.close();
      if (handle !== null) return deferred.become(pushFile({ shaped, handle, onFault }, lookup.sink));
      store.remove(lookup.resource);
      return deferred.become(context.fetch(lookup, null, null));
    })
    .catch((error: unknown) => {
      onFault(error);
      lookup.sink.fail({ code: 'cut', reason: 'an error of the cache' });
    });
  return deferred;
}

const NO_HEADERS: HeaderList = [];
const NOTHING = new Uint8Array(0);
