/** A request's body as a stream of the web platform: the part that rules inspect, and the whole for the application. */
import { type CodingFault, codedOctets, codingError, codingOf } from '../../proxy/content-coding.ts';

type Octets = Uint8Array<ArrayBuffer>;
type Stream = ReadableStream<Octets>;
type Reader = ReadableStreamDefaultReader<Octets>;

export interface PeekedBody {
  /**
   * Why what is inspected is not what the client means, `content-encoding: …`; `null`: it is what the client means, as
   * far as it goes.
   */
  readonly error: string | null;
  /** The octets that rules inspect: the first `wanted`, inflated according to Content-Encoding. */
  readonly inspected: Uint8Array;
  /** The whole: octets if all of them were read, else what was read and then the rest. */
  readonly outgoing: Octets | Stream;
}

/**
 * Reads a body until `wanted` octets can be inspected, or all of it when it is shorter.
 * @param coding the request's Content-Encoding
 * @throws Error when the client breaks off
 */
export async function peekBody(body: Stream, wanted: number, coding: string): Promise<PeekedBody> {
  const reader = body.getReader();
  const name = codingOf(coding);
  const { octets, ended } = await readUpTo(reader, codedOctets(name, wanted));
  const outgoing = ended ? octets : continued(octets, reader);
  // An empty body has nothing to decode in any coding (RFC 9110 §8.4), and nothing to inspect.
  if (name === '' || (octets.length === 0 && ended))
    return { inspected: octets.subarray(0, wanted), error: null, outgoing };
  const seen = await inflated(octets, wanted, name);
  const goesOn = !ended && seen.octets.length < wanted;
  const error = codingError(name, seen.fault ?? (goesOn ? 'longer' : null));
  return { inspected: seen.octets.subarray(0, wanted), error, outgoing };
}

/** A whole body of at most `most` octets; `null`: it is longer, or the client broke off. */
export async function readBody(body: Stream | null, most: number): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array(0);
  const reader = body.getReader();
  const part = await readUpTo(reader, most + 1).catch(() => null);
  if (part?.ended === false) await reader.cancel();
  return part === null || part.octets.length > most ? null : part.octets;
}

interface Part {
  readonly octets: Octets;
  readonly ended: boolean;
}

async function readUpTo(reader: Reader, wanted: number): Promise<Part> {
  const chunks: Octets[] = [];
  let length = 0;
  let ended = false;
  while (length < wanted && !ended) {
    const { done, value } = await reader.read();
    ended = done;
    if (value === undefined) continue;
    chunks.push(value);
    length += value.length;
  }
  return { octets: joined(chunks, length), ended };
}

function joined(chunks: readonly Octets[], length: number): Octets {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function continued(read: Octets, reader: Reader): Stream {
  return new ReadableStream<Octets>({
    start: (controller) => controller.enqueue(read),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

interface Inflated {
  readonly octets: Octets;
  /** Why it was not inflated whole; `null`: it was inflated whole. */
  readonly fault: CodingFault | null;
}

const FORMATS: Readonly<Record<string, 'gzip' | 'deflate'>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
};

/**
 * Inflates up to `wanted` octets. A body that does not inflate, or has a coding without a platform API (`br`, `zstd`), is
 * returned as it was sent, with the fault.
 */
async function inflated(octets: Octets, wanted: number, coding: string): Promise<Inflated> {
  const format = Object.hasOwn(FORMATS, coding) ? FORMATS[coding] : undefined;
  if (format === undefined) return { octets, fault: 'unknown' };
  const inflating = new DecompressionStream(format);
  const reader: Reader = inflating.readable.getReader();
  const writer = inflating.writable.getWriter();
  // The reader gets the same error, and stops at what was inflated before it.
  const ignore = (): undefined => undefined;
  void writer.write(octets).catch(ignore);
  void writer.close().catch(ignore);
  const chunks: Octets[] = [];
  let length = 0;
  let broken = false;
  while (length < wanted) {
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
