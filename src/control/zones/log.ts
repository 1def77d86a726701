/** What the room logs, and lines whose number does not grow with what peers send. */
import { LINE_EVERY_MS, MAX_LINE_SUBJECTS } from './limits.ts';

/** The log of the room; a pino logger has this shape. */
export interface ZoneLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Warnings that peers can cause any number of times. */
export interface CountedLines {
  /** Logs now, or counts for the next line if the subject had a line less than `LINE_EVERY_MS` ago. */
  warn(subject: string, fields: object, message: string): void;
  /** Logs what was counted and not logged. */
  flush(): void;
}

interface Line {
  /** Milliseconds since the epoch. */
  loggedAt: number;
  /** Events since then. */
  count: number;
  fields: object;
  message: string;
}

/** The subject of events whose own subject has no room in the table. */
const OTHERS = 'others';

/** @param clock milliseconds since the epoch */
export function createCountedLines(log: ZoneLog, clock: () => number): CountedLines {
  const lines = new Map<string, Line>();

  function write(subject: string, line: Line): void {
    log.warn({ subject, ...line.fields, count: line.count }, line.message);
    line.count = 0;
    line.loggedAt = clock();
  }

  /** Logs lines that are due and removes subjects without events in their last period. */
  function sweep(): void {
    const now = clock();
    for (const [subject, line] of lines) {
      // A clock set back must not silence a subject.
      if (Math.abs(now - line.loggedAt) < LINE_EVERY_MS) continue;
      if (line.count === 0) lines.delete(subject);
      else write(subject, line);
    }
  }

  return {
    warn(subject, fields, message) {
      sweep();
      const name = lines.has(subject) || lines.size < MAX_LINE_SUBJECTS ? subject : OTHERS;
      const line = lines.get(name);
      if (line === undefined) {
        const first = { loggedAt: 0, count: 1, fields, message };
        lines.set(name, first);
        write(name, first);
        return;
      }
      line.count++;
      line.fields = fields;
      line.message = message;
    },
    flush() {
      for (const [subject, line] of lines) if (line.count > 0) write(subject, line);
    },
  };
}
