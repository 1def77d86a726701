/** `on_uninspected` of waf rules over real sockets: what becomes of a body that signatures cannot inspect whole. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DecisionLine, decisionLine } from '../../src/edge/proxy/log/line.ts';
import { ask } from '../support/ask.ts';
import { startEdge, type TestEdge } from '../support/edge-node.ts';
import { say, statusesOf } from '../support/raw.ts';
import { signatures } from '../support/signatures.ts';

const FILE = `domain: shop.localhost
records:
  - { id: 9, name: '@', type: A, destination: 127.0.0.1, port: ORIGIN, scheme: Http, proxied: true }
rules:
  - { id: 1, type: waf, path_includes: [/default], threshold: 5, body_cap_kb: 1 }
  - { id: 2, type: waf, path_includes: [/score], threshold: 5, body_cap_kb: 1, on_uninspected: score }
  - { id: 3, type: waf, path_includes: [/higher], threshold: 6, body_cap_kb: 1, on_uninspected: score }
  - { id: 4, type: waf, path_includes: [/block], threshold: 100, body_cap_kb: 1, on_uninspected: block }
  - { id: 5, type: waf, path_includes: [/pass], threshold: 1, body_cap_kb: 1, on_uninspected: pass }
  - { id: 6, type: waf, path_includes: [/headers-only], threshold: 1, body_cap_kb: 0, on_uninspected: block }
  - { id: 7, type: waf, path_includes: [/tried], threshold: 1, body_cap_kb: 1, on_uninspected: block, action_mode: dry_run }
`;
/** No signature looks at REQBODY_ERROR: only `on_uninspected` judges a defect. */
const PROGRAM = `SecRule ARGS|XML:/* "@contains evil" "id:1,phase:2,block,log,setvar:'tx.inbound_anomaly_score_pl1=+5'"`;
const RULES = { default: 1, score: 2, higher: 3, block: 4, pass: 5, 'headers-only': 6, tried: 7 } as const;
type Mode = keyof typeof RULES;

interface Body {
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly coding?: string | string[];
}

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=edge';
const CAP = 1_024;

function multipart(value: string): string {
  return `--edge\r\nContent-Disposition: form-data; name="q"\r\n\r\n${value}\r\n--edge--\r\n`;
}

/** A body of exactly `octets`, filled by the value in it. */
function long(octets: number, fill: (rest: string) => string): string {
  return fill('x'.repeat(octets - fill('').length));
}

const json = (value: string): string => `{"q":"${value}"}`;
const xml = (value: string): string => `<q>${value}</q>`;
const form = (value: string): string => `q=${value}`;
const zipped = gzipSync(form('good'));

const UNPARSABLE: readonly (readonly [string, Body, RegExp])[] = [
  ['JSON that breaks off', { type: 'application/json', body: '{"q":"good"' }, /^json: it ends inside/],
  ['JSON with more behind it', { type: 'application/json', body: '{"q":1}}' }, /^json: something follows/],
  ['JSON that is none', { type: 'application/vnd.api+json', body: 'q=good' }, /^json: /],
  ['XML with tags crossed', { type: 'application/xml', body: '<a><b></a></b>' }, /^xml: .* closes no open/],
  ['XML that breaks off', { type: 'text/xml', body: '<a><b>good</b>' }, /^xml: /],
  [
    'multipart without a boundary in its type',
    { type: 'multipart/form-data', body: multipart('good') },
    /^multipart: its Content-Type names no boundary/,
  ],
  [
    'multipart with another boundary',
    { type: MULTIPART, body: multipart('good').replaceAll('--edge', '--ridge') },
    /^multipart: no boundary was found/,
  ],
  [
    'multipart without its final boundary',
    { type: MULTIPART, body: multipart('good').replace('--edge--\r\n', '') },
    /^multipart: the final boundary is missing/,
  ],
  [
    'multipart that ends in the headers of a part',
    { type: MULTIPART, body: '--edge\r\nContent-Disposition: form-data; name="q"' },
    /^multipart: the headers of a part do not end/,
  ],
];

const CODED: readonly (readonly [string, Body, RegExp])[] = [
  ['an unknown coding', { type: FORM, body: form('good'), coding: 'snappy' }, /`snappy` is not known/],
  [
    'a known coding around an unknown one',
    { type: FORM, body: zipped, coding: 'snappy, gzip' },
    /`snappy, gzip` is not known/,
  ],
  [
    'four codings in two lines',
    { type: FORM, body: gzipSync(gzipSync(gzipSync(zipped))), coding: ['gzip, gzip', 'gzip, gzip'] },
    /`gzip, gzip, gzip, gzip` is not known/,
  ],
  [
    'a coding that it is not in',
    { type: FORM, body: form('good'), coding: 'gzip' },
    /`gzip` does not inflate/,
  ],
  [
    'a coding that breaks off',
    { type: FORM, body: zipped.subarray(0, -9), coding: 'gzip' },
    /`gzip` does not inflate/,
  ],
];

