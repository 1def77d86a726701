import { describe, expect, test } from 'vitest';
import type { HeadersRule } from '../../src/rules/model/types.ts';
import { request, rule, ruleSet } from '../support/sample-rules.ts';
import { createOracle, type EdgeRequest } from './index.ts';

function decide(rules: readonly Partial<HeadersRule>[], more: Partial<EdgeRequest> = {}) {
  const stored = rules.map((fields, index) => rule('headers', index + 1, fields));
  return createOracle(ruleSet({ rules: stored })).evaluate({ ...request({ target: '/a' }), ...more });
}

describe('headers', () => {
  test('every match acts, in order; inside a rule set, add, remove', () => {
    const rules = [
      { priority: 200, response: { set: { 'X-A': 'late' } } },
      { path_includes: ['/b'], response: { set: { 'X-B': 'other' } } },
      { request: { add: { 'X-C': 'c' }, remove: ['Cookie'] }, response: { set: { 'X-A': 'early' } } },
    ];
    expect(decide(rules)).toMatchObject({
      action: 'forward',
      requestHeaders: [
        { op: 'add', name: 'X-C', value: 'c' },
        { op: 'remove', name: 'Cookie', value: null },
      ],
      responseHeaders: [
        { op: 'set', name: 'X-A', value: 'early' },
        { op: 'set', name: 'X-A', value: 'late' },
      ],
      matches: [
        { type: 'headers', id: 3, effect: 'headers' },
        { type: 'headers', id: 1, effect: 'headers' },
      ],
    });
  });

  test('a decision without a match has neither field', () => {
    const decision = decide([{ path_includes: ['/b'], response: { set: { 'X-B': 'b' } } }]);
    expect(Object.keys(decision)).not.toContain('requestHeaders');
    expect(Object.keys(decision)).not.toContain('responseHeaders');
  });

  test('facts are inserted; an unknown one removes a set field and adds nothing', () => {
    const value = '${client_ip} ${host} ${scheme} ${method} $$5';
    const known = decide([{ response: { set: { A: value } } }], { ip: '2001:db8:0::0:1' });
    expect(known.responseHeaders).toEqual([
      { op: 'set', name: 'A', value: '2001:db8::1 example.com https GET $5' },
    ]);
    const changes = { set: { A: 'x ${ja4}' }, add: { B: '${request_id}' } };
    expect(decide([{ response: changes }]).responseHeaders).toEqual([
      { op: 'remove', name: 'A', value: null },
    ]);
    expect(decide([{ response: changes }], { ja4: 't13d', id: 'r-1' }).responseHeaders).toEqual([
      { op: 'set', name: 'A', value: 'x t13d' },
      { op: 'add', name: 'B', value: 'r-1' },
    ]);
    expect(decide([{ response: changes }], { ja4: 't\r\nx: y' }).responseHeaders).toEqual([
      { op: 'remove', name: 'A', value: null },
    ]);
  });

  test('an answer of the edge gets the response side alone', () => {
    const rules = [
      rule('drop', 1, { path_includes: ['/a'] }),
      rule('headers', 2, { request: { set: { A: 'a' } }, response: { set: { B: 'b' } } }),
    ];
    const decision = createOracle(ruleSet({ rules })).evaluate(request({ target: '/a' }));
    expect(decision).toMatchObject({
      action: 'block',
      responseHeaders: [{ op: 'set', name: 'B', value: 'b' }],
    });
    expect(decision.requestHeaders).toBeUndefined();
  });

  test('a tag is 1 where its rule has tagged the request', () => {
    const rules = [
      rule('bot_route', 7, { action: 'tag' }),
      rule('headers', 2, { request: { set: { 'X-Bot': '${tag(bot_route/7)}' } } }),
    ];
    const oracle = createOracle(ruleSet({ rules }));
    const bot = { kind: 'gptbot', verified: false };
    expect(oracle.evaluate({ ...request(), bot }).requestHeaders).toEqual([
      { op: 'set', name: 'X-Bot', value: '1' },
    ]);
    expect(oracle.evaluate({ ...request(), bot: null }).requestHeaders).toEqual([
      { op: 'remove', name: 'X-Bot', value: null },
    ]);
  });

  test('a dry_run rule acts in the shadow alone', () => {
    const decision = decide([{ action_mode: 'dry_run', response: { set: { A: 'a' } } }]);
    expect(decision.responseHeaders).toBeUndefined();
    expect(decision.shadow?.responseHeaders).toEqual([{ op: 'set', name: 'A', value: 'a' }]);
  });

  test('a change beyond 16,384 characters of one message is left out', () => {
    const rules = Array.from({ length: 5 }, (_, index) => ({
      response: { set: { [`A${index}`]: 'x'.repeat(4_000) }, remove: ['B'] },
    }));
    const names = decide(rules).responseHeaders!.map(({ op, name }) => `${op} ${name}`);
    expect(names.filter((name) => name !== 'remove B')).toEqual(['set A0', 'set A1', 'set A2', 'set A3']);
    expect(names.filter((name) => name === 'remove B')).toHaveLength(5);
  });
});
