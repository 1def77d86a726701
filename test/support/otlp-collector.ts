/**
 * A collector for tests: an HTTP server that receives OTLP in protobuf and decodes what the tests read of it. Field numbers
 * are those of opentelemetry-proto (trace.proto, metrics.proto, common.proto).
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly id: string;
  /** Empty: the first span of its trace. */
  readonly parent: string;
  readonly state: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | number;
  readonly attributes: Attributes;
  readonly isError: boolean;
  /** Nanoseconds. */
  readonly duration: number;
  readonly resource: Attributes;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'gauge' | 'sum' | 'histogram';
  /** Of a sum. */
  readonly isMonotonic: boolean;
  readonly points: readonly {
    readonly attributes: Attributes;
    /** The sum of a histogram. */
    readonly value: number;
    readonly count: number;
    readonly bounds: readonly number[];
    readonly buckets: readonly number[];
  }[];
  readonly resource: Attributes;
}

export interface Collector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** The metrics of the last export of each process. */
  readonly metrics: Map<string, readonly ReceivedMetric[]>;
  /** Headers of all requests. */
  readonly headers: Readonly<Record<string, unknown>>[];
  /** What it does with requests from now on; `hang`: it never answers. */
  behave(how: 'accept' | 'refuse' | 'hang'): void;
  stop(): Promise<void>;
}

/** Starts a collector on loopback; `port` 0 is any. */
export async function startCollector(port = 0): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const metrics: Collector['metrics'] = new Map();
  const headers: Record<string, unknown>[] = [];
  let behaviour: Parameters<Collector['behave']>[0] = 'accept';
  const take = (path: string, body: Buffer): void => {
    if (path === '/v1/traces') spans.push(...decodeSpans(body));
    else {
      const received = decodeMetrics(body);
      metrics.set(String(received[0]?.resource['service.instance.id']), received);
    }
  };
  const server = createServer(async (request, response: ServerResponse) => {
    headers.push(request.headers);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (behaviour === 'hang') return;
    if (behaviour === 'accept') take(request.url!, Buffer.concat(parts));
    response
      .writeHead(behaviour === 'accept' ? 200 : 400, { 'content-type': 'application/x-protobuf' })
      .end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    headers,
    behave(how) {
      behaviour = how;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The fields of a message by number; numbers of variable and fixed length as they are, all else as octets. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Wire types: 0 variable-length number, 1 eight octets, 2 octets with their length, 5 four octets. */
function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const octet = message[at++]!;
      value |= BigInt(octet & 0x7f) << shift;
      if (octet < 0x80) return value;
    }
  };
  const octets = (length: number): Buffer => {
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    const value = wire === 0 ? varint() : octets(wire === 1 ? 8 : wire === 5 ? 4 : Number(varint()));
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const messages = (fields: Fields, number: number): readonly Fields[] =>
  (fields.get(number) ?? []).map((octets) => fieldsOf(octets as Buffer));
const buffer = (fields: Fields, number: number): Buffer =>
  (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
const text = (fields: Fields, number: number): string => buffer(fields, number).toString('utf8');
const whole = (fields: Fields, number: number): number => Number(fields.get(number)?.[0] ?? 0n);
const fixed = (octets: Buffer): number => (octets.length === 8 ? Number(octets.readBigUInt64LE()) : 0);
const double = (octets: Buffer): number => (octets.length === 8 ? octets.readDoubleLE() : 0);

/** Values of eight octets each, one after the other. */
function packed(fields: Fields, number: number, read: (octets: Buffer) => number): readonly number[] {
  const all = Buffer.concat((fields.get(number) ?? []) as Buffer[]);
  return Array.from({ length: all.length / 8 }, (_, index) => read(all.subarray(index * 8, index * 8 + 8)));
}

function attributesOf(fields: Fields, number: number): Attributes {
  return Object.fromEntries(messages(fields, number).map((pair) => [text(pair, 1), attributeOf(pair)]));
}

function attributeOf(pair: Fields): string | number | boolean {
  const [value] = messages(pair, 2);
  if (value!.has(2)) return whole(value!, 2) === 1;
  if (value!.has(3)) return whole(value!, 3);
  return value!.has(4) ? double(buffer(value!, 4)) : text(value!, 1);
}

function decodeSpans(body: Buffer): readonly ReceivedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((group) => {
    const resource = attributesOf(messages(group, 1)[0]!, 1);
    return messages(group, 2).flatMap((scope) => messages(scope, 2).map((span) => spanOf(span, resource)));
  });
}

function spanOf(span: Fields, resource: Attributes): ReceivedSpan {
  const [status] = messages(span, 15);
  const kind = whole(span, 6);
  return {
    traceId: buffer(span, 1).toString('hex'),
    id: buffer(span, 2).toString('hex'),
    parent: buffer(span, 4).toString('hex'),
    state: text(span, 3),
    name: text(span, 5),
    kind: (['internal', 'server', 'client'] as const)[kind - 1] ?? kind,
    attributes: attributesOf(span, 9),
    isError: status !== undefined && whole(status, 3) === 2,
    duration: Number(buffer(span, 8).readBigUInt64LE() - buffer(span, 7).readBigUInt64LE()),
    resource,
  };
}

function decodeMetrics(body: Buffer): readonly ReceivedMetric[] {
  return messages(fieldsOf(body), 1).flatMap((group) => {
    const resource = attributesOf(messages(group, 1)[0]!, 1);
    return messages(group, 2).flatMap((scope) =>
      messages(scope, 2).map((metric) => metricOf(metric, resource)),
    );
  });
}

const METRIC_KINDS = [
  [5, 'gauge'],
  [7, 'sum'],
  [9, 'histogram'],
] as const;

function metricOf(metric: Fields, resource: Attributes): ReceivedMetric {
  const [number, kind] = METRIC_KINDS.find(([field]) => metric.has(field))!;
  const [data] = messages(metric, number);
  const isHistogram = kind === 'histogram';
  return {
    name: text(metric, 1),
    unit: text(metric, 3),
    kind,
    isMonotonic: kind === 'sum' && whole(data!, 3) === 1,
    points: messages(data!, 1).map((point) => ({
      attributes: attributesOf(point, isHistogram ? 9 : 7),
      value: isHistogram
        ? double(buffer(point, 5))
        : point.has(6)
          ? fixed(buffer(point, 6))
          : double(buffer(point, 4)),
      count: isHistogram ? fixed(buffer(point, 4)) : 0,
      bounds: isHistogram ? packed(point, 7, double) : [],
      buckets: isHistogram ? packed(point, 6, fixed) : [],
    })),
    resource,
  };
}
