/** Responds from an entry, whether its body is in memory or in a file. */
import type { ResponseSource } from '../http/response.ts';
import { shapeEntry } from './deliver.ts';
import type { CacheEntry } from './entry.ts';
import type { FetchContext, FetchResult } from './in-flight.ts';
import { answerStored, createLaterSource, type Lookup } from './lookup.ts';
import { openBody, pushFile } from './push-file.ts';

/** Responds to one client. An entry whose file is missing is removed, and the origin is asked. */
export function respond(
  tower: FetchContext,
  ask: Lookup,
  entry: CacheEntry,
  { result, status }: FetchResult,
): ResponseSource {
  ask.request.note(result);
  const { body } = entry;
  if (body instanceof Uint8Array) return answerStored(ask, entry, body, status);
  const shaped = shapeEntry(entry, ask.request, status);
  if (shaped.from === shaped.to) return answerStored(ask, entry, NOTHING, status);
  const later = createLaterSource();
  const { onFault, store } = tower;
  openBody(body, entry.length)
    .then(async (handle) => {
      if (later.aborted) return handle?.close();
      if (handle !== null) return later.become(pushFile({ shaped, handle, onFault }, ask.sink));
      store.remove(ask.resource);
      return later.become(tower.lead(ask, null, null));
    })
    .catch((error: unknown) => {
      onFault(error);
      ask.sink.fail({ code: 'cut', reason: 'an error of the cache' });
    });
  return later;
}

const NOTHING = new Uint8Array(0);
