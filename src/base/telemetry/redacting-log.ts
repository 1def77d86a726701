/** Creates the log of the serving commands: pino lines, buffered, with keys and passwords of URLs redacted. */
import { type Logger, pino } from 'pino';
import { redactKeys, withoutCredentials } from '../text/credentials.ts';

/** Milliseconds that a line may be buffered. */
const LOG_WAIT_MS = 10;
// Octets of the buffer; a full buffer is written at once.
const LOG_FULL = 32_768;

function redacted(lines: string): string {
  return redactKeys(withoutCredentials(lines));
}

/**
 * Creates a log that redacts keys and passwords in every line. Lines are written in batches, because one write costs as much as
 * answering a read; the rest is written when the process exits.
 */
export function createLog(level: string, write: (lines: string) => void): Logger {
  // PERF: a buffer of octets; a string that grows by concatenation is copied by every garbage collection.
  const octets = Buffer.allocUnsafe(LOG_FULL);
  let used = 0;
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (used === 0) return;
    const text = octets.toString('utf8', 0, used);
    used = 0;
    write(redacted(text));
  };
  process.once('exit', flush);
  const add = (line: string): void => {
    // A UTF-16 unit takes at most three octets of UTF-8.
    const most = 3 * line.length;
    if (used + most > LOG_FULL) flush();
    if (most > LOG_FULL) {
      write(redacted(line));
      return;
    }
    timer ??= setTimeout(flush, LOG_WAIT_MS);
    used += octets.write(line, used);
  };
  return pino({ level }, { write: add });
}
