/** Request bodies in a coding, over real sockets: what is inflated, and what is told of one that is not. */
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import * as zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decisionLine } from '../../src/edge/proxy/log/line.ts';
import type { Decision } from '../../src/engine/evaluator/index.ts';
import { startEdge, type TestEdge } from '../support/edge-node.ts';
import { signatures } from '../support/signatures.ts';

const { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } = zlib;
const { zstdCompressSync } = zlib as { readonly zstdCompressSync?: (octets: Uint8Array) => Buffer };

const FILE = `domain: shop.localhost
records:
  - { id: 5, name: '@', type: A, destination: 127.0.0.1, port: ORIGIN, scheme: Http, proxied: true }
rules:
  - { id: 4, type: waf, paranoia: 1, threshold: 5, body_cap_kb: 1 }
`;
const PROGRAM = `
SecRule ARGS "@contains evil" "id:1,phase:2,block,log,setvar:'tx.inbound_anomaly_score_pl1=+5'"
SecRule REQBODY_ERROR "@eq 1" "id:2,phase:2,pass,log"
`;
const ATTACK = Buffer.from('q=evil');
/** No coding makes it smaller. */
const NOISE = createHash('shake256', { outputLength: 4_000 }).update('noise').digest();
const CAP = 1_024;
const CODINGS = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['gzip, gzip', (octets: Uint8Array) => gzipSync(gzipSync(octets))],
  ['deflate, gzip', (octets: Uint8Array) => gzipSync(deflateRawSync(octets))],
] as const;

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge({ file: FILE, waf: signatures(PROGRAM) });
});
afterAll(async () => {
  expect(edge.faults).toEqual([]);
  await edge.close();
});

/** The decision of a form that is sent in a coding, in pieces of so many octets where that is given. */
async function decide(coding: string, body: Uint8Array, octets = body.length): Promise<Decision> {
  const before = edge.journal.length;
  await new Promise<void>((resolve, reject) => {
    const headers = {
      host: 'shop.localhost',
      'content-type': 'application/x-www-form-urlencoded',
      'content-encoding': coding,
    };
    const where = { host: '127.0.0.1', port: edge.port, method: 'POST', path: '/', headers };
    const request = httpRequest(where, (response) => response.resume().on('end', resolve));
    request.on('error', reject);
    for (let at = 0; at + octets < body.length; at += octets) request.write(body.subarray(at, at + octets));
    request.end(body.subarray(body.length - (body.length % octets || octets)));
  });
  await expect.poll(() => edge.journal.length).toBe(before + 1);
  return edge.journal.at(-1)!.exchange!.decision;
}

