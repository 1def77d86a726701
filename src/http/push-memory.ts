/** Pushes a response body that is in memory. */
import type { HeaderList } from './answer.ts';
import { PUSH_OCTETS } from './limits.ts';
import type { ResponseSink, ResponseSource } from './response.ts';

/** What a client gets of an answer. */
export interface ResponsePart {
  readonly status: number;
  readonly headers: HeaderList;
  /** Octets of the body; none where both are the same. `to` is `Infinity` where the length is not known. */
  readonly from: number;
  readonly to: number;
}

/** Pushes an answer whose body lies in memory. */
export function pushMemory(shaped: ResponsePart, body: Uint8Array, sink: ResponseSink): ResponseSource {
  let at = shaped.from;
  let paused = false;
  let over = false;
  let pushing = false;
  function push(): void {
    if (pushing || over) return;
    pushing = true;
    while (at < shaped.to && !paused && !over) {
      const until = Math.min(shaped.to, at + PUSH_OCTETS);
      const chunk = at === 0 && until === body.length ? body : body.subarray(at, until);
      at = until;
      sink.data(chunk);
    }
    pushing = false;
    if (over || at < shaped.to) return;
    over = true;
    sink.end([]);
  }
  const source: ResponseSource = {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
      push();
    },
    abort: () => {
      over = true;
    },
  };
  sink.head({ status: shaped.status, headers: shaped.headers, madeBy: 'origin' }, source);
  push();
  return source;
}
