/** Attacks in coded bodies and in values of bodies over real sockets, under the starter signatures. */
import * as zlib from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/ask.ts';
import { startEdge, type TestEdge } from '../support/edge-node.ts';
import { starter } from '../support/starter.ts';
import { PLACEMENTS } from '../support/traffic/placements.ts';

const FILE = `domain: shop.localhost
records:
  - { id: 9, name: '@', type: A, destination: 127.0.0.1, port: ORIGIN, scheme: Http, proxied: true }
rules:
  - { id: 1, type: waf, paranoia: 1, threshold: 5 }
`;
const ATTACK = "1' union select password from users-- -";

const { brotliCompressSync: br, deflateRawSync, deflateSync, gzipSync } = zlib;
const { zstdCompressSync } = zlib as { readonly zstdCompressSync?: (octets: Uint8Array) => Buffer };
const CODINGS: readonly (readonly [string, string, (octets: Uint8Array) => Uint8Array])[] = [
  ['no coding', 'identity', (octets) => octets],
  ['gzip', 'gzip', gzipSync],
  ['deflate', 'deflate', deflateSync],
  ['raw deflate', 'deflate', deflateRawSync],
  ['br', 'br', br],
  ['gzip of gzip', 'gzip, gzip', (octets) => gzipSync(gzipSync(octets))],
  ['br of raw deflate', 'deflate, br', (octets) => br(deflateRawSync(octets))],
  // Node has zstd from 22.15 on.
  ...(zstdCompressSync === undefined ? [] : [['zstd', 'zstd', zstdCompressSync] as const]),
];
const POSITIONS = [
  'a form',
  'JSON at depth 5',
  'JSON in a form value',
  'a part in base64',
  'an attribute of XML',
  'an entity of XML',
];

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge({ file: FILE, waf: starter().waf });
});
afterAll(async () => {
  expect(edge.faults).toEqual([]);
  await edge.close();
});

test.each(CODINGS)(
  'an attack in %s is refused, and ordinary text is forwarded',
  async (_, coding, compress) => {
    for (const position of POSITIONS) {
      for (const [text, status] of [
        [ATTACK, 403],
        // A declared entity is reported whatever it stands for.
        ['two tickets, please', position === 'an entity of XML' ? 403 : 200],
      ] as const) {
        const { contentType, body } = PLACEMENTS[position]!(text);
        const headers = {
          'content-type': contentType!,
          'content-encoding': coding,
          'user-agent': 'Mozilla/5.0',
          accept: '*/*',
        };
        const answer = await ask(edge.port, '/', { method: 'POST', headers, body: compress(body) });
        expect([position, answer.status]).toEqual([position, status]);
      }
    }
  },
);

test('a body in a coding that the node does not have is refused by its score', async () => {
  const { contentType, body } = PLACEMENTS['a form']!('two tickets, please');
  const headers = {
    'content-type': contentType!,
    'content-encoding': 'lz4',
    'user-agent': 'Mozilla/5.0',
    accept: '*/*',
  };
  expect((await ask(edge.port, '/', { method: 'POST', headers, body })).status).toBe(403);
});