const BEYOND: readonly (readonly [string, Body])[] = [
  ['a form', { type: FORM, body: long(CAP + 1, form) }],
  ['JSON', { type: 'application/json', body: long(CAP + 1, json) }],
  ['XML', { type: 'application/xml', body: long(CAP + 1, xml) }],
  ['multipart', { type: MULTIPART, body: long(CAP + 100, multipart) }],
  ['multipart by its last octet', { type: MULTIPART, body: long(CAP + 1, multipart) }],
  ['text of no known type', { type: 'text/plain', body: 'x'.repeat(CAP + 1) }],
  ['a form in a coding', { type: FORM, body: gzipSync(long(CAP + 1, form)), coding: 'gzip' }],
];

const WHOLE: readonly (readonly [string, Body])[] = [
  ['JSON', { type: 'application/json', body: json('good') }],
  ['XML', { type: 'application/xml', body: xml('good') }],
  ['multipart', { type: MULTIPART, body: multipart('good') }],
  ['a form in a known coding', { type: FORM, body: zipped, coding: 'gzip' }],
  ['a coding twice in one line', { type: FORM, body: gzipSync(zipped), coding: 'gzip, gzip' }],
  ['a coding twice in two lines', { type: FORM, body: gzipSync(zipped), coding: ['gzip', 'gzip'] }],
  ['a form as long as the cap', { type: FORM, body: long(CAP, form) }],
  ['JSON as long as the cap', { type: 'application/json', body: long(CAP, json) }],
  ['XML as long as the cap', { type: 'application/xml', body: long(CAP, xml) }],
  ['multipart as long as the cap', { type: MULTIPART, body: long(CAP, multipart) }],
  ['a form that inflates to the cap', { type: FORM, body: gzipSync(long(CAP, form)), coding: 'gzip' }],
  ['a coding around nothing', { type: FORM, body: '', coding: 'snappy' }],
];

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge({ file: FILE, waf: signatures(PROGRAM) });
});
afterAll(async () => {
  expect(edge.faults).toEqual([]);
  await edge.close();
});

interface Outcome {
  readonly status: number;
  /** Whether the origin got the request. */
  readonly forwarded: boolean;
  readonly line: DecisionLine;
}

async function post(mode: Mode, { type, body, coding }: Body, framing = {}): Promise<Outcome> {
  const before = { journal: edge.journal.length, seen: edge.seen.length };
  const headers = { 'content-type': type, ...(coding === undefined ? {} : { 'content-encoding': coding }) };
  const { status } = await ask(edge.port, `/${mode}`, {
    method: 'POST',
    headers: { ...headers, ...framing },
    body,
  });
  await expect.poll(() => edge.journal.length).toBe(before.journal + 1);
  const line = decisionLine(edge.journal.at(-1)!, null);
  return { status, forwarded: edge.seen.length > before.seen, line };
}

