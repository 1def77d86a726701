/**
 * Opens logs: reads their first lines to detect the format, inflates gzip, and counts octets for the progress. A log is
 * read as a stream; `-` is stdin.
 */
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { detectFormat, LOG_FORMATS, type LogFormat } from '../../workbench/access-logs/format.ts';
import { LONGEST_LOG_LINE } from '../../workbench/access-logs/source.ts';
import { inputFault, readFault, usageFault } from '../exit.ts';

/** Logs that are read at once: each has a file descriptor and a chunk of text. */
const MAX_LOGS = 256;

/** Octets that are read at once: fewer make waiting noticeable, more are no faster. */
const CHUNK_OCTETS = 256 * 1024;

/** A log whose format is known. */
export interface OpenedLog {
  /** The path as typed; `stdin` for `-`. */
  readonly file: string;
  /** `null`: the log is empty. */
  readonly format: LogFormat | null;
  readonly chunks: AsyncGenerator<Uint8Array>;
}

/** How logs are opened. */
export interface ReplayLogOptions {
  /** `auto`: each log's own. */
  readonly format: LogFormat | 'auto';
  /** Receives the number of octets of each chunk, as they are in the file. */
  readonly onOctets: (octets: number) => void;
  /** The command that a remedy names. Default: `replay`. */
  readonly command?: string;
}

/** Opens all logs. @throws CommandFault when one cannot be read, or its format is not known */
export async function openLogs(
  files: readonly string[],
  { format, onOctets, command = 'replay' }: ReplayLogOptions,
): Promise<readonly OpenedLog[]> {
  if (files.length > MAX_LOGS) {
    const remedy = `join them in order of time: \`zcat -f access.log* | edgeplan ${command} --log -\``;
    throw usageFault(`${files.length} logs are more than the ${MAX_LOGS} that are read at once`, remedy);
  }
  if (new Set(files).size < files.length) throw usageFault('a log is given twice with --log');
  const logs: OpenedLog[] = [];
  for (const file of files) {
    const name = file === '-' ? 'stdin' : file;
    const { lines, chunks } = await firstLines(inflated(rawChunks(file, onOctets), { name, command }));
    const known = format === 'auto' ? detectFormat(lines) : format;
    if (known === null && lines.some((line) => line.trim() !== '')) throw unknownFormat(name);
    logs.push({ file: name, format: known, chunks });
  }
  return logs;
}

/** Octets of all logs; `null`: one of them is no regular file. */
export function octetsOfLogs(files: readonly string[]): number | null {
  let sum = 0;
  for (const file of files) {
    const found = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
    if (found?.isFile() !== true) return null;
    sum += found.size;
  }
  return sum;
}

function unknownFormat(name: string): Error {
  const remedy = `name it with --format: ${LOG_FORMATS.join(', ')}`;
  return inputFault(`the format of \`${name}\` is none of those known`, { remedy });
}

/** Reads a file or stdin. @throws CommandFault */
async function* rawChunks(file: string, onOctets: (octets: number) => void): AsyncGenerator<Uint8Array> {
  const stream = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_OCTETS });
  try {
    for await (const chunk of stream) {
      onOctets((chunk as Uint8Array).length);
      yield chunk as Uint8Array;
    }
  } catch (error) {
    throw readFault(file, error);
  }
}

/** Compressions that are not read here, by their first octets, with the program that inflates them. */
const OTHER_COMPRESSIONS = [
  { magic: [0x28, 0xb5, 0x2f, 0xfd], program: 'zstdcat' },
  { magic: [0x42, 0x5a, 0x68], program: 'bzcat' },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], program: 'xzcat' },
] as const;
const GZIP = [0x1f, 0x8b] as const;

function startsWith(octets: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((octet, index) => octets[index] === octet);
}

/** Inflates a log that is compressed with gzip, whatever its name. @throws CommandFault */
async function* inflated(
  chunks: AsyncGenerator<Uint8Array>,
  { name, command }: { readonly name: string; readonly command: string },
): AsyncGenerator<Uint8Array> {
  const { value: first } = await chunks.next();
  if (first === undefined) return;
  const other = OTHER_COMPRESSIONS.find(({ magic }) => startsWith(first, magic));
  if (other !== undefined) {
    const remedy = `inflate it: \`${other.program} ${name} | edgeplan ${command} --log -\``;
    throw inputFault(`\`${name}\` is compressed, and not with gzip`, { remedy });
  }
  const all = startingWith([first], chunks);
  if (!startsWith(first, GZIP)) {
    yield* all;
    return;
  }
  let failed: unknown = null;
  const gunzip = createGunzip({ chunkSize: CHUNK_OCTETS });
  const piped = pipeline(all, gunzip, (error) => {
    failed = error ?? null;
  });
  try {
    for await (const chunk of piped) yield chunk as Uint8Array;
  } catch (error) {
    throw gzipFault(failed ?? error, name);
  }
}

/** Names a fault of the compressed data; a fault of reading has its message already. */
function gzipFault(error: unknown, name: string): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  if (!code.startsWith('Z_')) return error;
  const reason = code === 'Z_BUF_ERROR' ? 'it is cut short' : 'it is damaged';
  return inputFault(`the gzip data of \`${name}\` cannot be inflated: ${reason}`, { cause: error });
}

/** The chunks with those before them. */
async function* startingWith(
  first: readonly Uint8Array[],
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
}

/** The first lines of a log, with all of its chunks. */
interface FirstLines {
  readonly lines: readonly string[];
  readonly chunks: AsyncGenerator<Uint8Array>;
}

/** Reads chunks until one has the end of a line. */
async function firstLines(chunks: AsyncGenerator<Uint8Array>): Promise<FirstLines> {
  const read: Uint8Array[] = [];
  let size = 0;
  while (size <= LONGEST_LOG_LINE) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    read.push(value);
    size += value.length;
    if (value.includes(NEWLINE)) break;
  }
  const lines = Buffer.concat(read).toString().split(/\r?\n/);
  return { lines, chunks: startingWith(read, chunks) };
}

const NEWLINE = 0x0a;
