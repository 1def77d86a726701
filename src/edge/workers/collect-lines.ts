/** Collects the lines that workers write to their stdout pipes into one log, line by line. */
import type { Readable } from 'node:stream';
import type { LineWriter } from '../proxy/log/line-writer.ts';
import { FULL_MS } from './limits.ts';

/**
 * Reads a worker's lines until it ends. While the log is full nothing is read, so that the worker's own buffer limits apply
 * and the worker logs how many lines are missing. An unfinished last line is dropped and counted.
 */
export async function collectLines(from: Readable, log: LineWriter): Promise<void> {
  let rest = '';
  from.setEncoding('utf8');
  for await (const text of from as AsyncIterable<string>) {
    const lines = text.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop()!;
    for (const line of lines) {
      while (log.full()) await new Promise((resolve) => setTimeout(resolve, FULL_MS).unref());
      log.add(line);
    }
  }
  if (rest !== '') log.drop();
}
