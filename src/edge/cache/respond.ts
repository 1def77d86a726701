/** Responds from an entry, whether its body is in memory or in a file. */
import { pushMemory } from '../../base/http/push-memory.ts';
import type { HeaderList, ResponseSource } from '../../base/http/response.ts';
import { shapeEntry } from './deliver.ts';
import type { CacheEntry } from './entry.ts';
import type { FetchContext, FetchResult } from './in-flight.ts';
import { createDeferredSource, type Lookup } from './lookup.ts';
import { openBody, pushFile } from './push-file.ts';

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
