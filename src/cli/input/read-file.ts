/** Reads files and stdin as octets. */
import { createReadStream } from 'node:fs';
import { sizeText } from '../../rules/files/size.ts';
import { inputFault } from '../exit.ts';
import { readFault } from '../file-fault.ts';

/**
 * The largest input file in octets: far larger than any rule set within its limits, and small enough for memory.
 */
const LARGEST_FILE = 256 * 1024 * 1024;

/** Streams a file, or stdin for `-`. @throws CommandFault while reading */
export async function* readChunks(name: string): AsyncGenerator<Uint8Array> {
  const stream = name === '-' ? process.stdin : createReadStream(name);
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    throw readFault(name, error);
  }
}

/** Reads a whole file, or stdin for `-`. @throws CommandFault */
export async function readBytes(name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readChunks(name)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST_FILE) throw inputFault(`\`${name}\` holds more than ${sizeText(LARGEST_FILE)}`);
  }
  return Buffer.concat(chunks);
}
