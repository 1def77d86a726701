/**
 * Splits a log into lines. Chunks of octets go in; lines come out one by one without waiting, since waiting for each
 * would take longer than reading it. Only the current chunk and the part of a line before it are stored.
 */
import { isAscii } from 'node:buffer';
import { LONGEST_LOG_LINE } from './limits.ts';

/** The lines of one log. */
export interface LogLines {
  /**
   * The next line without its end; `null`: the next chunk is needed, or after `end` that there are no more. `undefined`:
   * a line that is longer than `LONGEST_LOG_LINE`, without its text.
   */
  next(): string | null | undefined;
  /** Adds a chunk, once `next` has returned `null`. */
  push(chunk: Uint8Array): void;
  /** Ends the log: what is after its last line feed is a line too. */
  end(): void;
}

// Octets above 0x7F as Latin-1 characters.
const HIGH = /[\u0080-\u00ff]/;

/** Creates an empty log. */
export function createLogLines(): LogLines {
  let text = '';
  let at = 0;
  let ascii = true;
  // The start of a line that the chunk ends in, and whether it is too long to be stored.
  let start = '';
  let startAscii = true;
  let overlong = false;
  let ended = false;

  function finish(rest: string): string | undefined {
    const whole = start === '' ? rest : start + rest;
    const plain = ascii && startAscii;
    const tooLong = overlong || whole.length > LONGEST_LOG_LINE;
    start = '';
    startAscii = true;
    overlong = false;
    if (tooLong) return undefined;
    const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
    return plain || !HIGH.test(line) ? line : Buffer.from(line, 'latin1').toString();
  }

  return {
    next() {
      // PERF: one-octet strings are scanned with memchr, and a slice of one is not copied.
      const end = text.indexOf('\n', at);
      if (end >= 0) {
        const rest = text.slice(at, end);
        at = end + 1;
        return finish(rest);
      }
      if (at < text.length) {
        if (start.length + text.length - at > LONGEST_LOG_LINE) overlong = true;
        start = overlong ? '' : start + text.slice(at);
        startAscii &&= ascii;
      }
      text = '';
      at = 0;
      if (!ended || (start === '' && !overlong)) return null;
      return finish('');
    },
    push(chunk) {
      text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
      ascii = isAscii(chunk);
      at = 0;
    },
    end() {
      ended = true;
    },
  };
}
