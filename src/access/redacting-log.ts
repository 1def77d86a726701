/** The log of commands that serve. */
import { type Logger, pino } from 'pino';
import { redactKeys } from './key.ts';

/** Milliseconds a line of the log may wait for others, and the characters at which they wait no longer. */
const LOG_WAIT_MS = 10;
const LOG_FULL = 32_768;

/**
 * A log whose every line is free of keys, whatever was put into it. Lines are written some at a time, as each writing
 * costs as much as answering a read does; what is left is written when the process ends.
 */
export function createLog(level: string, write: (lines: string) => void): Logger {
  // PERF: octets, as text that is put together from parts and waits is copied by every collection meanwhile.
  const octets = Buffer.allocUnsafe(LOG_FULL);
  let used = 0;
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (used === 0) return;
    const text = octets.toString('utf8', 0, used);
    used = 0;
    write(redactKeys(text));
  };
  process.once('exit', flush);
  const add = (line: string): void => {
    // A character of UTF-16 takes three octets of UTF-8 at most.
    const most = 3 * line.length;
    if (used + most > LOG_FULL) flush();
    if (most > LOG_FULL) {
      write(redactKeys(line));
      return;
    }
    timer ??= setTimeout(flush, LOG_WAIT_MS);
    used += octets.write(line, used);
  };
  return pino({ level }, { write: add });
}
