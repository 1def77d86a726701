/** What a node does when it is told that files have changed. */
import type { Logger } from 'pino';

/** Tells of looks that failed; what could not be read is served as before. */
export function reloadFiles(log: Logger, looks: readonly Promise<unknown>[]): void {
  for (const look of looks) {
    look.catch((error: unknown) =>
      log.warn({ err: error }, 'a file cannot be read anew; all is served as before'),
    );
  }
}
