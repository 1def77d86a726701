/** Faults that CAs answer. */
import { describe, expect, test } from 'vitest';
import {
  answerFault,
  networkFault,
  parseRetryAfter,
  reasonText,
} from '../../../../../src/control/certificates/issuance/ca-transport.ts';
import { MAX_REASON_CHARACTERS } from '../../../../../src/control/certificates/limits.ts';

const NOW = Date.parse('2031-01-02T03:04:05Z');
const PREFIX = 'urn:ietf:params:acme:error:';
const fault = (status: number, body: unknown, retryAfter: string | null = null) =>
  answerFault({ status, retryAfter, body }, NOW);

describe('Retry-After', () => {
  test.each([
    [null, null],
    ['', null],
    ['  ', null],
    ['0', 0],
    ['120', 120_000],
    [' 7200 ', 7_200_000],
    ['999999999', 999_999_999_000],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['Thu, 02 Jan 2031 03:05:05 GMT', 60_000],
    ['Thu, 02 Jan 2031 03:04:04 GMT', 0],
  ])('%j is %j milliseconds', (text, expected) => {
    const found = parseRetryAfter(text, NOW);
    // A number of another form may be read as a date, never as a wait.
    if (expected === null) expect(found === null || found === 0).toBe(true);
    else expect(found).toBe(expected);
  });
});

describe('a problem document', () => {
  test('has its type without the prefix, its detail, and when to repeat', () => {
    const one = fault(429, { type: `${PREFIX}rateLimited`, detail: 'too many' }, '3600');
    expect(one).toMatchObject({ type: 'rateLimited', status: 429, retryAfterMs: 3_600_000 });
    expect([one.message, one.isRateLimit, one.isTransient]).toEqual(['too many', true, false]);
  });

  test('has the reasons of its names', () => {
    const subproblems = [
      { identifier: { type: 'dns', value: 'A.Example' }, detail: 'on a list' },
      { identifier: { type: 'dns', value: 'b.example' } },
      { identifier: { type: 'dns' }, detail: 'none' },
      { detail: 'none' },
      'text',
      null,
    ];
    const { names } = fault(400, { type: `${PREFIX}rejectedIdentifier`, detail: 'two', subproblems });
    expect([...names]).toEqual([
      ['a.example', 'on a list'],
      ['b.example', 'the CA answered 400'],
    ]);
  });

  test.each([
    [503, { type: `${PREFIX}serverInternal` }, true, false],
    [500, '<html>', true, false],
    [502, null, true, false],
    [400, { type: `${PREFIX}badNonce` }, true, false],
    [429, {}, false, true],
    [403, { type: `${PREFIX}unauthorized` }, false, false],
    [400, { type: `${PREFIX}malformed` }, false, false],
    [400, { type: `${PREFIX}rateLimited` }, false, true],
  ])('of status %j and body %j is transient: %j, a limit: %j', (status, body, transient, limit) => {
    const { isTransient, isRateLimit } = fault(status, body);
    expect([isTransient, isRateLimit]).toEqual([transient, limit]);
  });

  test.each([[null], ['text'], [[]], [{ type: 7, detail: 7, subproblems: 'x' }], [{ type: 'about:blank' }]])(
    'of the form %j is an answer without a type',
    (body) => {
      const found = fault(404, body);
      expect([found.type, found.message, found.names.size]).toEqual(['answer', 'the CA answered 404', 0]);
    },
  );

  test('has one line, and at most as many characters as answers have', () => {
    expect(reasonText({ detail: ' a\r\n\u0000b\ud800 ' })).toBe('a b');
    expect(reasonText({ detail: ' \n ' })).toBeNull();
    const long = reasonText({ detail: 'x'.repeat(MAX_REASON_CHARACTERS + 1) })!;
    expect([long.length, long.at(-1)]).toEqual([MAX_REASON_CHARACTERS, '…']);
    expect(reasonText({ detail: 'x'.repeat(MAX_REASON_CHARACTERS) })).toHaveLength(MAX_REASON_CHARACTERS);
  });
});

test('a request without an answer is transient, and has its cause', () => {
  const cause = new Error('refused');
  const { type, status, isTransient, isRateLimit, cause: found } = networkFault('refused', cause);
  expect({ type, status, isTransient, isRateLimit }).toEqual({
    type: 'network',
    status: 0,
    isTransient: true,
    isRateLimit: false,
  });
  expect(found).toBe(cause);
});
