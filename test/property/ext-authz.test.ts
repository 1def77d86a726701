/**
 * The codec of the gRPC door beside `@bufbuild/protobuf`: what one writes the other reads, and no octets make the decoder do
 * anything but read or refuse.
 */
import type { JsonObject } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CheckRequest, decodeCheckRequest } from '../../src/edge/doors/ext-authz/check-request.ts';
import {
  type CheckResponse,
  encodeCheckResponse,
  type SetHeader,
} from '../../src/edge/doors/ext-authz/check-response.ts';
import { percentEncoded, unaryMessage } from '../../src/edge/doors/ext-authz/grpc.ts';
import { ProtobufError } from '../../src/edge/doors/ext-authz/protobuf.ts';
import { oracleDecode, oracleEncode } from '../support/ext-authz.ts';

const SEED = { seed: Number(process.env['EDGEPLAN_SEED'] ?? 1) };

/** The octets of a text in UTF-8, one character an octet. */
function octetsOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const name = fc.stringMatching(/^[a-z][a-z-]{0,12}$/);
const octets = fc.uint8Array({ maxLength: 300 }).map((list) => Buffer.from(list).toString('base64'));
const metadata = fc
  .dictionary(name, fc.record({ fields: fc.dictionary(name, fc.record({ string_value: text })) }))
  .map((fields) => ({ filter_metadata: fields }));
const peer = fc.record(
  {
    address: fc.oneof(
      fc.record({
        socket_address: fc.record({ address: text, port_value: fc.nat(70_000), ipv4_compat: fc.boolean() }),
      }),
      fc.record({ pipe: fc.record({ path: text, mode: fc.nat(511) }) }),
    ),
    service: text,
    labels: fc.dictionary(name, text),
    principal: text,
  },
  { requiredKeys: [] },
);
const http = fc.record(
  {
    id: text,
    method: text,
    path: text,
    host: text,
    scheme: text,
    size: fc.bigInt({ min: -1n, max: 2n ** 62n }).map(String),
    protocol: text,
    headers: fc.dictionary(name, text),
    header_map: fc.record({ headers: fc.array(fc.record({ key: name, raw_value: octets })) }),
    body: text,
    raw_body: octets,
    query: text,
  },
  { requiredKeys: [] },
);
const request = fc.record(
  {
    source: peer,
    destination: peer,
    request: fc.record({ time: fc.record({ seconds: fc.nat().map(String), nanos: fc.nat(1e9) }), http }),
    context_extensions: fc.dictionary(name, text),
    metadata_context: metadata,
    route_metadata_context: metadata,
    tls_session: fc.record({ sni: text }),
  },
  { requiredKeys: [] },
);

type Loose = Readonly<Record<string, unknown>>;

/** What the door reads of a message in JSON. */
function expectedOf(attributes: Loose): CheckRequest {
  const at = (value: unknown, key: string): unknown => (value as Loose | undefined)?.[key];
  const part = at(at(attributes, 'request'), 'http') as Loose | undefined;
  const field = (key: string): string => octetsOf((part?.[key] as string | undefined) ?? '');
  const socket = (side: string): unknown => at(at(at(attributes, side), 'address'), 'socket_address');
  const raw = at(at(part, 'header_map'), 'headers') as
    | readonly { key: string; raw_value: string }[]
    | undefined;
  const mapped = Object.entries((part?.['headers'] as Record<string, string>) ?? {});
  const headers =
    raw === undefined
      ? mapped.flatMap(([key, value]) => [key, octetsOf(value)])
      : raw.flatMap(({ key, raw_value }) => [key, Buffer.from(raw_value, 'base64').toString('latin1')]);
  // proto3 writes no empty body; of two the one with the higher number is written last.
  const bodies = [part?.['body'] as string | undefined, part?.['raw_body'] as string | undefined];
  const [plain, packed] = [Buffer.from(bodies[0] ?? ''), Buffer.from(bodies[1] ?? '', 'base64')];
  const body = packed.length > 0 ? packed : plain.length > 0 ? plain : null;
  const extensions = Object.entries((attributes['context_extensions'] as Record<string, string>) ?? {});
  return {
    ...{ method: field('method'), path: field('path'), host: field('host'), scheme: field('scheme') },
    ...{ protocol: field('protocol'), headers, isRaw: raw !== undefined, body },
    source: octetsOf((at(socket('source'), 'address') as string | undefined) ?? ''),
    port: (at(socket('destination'), 'port_value') as number | undefined) ?? 0,
    serverName: octetsOf((at(attributes['tls_session'], 'sni') as string | undefined) ?? ''),
    extensions: new Map(extensions.map(([key, value]) => [octetsOf(key), octetsOf(value)])),
  };
}