describe('a compressed body', () => {
  test.each<readonly [string, Uint8Array]>([
    ['gzip', gzipSync(ATTACK)],
    ['x-gzip', gzipSync(ATTACK)],
    ['GZIP', gzipSync(ATTACK)],
    ['deflate', deflateSync(ATTACK)],
    ['deflate', deflateRawSync(ATTACK)],
    ['br', brotliCompressSync(ATTACK)],
    ['identity', ATTACK],
    ['gzip, gzip', gzipSync(gzipSync(ATTACK))],
    ['identity, deflate,br', brotliCompressSync(deflateRawSync(ATTACK))],
    ['br, deflate, x-gzip', gzipSync(deflateSync(brotliCompressSync(ATTACK)))],
    // Node has zstd from 22.15 on.
    ...(zstdCompressSync === undefined ? [] : [['zstd', zstdCompressSync(ATTACK)] as const]),
  ])('a body in %s is inflated for inspection without an error', async (coding, body) => {
    expect((await decide(coding, body)).waf).toMatchObject({ ids: [1], bodyError: null, truncated: false });
  });

  test.each<readonly [string, string, Uint8Array, string]>([
    ['not known', 'snappy', ATTACK, '`snappy` is not known, the body was inspected as sent'],
    ['made up', 'constructor', ATTACK, '`constructor` is not known, the body was inspected as sent'],
    ['one of two', 'br, gzip', ATTACK, '`br, gzip` does not inflate, the body was inspected as sent'],
    [
      'known around one that is not',
      'lz4, gzip',
      gzipSync(ATTACK),
      '`lz4, gzip` is not known, the body was inspected as sent',
    ],
    [
      'one of four',
      'gzip,gzip,gzip,gzip',
      ATTACK,
      '`gzip, gzip, gzip, gzip` is not known, the body was inspected as sent',
    ],
    ['not what it says', 'gzip', ATTACK, '`gzip` does not inflate, the body was inspected as sent'],
  ])(
    'a body in a coding that is %s is inspected as sent, with an error',
    async (_name, coding, body, told) => {
      const { waf, action } = await decide(coding, body);
      expect(waf).toMatchObject({ ids: [1, 2], bodyError: `content-encoding: ${told}` });
      expect(action).toBe('block');
    },
  );

  test('a truncated body is inspected with an error', async () => {
    const whole = gzipSync(Buffer.concat([Buffer.from('q=evil&n='), NOISE.subarray(0, 600)]));
    const { waf } = await decide('gzip', whole.subarray(0, whole.length - 20));
    expect(waf?.bodyError).toMatch(/^content-encoding: `gzip` does not inflate/);
  });

  test.each([
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])(
    'a body in %s with octets after its end has an error, since an origin may read them',
    async (coding, compress) => {
      const body = Buffer.concat([compress(Buffer.from('q=good')), compress(ATTACK)]);
      const { waf } = await decide(coding, body);
      expect(waf).toMatchObject({
        ids: [2],
        bodyError: `content-encoding: \`${coding}\` does not inflate to its end`,
      });
    },
  );

  test('a gzip body of several members is inflated whole', async () => {
    const body = Buffer.concat([gzipSync(Buffer.from('a=b&')), gzipSync(ATTACK)]);
    expect((await decide('gzip', body)).waf).toMatchObject({ ids: [1], bodyError: null });
  });

  test('a body that inflates beyond the cap is truncated, and marked so', async () => {
    const { waf } = await decide('gzip', gzipSync(Buffer.alloc(100_000, 'a')));
    expect(waf).toMatchObject({ truncated: true, bodyError: null });
  });

  describe.each(CODINGS)('%s of what it cannot compress', (coding, compress) => {
    test.each([
      [CAP - 10, false],
      [CAP, false],
      [CAP + 1, true],
      [CAP + 10, true],
      [4_000, true],
    ])('a body of %i octets is inspected up to the cap, truncated: %s', async (octets, truncated) => {
      const body = compress(NOISE.subarray(0, octets));
      expect(body.length).toBeGreaterThan(octets);
      for (const piece of [body.length, CAP + 1, 100]) {
        const { waf, action } = await decide(coding, body, piece);
        expect(waf).toMatchObject({ bodyError: null, truncated, score: 0 });
        expect(waf?.uninspected).toBe(truncated ? 'beyond_cap' : null);
        expect(action).toBe('forward');
      }
    });
  });

  test('a body padded before its content counts as unreadable', async () => {
    const padding = Buffer.concat(Array.from({ length: 10_000 }, () => gzipSync('')));
    const { waf, action } = await decide('gzip', Buffer.concat([padding, gzipSync(ATTACK)]));
    expect(waf).toMatchObject({ uninspected: 'coding', score: 5 });
    expect(action).toBe('block');
  });

  test('the decision log has the error of a body, and none for one that was read whole', async () => {
    await decide('snappy', ATTACK);
    expect(decisionLine(edge.journal.at(-1)!, null).waf).toEqual({
      score: 10,
      ids: [1, 2],
      targets: ['ARGS:q', 'REQBODY_ERROR'],
      matches: [
        { id: 1, name: '', category: '', score: 5, target: 'ARGS:q', part: 'evil' },
        { id: 2, name: '', category: '', score: 0, target: 'REQBODY_ERROR', part: '1' },
      ],
      uninspected: 'coding',
      body_error: 'content-encoding: `snappy` is not known, the body was inspected as sent',
    });
    await decide('gzip', gzipSync(ATTACK));
    expect(decisionLine(edge.journal.at(-1)!, null).waf).toEqual({
      score: 5,
      ids: [1],
      targets: ['ARGS:q'],
      matches: [{ id: 1, name: '', category: '', score: 5, target: 'ARGS:q', part: 'evil' }],
    });
  });
});
