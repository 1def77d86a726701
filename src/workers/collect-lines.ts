/** Lines that workers write, each into a pipe of its own, gathered into one log: whole lines, in turn. */
import type { Readable } from 'node:stream';
import type { LineWriter } from '../proxy/log/line-writer.ts';
import { FULL_MS } from './limits.ts';

/**
 * Reads a worker's lines until it ends. While the log is full nothing is read: the worker's own bounds hold then, and it
 * says in its place how many lines are missing. What a worker that died had not finished is dropped, and counted.
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
