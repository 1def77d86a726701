/** Reads packet captures (pcap and pcapng) as far as needed to see what each side of a TCP connection sent. */

export interface CapturedStream {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly octets: Buffer;
}

interface Frame {
  readonly linkType: number;
  readonly octets: Buffer;
}

interface Segment {
  readonly key: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly sequence: number;
  readonly payload: Buffer;
}

/** The streams of a capture, one for each direction, as far as they have no gap. */
export function readStreams(file: Buffer): readonly CapturedStream[] {
  const frames = file.readUInt32LE(0) === 0x0a0d0d0a ? readBlocks(file) : readPackets(file);
  const streams = new Map<string, Segment[]>();
  for (const frame of frames) {
    const segment = readSegment(frame);
    if (segment === null || segment.payload.length === 0) continue;
    const before = streams.get(segment.key);
    if (before === undefined) streams.set(segment.key, [segment]);
    else before.push(segment);
  }
  return [...streams.values()].map(joined);
}

function joined(segments: readonly Segment[]): CapturedStream {
  const { sourcePort, destinationPort, sequence: start } = segments[0]!;
  const placed = segments
    .map(({ sequence, payload }) => ({ at: (sequence - start) | 0, payload }))
    .sort((a, b) => a.at - b.at);
  let octets = Buffer.alloc(0);
  const first = placed[0]!.at;
  for (const { at, payload } of placed) {
    const known = first + octets.length - at;
    if (known < 0) break;
    if (known < payload.length) octets = Buffer.concat([octets, payload.subarray(known)]);
  }
  return { sourcePort, destinationPort, octets };
}

function readPackets(file: Buffer): readonly Frame[] {
  const little = [0xa1b2c3d4, 0xa1b23c4d].includes(file.readUInt32LE(0));
  const number = (at: number): number => (little ? file.readUInt32LE(at) : file.readUInt32BE(at));
  const linkType = number(20);
  const frames: Frame[] = [];
  for (let at = 24; at + 16 <= file.length; ) {
    const length = number(at + 8);
    frames.push({ linkType, octets: file.subarray(at + 16, at + 16 + length) });
    at += 16 + length;
  }
  return frames;
}

function readBlocks(file: Buffer): readonly Frame[] {
  const little = file.readUInt32LE(8) === 0x1a2b3c4d;
  const number = (at: number): number => (little ? file.readUInt32LE(at) : file.readUInt32BE(at));
  const linkTypes: number[] = [];
  const frames: Frame[] = [];
  for (let at = 0; at + 12 <= file.length; at += number(at + 4)) {
    const kind = number(at);
    if (kind === 1) linkTypes.push(little ? file.readUInt16LE(at + 8) : file.readUInt16BE(at + 8));
    if (kind !== 6) continue;
    const octets = file.subarray(at + 28, at + 28 + number(at + 20));
    frames.push({ linkType: linkTypes[number(at + 8)]!, octets });
  }
  return frames;
}

/** Octets before the type of what a frame holds, by link type. */
const TYPE_AT: Readonly<Record<number, number>> = { 1: 12, 113: 14, 276: 0 };
const HEAD_OF: Readonly<Record<number, number>> = { 1: 14, 113: 16, 276: 20 };
const RAW = [12, 14, 101, 228, 229];

function readSegment({ linkType, octets }: Frame): Segment | null {
  if (RAW.includes(linkType)) return readInternet(octets);
  if (linkType === 0) return readInternet(octets.subarray(4));
  const at = TYPE_AT[linkType];
  if (at === undefined || octets.length < 20) return null;
  const tagged = octets.readUInt16BE(at) === 0x8100 ? 4 : 0;
  const type = octets.readUInt16BE(at + tagged);
  return type === 0x0800 || type === 0x86dd
    ? readInternet(octets.subarray(HEAD_OF[linkType]! + tagged))
    : null;
}

function readInternet(packet: Buffer): Segment | null {
  if (packet.length < 20) return null;
  const version = packet[0]! >> 4;
  if (version === 4) {
    if (packet[9] !== 6) return null;
    const ends = packet.toString('hex', 12, 20);
    return readTcp(packet.subarray((packet[0]! & 15) * 4, packet.readUInt16BE(2)), ends);
  }
  if (version !== 6 || packet[6] !== 6) return null;
  return readTcp(packet.subarray(40, 40 + packet.readUInt16BE(4)), packet.toString('hex', 8, 40));
}

function readTcp(segment: Buffer, ends: string): Segment | null {
  if (segment.length < 20) return null;
  const [sourcePort, destinationPort] = [segment.readUInt16BE(0), segment.readUInt16BE(2)];
  return {
    key: `${ends} ${sourcePort} ${destinationPort}`,
    sourcePort,
    destinationPort,
    sequence: segment.readUInt32BE(4),
    payload: segment.subarray((segment[12]! >> 4) * 4),
  };
}