function blocked({ status, forwarded, line }: Outcome): boolean {
  const { action, rule } = line.decision!;
  expect([status, line.status, action, forwarded]).toEqual(
    action === 'block' ? [403, 403, 'block', false] : [200, 200, 'forward', true],
  );
  if (action === 'block') expect(rule).toMatch(/^waf\//);
  return action === 'block';
}

describe.each([
  ['unparsable', UNPARSABLE],
  ['coding', CODED],
] as const)('a body that is %s', (kind, bodies) => {
  describe.each(bodies)('%s', (_name, body, reason) => {
    test.each([
      ['default', true, 5],
      ['score', true, 5],
      ['higher', false, 5],
      ['block', true, 0],
      ['pass', false, 0],
    ] as const)('under %s: blocked %s, score %i', async (mode, refused, score) => {
      const outcome = await post(mode, body);
      expect(blocked(outcome)).toBe(refused);
      expect(outcome.line.waf).toEqual({
        score,
        ids: [],
        uninspected: kind,
        body_error: expect.stringMatching(reason),
      });
      expect(outcome.line.matches).toEqual([
        { rule: `waf/${RULES[mode]}`, mode: 'enforce', effect: refused ? 'block' : 'passed' },
      ]);
    });
  });
});

describe.each(BEYOND)('a body longer than the cap: %s', (_name, body) => {
  test.each([
    ['default', false],
    ['score', false],
    ['block', true],
    ['pass', false],
  ] as const)('under %s: blocked %s, score 0', async (mode, refused) => {
    const outcome = await post(mode, body);
    expect(blocked(outcome)).toBe(refused);
    expect(outcome.line.waf).toEqual({ score: 0, ids: [], truncated: true, uninspected: 'beyond_cap' });
  });

  test('a body without Content-Length counts as longer as well', async () => {
    const outcome = await post('block', body, { 'transfer-encoding': 'chunked' });
    expect(blocked(outcome)).toBe(true);
    expect(outcome.line.waf).toMatchObject({ uninspected: 'beyond_cap' });
  });
});

test.each([
  ['snappy', `${form('good')}&n=${'x'.repeat(CAP)}`, 'coding'],
  [undefined, `{"q":1}} ${'x'.repeat(CAP)}`, 'unparsable'],
] as const)('a defect before the cap counts before the cap (%s)', async (coding, body, kind) => {
  const type = coding === undefined ? 'application/json' : FORM;
  const outcome = await post('score', { type, body, ...(coding === undefined ? {} : { coding }) });
  expect(blocked(outcome)).toBe(true);
  expect(outcome.line.waf).toMatchObject({ score: 5, truncated: true, uninspected: kind });
});

describe.each(WHOLE)('a body that is inspected whole: %s', (_name, body) => {
  test.each(['default', 'score', 'higher', 'block', 'pass'] as const)(
    'the body passes under %s',
    async (mode) => {
      const outcome = await post(mode, body);
      expect(blocked(outcome)).toBe(false);
      expect(outcome.line.waf).toEqual({ score: 0, ids: [] });
    },
  );
});

test.each([
  ['JSON', { type: 'application/json', body: json('evil') }],
  ['XML', { type: 'application/xml', body: xml('evil') }],
  ['multipart', { type: MULTIPART, body: multipart('evil') }],
  ['a form in a known coding', { type: FORM, body: gzipSync(form('evil')), coding: 'gzip' }],
])('signatures inspect %s under every on_uninspected', async (_name, body) => {
  const outcome = await post('pass', body);
  expect(blocked(outcome)).toBe(true);
  expect(outcome.line.waf).toMatchObject({ score: 5, ids: [1] });
});

test.each([
  ['unparsable', UNPARSABLE[0]![1]],
  ['coding', CODED[0]![1]],
  ['beyond_cap', BEYOND[0]![1]],
] as const)('a rule that leaves bodies out blocks none: %s', async (_kind, body) => {
  const outcome = await post('headers-only', body);
  expect(blocked(outcome)).toBe(false);
  expect(outcome.line.waf).toEqual({ score: 0, ids: [] });
});

test.each([
  ['unparsable', UNPARSABLE[0]![1]],
  ['coding', CODED[0]![1]],
  ['beyond_cap', BEYOND[0]![1]],
] as const)('under dry_run the request goes on, and the log names the kind: %s', async (kind, body) => {
  const outcome = await post('tried', body);
  expect(blocked(outcome)).toBe(false);
  expect(outcome.line.shadow).toMatchObject({ action: 'block', status: 403, rule: 'waf/7' });
  expect(outcome.line.matches).toMatchObject([
    { rule: 'waf/7', mode: 'dry_run', effect: 'block', waf: { uninspected: kind } },
  ]);
});

test.each([
  ['score', 'Content-Length: 6\r\n', 403, 'unread'],
  ['block', 'Content-Length: 6\r\n', 403, 'unread'],
  ['block', 'Transfer-Encoding: chunked\r\n', 403, 'unread'],
  ['pass', 'Content-Length: 6\r\n', 101, 'unread'],
  ['block', 'Content-Length: 0\r\n', 101, undefined],
  ['block', '', 101, undefined],
] as const)(
  'a WebSocket under %s that announces a body (%j): %i, it is not read',
  async (mode, announced, status, kind) => {
    const before = edge.journal.length;
    const head = `GET /${mode} HTTP/1.1\r\nHost: shop.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
    const text = await say(edge.port, `${head}${announced}\r\nq=evil`);
    expect(statusesOf(text)).toEqual([status]);
    await expect.poll(() => edge.journal.length).toBe(before + 1);
    const { waf, withheld } = decisionLine(edge.journal.at(-1)!, null);
    expect(waf?.uninspected).toBe(kind);
    expect(withheld.includes('body')).toBe(kind !== undefined);
  },
);
