/**
 * Requests that are made to break a parser or to tire an inspector, through the whole path: there is always a decision,
 * what could not be read is told, and what is told stays small.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { type Decision, type EdgeRequest, loadPlan } from '../../../../src/engine/evaluator/index.ts';
import type { WafFinding, WafInput } from '../../../../src/engine/waf/request/inspection.ts';
import { request, rule, ruleSet } from '../../../support/sample-rules.ts';
import { starter } from '../../../support/starter.ts';
import { ATTACK, BAD_BODIES, FORM, MULTIPART } from './bad-bodies.ts';

const faults: unknown[] = [];
const rules = [rule('waf', 1, { paranoia: 4, threshold: 5, body_cap_kb: 1024 })];
const evaluator = loadPlan(seal(compile(ruleSet({ rules })).plan), {
  waf: starter().waf,
  onFault: (fault) => faults.push(fault),
});

/** The decision of a request; nothing may have failed on the way. */
function decide(sent: EdgeRequest): Decision {
  const decision = evaluator.evaluate(sent);
  expect(faults.splice(0)).toEqual([]);
  return decision;
}

/** Whatever was found, its account is of bounded size and its numbers are numbers. */
function expectSmall({ ids, matches, score, exhausted, bodyError }: WafFinding): void {
  expect(matches.length).toBeLessThanOrEqual(100);
  expect(ids).toEqual(matches.map(({ id }) => id));
  expect(Number.isSafeInteger(score) && typeof exhausted === 'boolean').toBe(true);
  expect((bodyError ?? '').length).toBeLessThan(200);
  for (const { message, value, variable } of matches) {
    expect(message.length).toBeLessThanOrEqual(4 * 200);
    expect(value.length).toBeLessThanOrEqual(4 * 64 + 2);
    expect(variable.length).toBeLessThanOrEqual(1_048_576);
  }
}

describe('a hostile body is inspected without a fault and within the step budget', () => {
  test.each(BAD_BODIES)('$what', ({ type, body, error, found = false }) => {
    const { waf, action } = decide(request({ method: 'POST', headers: { 'content-type': type }, body }));
    expect(waf).not.toBeNull();
    expectSmall(waf!);
    if (error === null) expect(waf!.bodyError).toBeNull();
    else expect(waf!.bodyError ?? '').toMatch(error);
    expect(['block', 'forward']).toContain(action);
    if (found) expect([action, waf!.exhausted || waf!.score >= 5]).toEqual(['block', true]);
  });

  test.each(BAD_BODIES)('$what, truncated anywhere', ({ type, body }) => {
    const octets = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    for (let share = 1; share < 8; share++) {
      const cut = octets.subarray(0, Math.floor((octets.length * share) / 8));
      const input = { request: request({ headers: { 'content-type': type } }), body: cut, truncated: true };
      expectSmall(starter().waf.inspect(input, { paranoia: 1, threshold: 5, excludes: [], exclusions: [] }));
    }
  });
});

describe('a hostile request head is inspected within the step budget', () => {
  test.each<readonly [string, Partial<EdgeRequest>, boolean]>([
    ['a cookie of 64 KiB', { headers: { cookie: `a=${'b'.repeat(65_536)}` } }, false],
    [
      '10,000 cookies',
      { headers: { cookie: Array.from({ length: 10_000 }, (_, at) => `c${at}=${at}`).join('; ') } },
      false,
    ],
    [
      'an attack behind 64 KiB of cookies',
      { headers: { cookie: `a=${'b'.repeat(65_536)}; d=${ATTACK}` } },
      true,
    ],
    ['a cookie of nothing but semicolons', { headers: { cookie: ';'.repeat(65_536) } }, false],
    [
      'a query of 10,000 arguments',
      { target: `/?${Array.from({ length: 10_000 }, (_, at) => `a${at}=${at}`).join('&')}` },
      false,
    ],
    ['a query of nothing but per cent signs', { target: `/?a=${'%'.repeat(65_536)}` }, false],
    ['a path of dots', { target: `/${'../'.repeat(10_000)}` }, false],
    ['2,000 headers of one name', { headers: { 'x-a': Array.from({ length: 2_000 }, () => 'b') } }, false],
    [
      '2,000 headers',
      { headers: Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`x-${at}`, 'b'])) },
      false,
    ],
    ['quotes', { target: `/?a=${"'".repeat(20_000)}` }, true],
  ])('%s', (_, sent, found) => {
    const decision = decide(request(sent));
    if (decision.waf !== null) expectSmall(decision.waf);
    // A head that no server would take is refused before signatures see it.
    expect(['block', 'forward', 'refuse']).toContain(decision.action);
    if (found) expect(decision.action).not.toBe('forward');
  });
});

const TYPES = [
  FORM,
  MULTIPART,
  'application/json',
  'text/xml',
  'text/plain',
  'multipart/form-data; boundary=',
  '',
];

test('any octets as a body of any type have a finding', () => {
  const piece = fc.constantFrom(
    '--edge',
    '\r\n',
    '{"a":',
    '[',
    ']',
    '}',
    '<a b="',
    '>',
    '&#x',
    '<!DOCTYPE',
    '%',
    '=',
    '&',
    '\0',
    'name="',
    ';',
    "'",
  );
  const text = fc
    .array(fc.oneof(piece, fc.string({ unit: 'binary' })), { maxLength: 40 })
    .map((pieces) => Buffer.from(pieces.join('')));
  const body = fc.oneof(fc.uint8Array({ maxLength: 400 }), text);
  fc.assert(
    fc.property(body, fc.constantFrom(...TYPES), fc.boolean(), (octets, type, truncated) => {
      const input: WafInput = {
        request: request({ headers: { 'content-type': type } }),
        body: octets,
        truncated,
      };
      expectSmall(starter().waf.inspect(input, { paranoia: 4, threshold: 5, excludes: [], exclusions: [] }));
    }),
    { numRuns: 500 },
  );
});

test('any request has a decision and a finding', () => {
  const odd = fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true });
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: odd },
  );
  const headers = fc.oneof(
    fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(value, fc.array(value))),
    odd,
  );
  const fields = fc.record(
    { scheme: value, method: value, host: value, target: value, protocol: value, headers, ip: value },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fields, (sent) => {
      const given = sent as unknown as EdgeRequest;
      expect(decide(given).action).toBeTypeOf('string');
      const input = { request: given, body: null, truncated: false };
      expectSmall(starter().waf.inspect(input, { paranoia: 4, threshold: 5, excludes: [], exclusions: [] }));
    }),
    { numRuns: 500 },
  );
});
