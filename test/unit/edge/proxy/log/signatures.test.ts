/** What a log line has of the signatures that matched: bounded, and without secrets. */
import { describe, expect, test } from 'vitest';
import { compileEdge } from '../../../../../src/edge/middleware/node/edge-input.ts';
import { logSignatures, type Verdict } from '../../../../../src/edge/proxy/log/signatures.ts';
import { type EdgeRequest, loadPlan } from '../../../../../src/engine/evaluator/index.ts';
import { seal } from '../../../../../src/engine/plan/seal.ts';

type Match = Verdict['matches'][number];

const MATCH: Match = {
  id: 1,
  message: 'an evil word',
  severity: 2,
  category: 'sqli',
  score: 5,
  variable: 'ARGS:q',
  value: 'evil',
};

const log = (matches: readonly Match[], request: Partial<EdgeRequest> = {}, most = 32) =>
  logSignatures(matches, {
    request: { scheme: 'https', method: 'GET', host: 'a.test', target: '/', ...request },
    secrets: new Set<string>(),
    most,
  });

const partOf = (variable: string, request: Partial<EdgeRequest> = {}): string =>
  log([{ ...MATCH, variable }], request)[0]!.part;

describe('what is logged of a match', () => {
  test('is its id, message, category, score, variable and excerpt', () => {
    expect(log([MATCH])).toEqual([
      { id: 1, name: 'an evil word', category: 'sqli', score: 5, target: 'ARGS:q', part: 'evil' },
    ]);
  });

  test.each([
    'ARGS:pin',
    'ARGS:user.code',
    'ARGS:user[otp]',
    'ARGS_GET:api-key',
    'REQUEST_HEADERS:x-account',
    'REQUEST_BODY',
    'XML:/*',
  ])('has no part of %s', (variable) => {
    expect(partOf(variable)).toBe('(not shown)');
  });

  test.each(['ARGS:comment', 'REQUEST_HEADERS:User-Agent', 'REQUEST_FILENAME', 'ARGS_NAMES:a'])(
    'has the part of %s',
    (variable) => expect(partOf(variable)).toBe('evil'),
  );

  test('has the part of a whole target or referrer without secrets only', () => {
    for (const variable of ['QUERY_STRING', 'REQUEST_URI', 'REQUEST_URI_RAW', 'REQUEST_LINE']) {
      expect(partOf(variable, { target: '/?q=1' })).toBe('evil');
      expect(partOf(variable, { target: '/?q=1&code=2' })).toBe('(not shown)');
    }
    const referer = (url: string) => ({ headers: { referer: url } });
    expect(partOf('REQUEST_HEADERS:Referer', referer('https://a.test/?q=1'))).toBe('evil');
    expect(partOf('REQUEST_HEADERS:Referer', referer('https://a.test/?code=1'))).toBe('(not shown)');
  });

  test('has no part of what a gateway takes keys from', () => {
    const sources = [
      { in: 'query', name: 'q' },
      { in: 'cookie', name: 'who' },
    ];
    const auth = { api_key: { sources } };
    const file = JSON.stringify({ domain: 'a.test', gateways: [{ key: 'api', auth }] });
    const compiled = compileEdge(new TextEncoder().encode(file), 'edge.yaml');
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    const secrets = loadPlan(seal(compiled.plan, { revision: 1 })).credentialParameters();
    const part = (variable: string): string => {
      const request = { scheme: 'https', method: 'GET', host: 'a.test', target: '/' };
      return logSignatures([{ ...MATCH, variable }], { request, secrets, most: 1 })[0]!.part;
    };
    for (const variable of ['ARGS:q', 'ARGS_GET:q', 'REQUEST_COOKIES:who'])
      expect(part(variable)).toBe('(not shown)');
    expect(part('REQUEST_COOKIES:theme')).toBe('evil');
  });

  test('has no token of any name, and no value in the message of what is not shown', () => {
    expect(log([{ ...MATCH, value: 'a eyJhbGciOiJIUzI1NiJ9.e30.x' }])[0]!.part).toBe('(not shown)');
    const [one] = log([{ ...MATCH, variable: 'ARGS:pin', value: '123456', message: 'found 12345' }]);
    expect(one).toMatchObject({ name: 'found ', part: '(not shown)' });
  });

  test('is bounded: the highest scores, texts cut', () => {
    const many = Array.from({ length: 100 }, (_, id) => ({ ...MATCH, id, score: id % 10 }));
    expect(log(many, {}, 3).map(({ id }) => id)).toEqual([9, 19, 29]);
    const [long] = log([
      { ...MATCH, message: 'm'.repeat(500), variable: `ARGS:${'v'.repeat(90)}`, value: 'x'.repeat(900) },
    ]);
    expect([long!.name.length, long!.part.length]).toEqual([128, 256]);
  });
});
