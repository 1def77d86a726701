/** Reads changed files of a node again, on SIGHUP or when a certificate was obtained. */
import type { Logger } from 'pino';

/** Logs each reading that rejects; what could not be read is served in its last good version. */
export function reportReloads(log: Logger, readings: readonly Promise<unknown>[]): void {
  for (const reading of readings) {
    reading.catch((error: unknown) =>
      log.warn({ err: error }, 'a file cannot be read again; its last good version is served'),
    );
  }
}