const OWN_FIELDS = fc.record({
  name,
  value: fc.string({ unit: 'binary-ascii', maxLength: 60 }),
  appends: fc.boolean(),
});
const setHeaders = fc.array(OWN_FIELDS, { maxLength: 8 });
const checkMetadata = fc.dictionary(name, fc.oneof(text, fc.array(text, { maxLength: 5 })), { maxKeys: 6 });
const response: fc.Arbitrary<CheckResponse> = fc.oneof(
  fc.record({
    kind: fc.constant('ok' as const),
    headers: setHeaders,
    remove: fc.array(name),
    responseHeaders: setHeaders,
    metadata: checkMetadata,
  }),
  fc.record({
    kind: fc.constant('denied' as const),
    status: fc.integer({ min: 100, max: 999 }),
    headers: setHeaders,
    body: fc.oneof(fc.constant(null), text, fc.string({ maxLength: 9_000 })),
    metadata: checkMetadata,
  }),
  fc.record({ kind: fc.constant('error' as const), headers: setHeaders, metadata: checkMetadata }),
);

/** The JSON of set headers, without fields that have their default. */
function jsonOf(headers: readonly SetHeader[]): readonly JsonObject[] {
  return headers.map(({ name: key, value, appends }) => ({
    header: value === '' ? { key } : { key, value },
    ...(appends ? {} : { append_action: 2 }),
  }));
}

function listed(key: string, list: readonly unknown[]): Loose {
  return list.length === 0 ? {} : { [key]: list };
}

function responseJson(of: CheckResponse): Loose {
  const fields = Object.entries(of.metadata).map(([key, value]) => [
    key,
    typeof value === 'string'
      ? { string_value: value }
      : {
          list_value: listed(
            'values',
            value.map((one) => ({ string_value: one })),
          ),
        },
  ]);
  const dynamic = { dynamic_metadata: fields.length === 0 ? {} : { fields: Object.fromEntries(fields) } };
  if (of.kind === 'ok') {
    const ok = {
      ...listed('headers', jsonOf(of.headers)),
      ...listed('headers_to_remove', of.remove),
      ...listed('response_headers_to_add', jsonOf(of.responseHeaders)),
    };
    return { status: {}, ok_response: ok, ...dynamic };
  }
  if (of.kind === 'error') {
    return { status: { code: 13 }, error_response: listed('headers', jsonOf(of.headers)), ...dynamic };
  }
  const denied = {
    status: { code: of.status },
    ...listed('headers', jsonOf(of.headers)),
    ...(of.body === null || of.body === '' ? {} : { body: of.body }),
  };
  return { status: { code: 7 }, denied_response: denied, ...dynamic };
}

