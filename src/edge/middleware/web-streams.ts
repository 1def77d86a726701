/** Content codings by the decompression streams of the web platform (Compression Standard, WHATWG). */
import type { Inflated } from '../decide/content-coding.ts';

/** Octets of a stream of the platform. */
export type Octets = Uint8Array<ArrayBuffer>;

/** By coding, the formats of the platform that may inflate it, in order; not every platform has the last ones. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  gzip: ['gzip'],
  'x-gzip': ['gzip'],
  deflate: ['deflate', 'deflate-raw'],
  br: ['brotli'],
  zstd: ['zstd'],
};

/** Inflates up to `most` octets of one coding; octets that do not inflate are returned as they are. */
export async function inflate(octets: Octets, coding: string, most: number): Promise<Inflated<Octets>> {
  let found: Inflated<Octets> = { octets, fault: 'unknown' };
  for (const format of Object.hasOwn(FORMATS, coding) ? FORMATS[coding]! : []) {
    const inflating = inflaterOf(format);
    if (inflating === null) continue;
    found = await inflateWith(inflating, octets, most);
    if (found.fault !== 'broken') break;
  }
  return found;
}

/** `null`: the platform does not have the format. */
function inflaterOf(format: string): DecompressionStream | null {
  try {
    return new DecompressionStream(format as ConstructorParameters<typeof DecompressionStream>[0]);
  } catch {
    return null;
  }
}

async function inflateWith(
  inflating: DecompressionStream,
  octets: Octets,
  most: number,
): Promise<Inflated<Octets>> {
  const reader: ReadableStreamDefaultReader<Octets> = inflating.readable.getReader();
  const writer = inflating.writable.getWriter();
  // The reader gets the same error, and stops at what was inflated before it.
  const ignore = (): undefined => undefined;
  void writer.write(octets).catch(ignore);
  void writer.close().catch(ignore);
  const chunks: Octets[] = [];
  let length = 0;
  let broken = false;
  while (length < most) {
    const next = await reader.read().catch(ignore);
    broken = next === undefined;
    if (next?.value === undefined) break;
    chunks.push(next.value);
    length += next.value.length;
  }
  await reader.cancel().catch(ignore);
  if (!broken) return { octets: joined(chunks, length), fault: null };
  return length === 0 ? { octets, fault: 'broken' } : { octets: joined(chunks, length), fault: 'brokenOff' };
}

/** The chunks as one; `length` is their sum. */
export function joined(chunks: readonly Octets[], length: number): Octets {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
