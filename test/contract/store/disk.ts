/**
 * A disk that loses power. `strace` tells every write and every sync of a process and when it spoke; from that follows
 * what a disk may hold at any moment: all that was synced, and of what was not, any sectors whatever.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** How to have a command traced: threads into files of their own, each line with its start and its duration. */
export function tracing(prefix: string): string {
  const calls = 'pwrite64,write,fdatasync,fsync,ftruncate,unlink';
  return `exec strace -ff -ttt -T -y -xx -s 65536 -e signal=none -e trace=${calls} -o '${prefix}' "$0" "$@"`;
}

type Step =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly length: number }
  | { readonly kind: 'sync' | 'unlink' };

type Event = Step & { readonly file: string; readonly start: number; readonly end: number };

/** What a process did to its files, and what it said on its standard output. */
export interface Trace {
  /** In the order in which they began; times in microseconds. */
  readonly events: readonly Event[];
  readonly said: readonly { readonly at: number; readonly text: string }[];
}

/** Reads what was traced under a prefix. */
export function readTrace(prefix: string): Trace {
  const events: Event[] = [];
  const said: { at: number; text: string }[] = [];
  const folder = dirname(prefix);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(prefix)}.`)) continue;
    for (const line of readFileSync(join(folder, name), 'latin1').split('\n')) {
      const call = readLine(line);
      if (call === null) continue;
      if (call.name === 'write' && call.fd === 1) said.push({ at: call.start, text: call.text.toString() });
      else events.push(...eventsOf(call));
    }
  }
  events.sort((a, b) => a.start - b.start);
  said.sort((a, b) => a.at - b.at);
  return { events, said };
}

interface Call {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly fd: number;
  readonly file: string;
  /** The text that was written. */
  readonly text: Buffer;
  /** What stands after it: the last number is an offset or a length. */
  readonly last: number;
}

/** `<seconds> <name>(<fd><path>, "<text>", <numbers>) = <result> <<duration>>`, everything quoted in hex. */
function readLine(line: string): Call | null {
  const head = /^(\d+)\.(\d{6}) (\w+)\((?:(\d+)<((?:\\x[0-9a-f]{2})*)>)?/.exec(line);
  const tail = /(?:, (\d+))?\)\s+= (\d+) <(\d+\.\d+)>$/.exec(line);
  if (head === null || tail === null) return null;
  const start = Number(head[1]) * 1e6 + Number(head[2]);
  const quote = line.indexOf('"');
  const text = quote < 0 ? Buffer.alloc(0) : unhex(line.slice(quote + 1, line.indexOf('"', quote + 1)));
  const file = head[5] === undefined ? text.toString() : unhex(head[5]).toString();
  const end = start + Math.round(Number(tail[3]) * 1e6);
  return { name: head[3]!, start, end, fd: Number(head[4]), file, text, last: Number(tail[1]) };
}

function unhex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

function eventsOf({ name, start, end, file, text, last }: Call): readonly Event[] {
  const at = { file, start, end };
  switch (name) {
    case 'pwrite64':
      return [{ ...at, kind: 'write', offset: last, bytes: text }];
    case 'ftruncate':
      return [{ ...at, kind: 'truncate', length: last }];
    case 'fdatasync':
    case 'fsync':
      return [{ ...at, kind: 'sync' }];
    case 'unlink':
      return [{ ...at, kind: 'unlink' }];
    default:
      return [];
  }
}

/** Disks write a sector whole or not at all. */
const SECTOR = 512;

export interface Cut {
  /** Microseconds: what began later has not happened. */
  readonly at: number;
  /** Whether a sector that was written and not synced has reached the disk. */
  readonly reached: () => boolean;
  /** What was in the file when the trace began. */
  readonly before: Buffer;
  /** A disk that only says it has synced. */
  readonly lies?: true;
}

/** What the disk holds of a file after the power was cut. A sync covers what began before it: one thread writes a file. */
export function imageOf({ events }: Trace, file: string, { at, reached, before, lies }: Cut): Buffer {
  const image = createImage(before);
  let pending: Step[] = [];
  const apply = (keep: () => boolean): void => {
    for (const step of pending) take(image, step, keep);
    pending = [];
  };
  for (const event of events) {
    if (event.file !== file || event.start >= at) continue;
    if (event.kind === 'unlink') {
      image.resize(0);
      pending = [];
    } else if (event.kind !== 'sync') pending.push(event);
    else if (event.end <= at && lies !== true) apply(() => true);
  }
  apply(reached);
  return image.content();
}

function take(image: Image, step: Step, reached: () => boolean): void {
  if (step.kind === 'truncate' && reached()) image.resize(step.length);
  if (step.kind !== 'write') return;
  const { offset, bytes } = step;
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR - ((offset + from) % SECTOR));
    if (reached()) image.put(offset + from, bytes.subarray(from, to));
    from = to;
  }
}

/** A file's content as it grows, in a buffer with room behind it: a log grows by thousands of sectors. */
interface Image {
  put(offset: number, bytes: Buffer): void;
  resize(length: number): void;
  content(): Buffer;
}

function createImage(before: Buffer): Image {
  let room = Buffer.from(before);
  let length = before.length;
  function resize(to: number): void {
    if (to > room.length) {
      const wider = Buffer.alloc(Math.max(to, room.length * 2));
      room.copy(wider, 0, 0, length);
      room = wider;
    }
    // What is cut off reads as zeros where the file grows over it again.
    if (to < length) room.fill(0, to, length);
    length = to;
  }
  return {
    resize,
    put(offset, bytes) {
      if (offset + bytes.length > length) resize(offset + bytes.length);
      bytes.copy(room, offset);
    },
    content: () => room.subarray(0, length),
  };
}
