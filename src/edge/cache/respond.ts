/** Answers out of an entry, wherever its body is. */
import type { ResponseSource } from '../response.ts';
import { type Ask, answerHeld, createLaterSource } from './ask.ts';
import { shapeEntry } from './deliver.ts';
import type { Entry } from './entry.ts';
import type { Told, Tower } from './flight.ts';
import { openBody, pushFile } from './push-file.ts';

/** Answers one client. An entry whose file is gone is forgotten, and the origin is asked. */
export function respond(tower: Tower, ask: Ask, entry: Entry, { result, status }: Told): ResponseSource {
  ask.request.note(result);
  const { body } = entry;
  if (body instanceof Uint8Array) return answerHeld(ask, entry, body, status);
  const shaped = shapeEntry(entry, ask.request, status);
  if (shaped.from === shaped.to) return answerHeld(ask, entry, NOTHING, status);
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
