/** Pushes a response whose body is in memory. */
import type { HeaderList } from './answer.ts';
import { PUSH_OCTETS } from './limits.ts';
import type { ResponseSink, ResponseSource } from './response.ts';

/** The part of a response that a client gets: the whole, a range, or the head alone. */
export interface ResponsePart {
  readonly status: number;
  readonly headers: HeaderList;
  /** The octets of the body, `to` excluded; equal: none. `to` is `Infinity` if the length is unknown. */
  readonly from: number;
  readonly to: number;
}

/** Pushes head and body in chunks of `PUSH_OCTETS`, and pauses with the sink. PERF: one whole chunk is pushed uncopied. */
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