describe('the codec of ext_authz', () => {
  test('reads what the oracle writes', () => {
    fc.assert(
      fc.property(request, (attributes) => {
        const message = oracleEncode('CheckRequest', { attributes } as unknown as JsonObject);
        expect(decodeCheckRequest(message)).toEqual(expectedOf(attributes as Loose));
      }),
      { ...SEED, numRuns: 1_500 },
    );
  });

  test('writes what the oracle reads', () => {
    fc.assert(
      fc.property(response, (made) => {
        expect(oracleDecode('CheckResponse', encodeCheckResponse(made))).toEqual(responseJson(made));
      }),
      { ...SEED, numRuns: 1_500 },
    );
  });

  test('merges a message that comes in parts, as the oracle does', () => {
    const first = oracleEncode('CheckRequest', {
      attributes: { request: { http: { path: '/a', method: 'GET' } } },
    });
    const second = oracleEncode('CheckRequest', {
      attributes: { request: { http: { path: '/b' } }, tls_session: { sni: 'x' } },
    });
    const read = decodeCheckRequest(Buffer.concat([first, second]));
    expect([read.path, read.method, read.serverName]).toEqual(['/b', 'GET', 'x']);
  });

  test('any octets are read or refused, and what is read of them is no longer than they are', () => {
    const sample = oracleEncode('CheckRequest', {
      attributes: {
        source: { address: { socket_address: { address: '192.0.2.1', port_value: 9 } } },
        request: {
          http: { path: '/', header_map: { headers: [{ key: 'a', raw_value: 'AAAA' }] }, raw_body: 'AAAA' },
        },
      },
    });
    const spoiled = fc
      .tuple(fc.nat(sample.length - 1), fc.uint8Array({ maxLength: 12 }), fc.nat(8))
      .map(([at, inserted, removed]) =>
        Buffer.concat([
          sample.subarray(0, at),
          inserted,
          sample.subarray(Math.min(sample.length, at + removed)),
        ]),
      );
    const any = fc.uint8Array({ maxLength: 200 }).map((list) => Buffer.from(list));
    fc.assert(
      fc.property(fc.oneof(any, spoiled), (message) => {
        try {
          const read = decodeCheckRequest(message);
          const texts = [read.method, read.path, read.host, read.source, read.serverName, ...read.headers];
          expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(message.length);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { ...SEED, numRuns: 20_000 },
    );
  });

  test.each([
    ['a group', [0x0b, 0x0c], 'group'],
    ['a group within', [0x0a, 0x02, 0x23, 0x24], 'group'],
    ['wire type 6', [0x0e, 0x00], 'wire type'],
    ['wire type 7', [0x0f], 'wire type'],
    ['field 0', [0x02, 0x00], 'field number'],
    ['a field number above 29 bits', [0x82, 0x80, 0x80, 0x80, 0x10, 0x00], 'field number'],
    ['a varint of eleven octets', [0x10, ...Array<number>(10).fill(0x80), 0x00], 'varint'],
    ['a varint without an end', [0x10, 0x80], 'varint'],
    ['a length above its message', [0x0a, 0x05, 0x00], 'longer'],
    ['a length of 2^63', [0x0a, ...Array<number>(9).fill(0xff), 0x01], 'longer'],
    ['an inner length above the outer one', [0x0a, 0x02, 0x22, 0x01], 'longer'],
    ['a cut fixed64', [0x11, 1, 2, 3], 'longer'],
    ['a cut fixed32', [0x15, 1, 2, 3], 'longer'],
  ])('refuses %s', (_, list, sentence) => {
    const refuse = (): unknown => decodeCheckRequest(Buffer.from(list));
    expect(refuse).toThrow(ProtobufError);
    expect(refuse).toThrow(sentence);
  });

  test('skips unknown fields of every wire type, at every level, in one pass however deep they are', () => {
    const unknown = Buffer.from([
      0x98,
      0x06,
      0x96,
      0x01,
      0x99,
      0x06,
      ...Array<number>(8).fill(1),
      0x9d,
      0x06,
      1,
      1,
      1,
      1,
    ]);
    const known = oracleEncode('AttributeContext', { tls_session: { sni: 'shop.test' } });
    const inner = Buffer.concat([unknown, known, unknown]);
    // Thousands of messages, each within the one before, as an unknown field.
    let deep = Buffer.alloc(0);
    while (deep.length < 60_000) {
      const head = Buffer.from(deep.length < 0x80 ? [0x9a, 0x06, deep.length] : [0x9a, 0x06, 0, 0, 0]);
      if (deep.length >= 0x80) {
        head[2] = (deep.length & 0x7f) | 0x80;
        head[3] = ((deep.length >> 7) & 0x7f) | 0x80;
        head[4] = deep.length >> 14;
      }
      deep = Buffer.concat([head, deep]);
    }
    const content = Buffer.concat([inner, deep]);
    const length = Buffer.from([
      (content.length & 0x7f) | 0x80,
      ((content.length >> 7) & 0x7f) | 0x80,
      content.length >> 14,
    ]);
    const message = Buffer.concat([unknown, Buffer.from([0x0a]), length, content]);
    expect(decodeCheckRequest(message).serverName).toBe('shop.test');
  });

  test('refuses more headers than it takes, and a known field of another wire type is skipped', () => {
    const header = [0x0a, 0x00];
    const headers = Buffer.from(Array.from({ length: 1_001 }, () => header).flat());
    const nest = (tag: number, content: Buffer): Buffer =>
      Buffer.concat([Buffer.from([tag, (content.length & 0x7f) | 0x80, content.length >> 7]), content]);
    const message = nest(0x0a, nest(0x22, nest(0x12, nest(0x6a, headers))));
    expect(() => decodeCheckRequest(message)).toThrow('headers');
    expect(decodeCheckRequest(Buffer.from([0x08, 0x01, 0x0d, 1, 2, 3, 4])).path).toBe('');
  });

  test('octets that are not UTF-8 are read as they are, and never written', () => {
    const path = Buffer.from([0x2f, 0xff, 0x80]);
    const message = Buffer.from([0x0a, 9, 0x22, 7, 0x12, 5, 0x22, 3, ...path]);
    expect(decodeCheckRequest(message).path).toBe('/\xff\x80');
    const written = encodeCheckResponse({
      kind: 'denied',
      status: 403,
      headers: [
        { name: 'location', value: '/\xff', appends: false },
        { name: 'x-utf8', value: '\xc3\xa9', appends: false },
      ],
      body: Buffer.from([0x61, 0xff, 0xc3, 0xa9]),
      metadata: {},
    });
    const { denied_response } = oracleDecode('CheckResponse', written) as { denied_response: JsonObject };
    expect(denied_response['body']).toBe('a\ufffdé');
    expect(denied_response['headers']).toEqual([
      { header: { key: 'location', value: '/ÿ' }, append_action: 2 },
      { header: { key: 'x-utf8', value: 'é' }, append_action: 2 },
    ]);
  });

  test('any octets of a call are one message or a refusal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (list) => {
        const read = unaryMessage(Buffer.from(list));
        if (Buffer.isBuffer(read)) expect(read.length).toBe(list.length - 5);
        else expect([12, 13]).toContain(read.code);
      }),
      { ...SEED, numRuns: 5_000 },
    );
  });

  test('a grpc-message is printable ASCII and decodes to the sentence', () => {
    fc.assert(
      fc.property(text, (sentence) => {
        const encoded = percentEncoded(sentence);
        expect(encoded).toMatch(/^[ -~]*$/);
        expect(decodeURIComponent(encoded)).toBe(sentence);
      }),
      SEED,
    );
  });
});
