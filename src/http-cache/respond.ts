/** Responds from an entry, whether its body is in memory or in a file. */
import type { ResponseSource } from '../http/response.ts';
import { shapeEntry } from './deliver.ts';
import type { CacheEntry } from './entry.ts';
import type { FetchContext, FetchResult } from './in-flight.ts';
import { answerStored, createDeferredSource, type Lookup } from './lookup.ts';
import { openBody, pushFile } from './push-file.ts';

/** Responds to one client. An entry whose file is missing is removed, and the response is fetched from the origin. */
export function respond(
  context: FetchContext,
  lookup: Lookup,
  entry: CacheEntry,
  { result, status }: FetchResult,
): ResponseSource {
  lookup.request.note(result);
  const { body } = entry;
  if (body instanceof Uint8Array) return answerStored(lookup, entry, body, status);
  const shaped = shapeEntry(entry, lookup.request, status);
  if (shaped.from === shaped.to) return answerStored(lookup, entry, NOTHING, status);
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

const NOTHING = new Uint8Array(0);
