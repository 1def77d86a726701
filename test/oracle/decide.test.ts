import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/rules/model/types.ts';
import { finding } from '../support/generate-waf.ts';
import { decide, dnsRecord, rule } from '../support/sample-rules.ts';

const GPTBOT = { kind: 'gptbot', verified: false };

/** `<type>/<id> <effect>` of every match. */
function told(decision: ReturnType<typeof decide>): string[] {
  return decision.matches.map((match) => `${match.type}/${match.id} ${match.effect}`);
}

describe('phases', () => {
  test('a decision nothing acted on is a forward that is empty elsewhere', () => {
    expect(decide({}, { target: '/a?b' }, { revision: 7 })).toEqual({
      action: 'forward',
      status: null,
      rule: null,
      location: null,
      body: null,
      origin: {
        address: '192.0.2.1',
        port: 443,
        scheme: 'https',
        hostHeader: 'example.com',
        source: 'record',
        timeoutSec: null,
      },
      path: '/a',
      query: 'b',
      cache: null,
      tags: [],
      retryAfter: null,
      waf: null,
      matches: [],
      shadow: null,
      revision: 7,
    });
  });

  test('within a type priority counts, then the id; disabled rules do not', () => {
    const rules = [
      rule('drop', 1, { priority: 50, enabled: false }),
      rule('drop', 4, { priority: 60 }),
      rule('drop', 3, { priority: 60 }),
      rule('drop', 2),
    ];
    expect(decide({ rules })).toMatchObject({ action: 'block', status: 403, rule: { type: 'drop', id: 3 } });
    expect(told(decide({ rules }))).toEqual(['drop/3 block']);
  });

  test('types run in the order of the phases, whatever their priorities', () => {
    const rules: Rule[] = [
      rule('redirect', 1, { priority: 1 }),
      rule('captcha', 2, { priority: 2 }),
      rule('drop', 3, { priority: 9 }),
    ];
    expect(decide({ rules }).rule).toEqual({ type: 'drop', id: 3 });
    expect(decide({ rules: rules.slice(0, 2) }).rule).toEqual({ type: 'redirect', id: 1 });
  });

  test('fingerprint tags accumulate; the first drop or unsolved challenge ends', () => {
    const match_ja4 = ['t13*'];
    const rules = [
      rule('fingerprint', 1, { match_ja4, action: 'tag' }),
      rule('fingerprint', 2, { match_ja4, action: 'challenge' }),
      rule('fingerprint', 3, { match_ja4, action: 'tag' }),
      rule('fingerprint', 4, { match_ja4, action: 'drop' }),
    ];
    expect(decide({ rules }, { ja4: 't13a' })).toMatchObject({
      action: 'challenge',
      status: 403,
      rule: { type: 'fingerprint', id: 2 },
      tags: ['fingerprint/1'],
    });
    const solved = decide({ rules }, { ja4: 't13a', cleared: ['fingerprint/2'] });
    expect(solved).toMatchObject({ action: 'block', tags: ['fingerprint/1', 'fingerprint/3'] });
    expect(told(solved)).toEqual([
      'fingerprint/1 tag',
      'fingerprint/2 passed',
      'fingerprint/3 tag',
      'fingerprint/4 block',
    ]);
  });

  test('bot_route: tags before the winner count; after an alt_origin only tag rules still act', () => {
    const rules = [
      rule('bot_route', 1, { action: 'tag' }),
      rule('bot_route', 2, { action: 'alt_origin', alt_dest: 'alt' }),
      rule('bot_route', 3, { action: 'block' }),
      rule('bot_route', 4, { action: 'tag' }),
      rule('bot_route', 5, { action: 'alt_origin', alt_dest: 'other' }),
    ];
    const pinned = decide({ rules }, { bot: GPTBOT });
    expect(pinned).toMatchObject({ origin: { address: 'alt' }, tags: ['bot_route/1', 'bot_route/4'] });
    expect(told(pinned)).toEqual(['bot_route/1 tag', 'bot_route/2 alt_origin', 'bot_route/4 tag']);
  });

  test('bot_route: tags after a block or alt_content are not given', () => {
    const rules = [
      rule('bot_route', 1, { action: 'alt_content', status: 451, body: 'no bots' }),
      rule('bot_route', 2, { action: 'tag' }),
    ];
    expect(decide({ rules }, { bot: GPTBOT })).toMatchObject({
      action: 'respond',
      status: 451,
      body: 'no bots',
      rule: { type: 'bot_route', id: 1 },
      tags: [],
      origin: null,
    });
  });

  test('captcha: the first matching rule, else the record of lowest id that asks', () => {
    const records = [
      dnsRecord(5, '@', { captcha: true }),
      dnsRecord(2, '@'),
      dnsRecord(3, '@', { captcha: true }),
    ];
    const rules = [
      rule('captcha', 1, { path_includes: ['/a'] }),
      rule('captcha', 2, { path_includes: ['/a*'] }),
    ];
    const asker = (target: string, cleared: string[]) => {
      const { action, rule } = decide({ records, rules }, { target, cleared });
      return action === 'challenge' ? `${rule?.type}/${rule?.id}` : action;
    };
    expect(asker('/a', [])).toBe('captcha/1');
    expect(asker('/a', ['captcha/1'])).toBe('forward');
    expect(asker('/a', ['captcha/2', 'record/3'])).toBe('captcha/1');
    expect(asker('/b', [])).toBe('record/3');
    expect(asker('/b', ['record/5'])).toBe('record/3');
    expect(asker('/b', ['record/3'])).toBe('forward');
    expect(told(decide({ records, rules }, { target: '/a', cleared: ['captcha/1'] }))).toEqual([
      'captcha/1 passed',
    ]);
  });

  test('verified search crawlers pass captcha, others do not', () => {
    const action = (kind: string, verified: boolean) =>
      decide({ rules: [rule('captcha', 1)] }, { bot: { kind, verified } }).action;
    for (const kind of ['googlebot', 'bingbot', 'applebot', 'duckduckbot', 'yandexbot']) {
      expect([action(kind, true), action(kind, false)]).toEqual(['forward', 'challenge']);
    }
    expect(action('gptbot', true)).toBe('challenge');
  });

  test('an ACME challenge passes phases 3 and 6-9', () => {
    const rules = [
      rule('bot_route', 1),
      rule('redirect', 2),
      rule('captcha', 3),
      rule('rewrite', 4, { path_target: '/x' }),
      rule('cache', 5),
    ];
    const target = '/.well-known/acme-challenge/a_B-9';
    expect(decide({ rules }, { target, bot: GPTBOT })).toMatchObject({
      action: 'forward',
      path: target,
      cache: null,
      matches: [],
    });
    expect(decide({ rules }, { target, method: 'HEAD' }).action).toBe('forward');
    for (const other of [
      { method: 'POST' },
      { method: 'get' },
      { target: `${target}/` },
      { target: `${target}.txt` },
      { target: '/.well-known/acme-challenge/' },
    ]) {
      expect(decide({ rules }, { target, ...other }).action).toBe('redirect');
    }
    const blocked = [rule('drop', 1), rule('waf', 2), rule('rate_limit', 3)];
    expect(decide({ rules: blocked }, { target }).action).toBe('block');
  });

  test("the edge's own paths are answered after phase 4", () => {
    const rules = [rule('rate_limit', 1, { limit: 1 }), rule('waf', 2), rule('redirect', 3)];
    for (const target of [
      '/.well-known/edgeplan/solve',
      '/.well-known;x/edgeplan/solve',
      '/.well-known/edgeplan/',
    ]) {
      const own = decide({ rules }, { target });
      expect(own).toMatchObject({ action: 'respond', status: 200, body: null, rule: null, origin: null });
      expect(told(own)).toEqual(['rate_limit/1 counted']);
    }
    expect(decide({ rules }, { target: '/.well-known/edgeplan' }).action).toBe('redirect');
    expect(decide({ rules: [rule('drop', 4)] }, { target: '/.well-known/edgeplan/x' }).action).toBe('block');
  });
});

describe('waf', () => {
  const program = (score: number, exhausted = false) => {
    const seen: unknown[] = [];
    const inspect = (input: { body: Uint8Array | null }, settings: object) => {
      seen.push({ body: input.body?.length ?? null, ...settings });
      return finding({ score, ids: [942100], exhausted });
    };
    return { seen, env: { waf: { inspect, has: () => true } } };
  };

  test('the first match gives the settings and blocks at its threshold', () => {
    const rules = [rule('waf', 1, { paranoia: 2, threshold: 8, rule_excludes: ['1'] }), rule('waf', 2)];
    const { env, seen } = program(7);
    expect(decide({ rules }, {}, env)).toMatchObject({
      action: 'forward',
      waf: { score: 7, ids: [942100], truncated: false, exhausted: false },
      matches: [{ id: 1, effect: 'passed' }],
    });
    expect(seen).toEqual([{ body: null, paranoia: 2, threshold: 8, excludes: ['1'], exclusions: [] }]);
    expect(decide({ rules }, {}, program(8).env)).toMatchObject({
      action: 'block',
      status: 403,
      rule: { type: 'waf', id: 1 },
      matches: [{ id: 1, effect: 'block' }],
    });
  });

  test('an exhausted budget blocks, and the decision says so', () => {
    expect(decide({ rules: [rule('waf', 1)] }, {}, program(0, true).env)).toMatchObject({
      action: 'block',
      waf: { score: 0, exhausted: true },
    });
  });

  test('without a program nothing is judged', () => {
    expect(decide({ rules: [rule('waf', 1)] })).toMatchObject({
      action: 'forward',
      waf: null,
      matches: [{ effect: 'unavailable' }],
    });
  });

  test('the body is cut to the cap, and the decision says so', () => {
    const look = (body_cap_kb: number, body: unknown) => {
      const { env, seen } = program(0);
      const { waf } = decide({ rules: [rule('waf', 1, { body_cap_kb })] }, { body }, env);
      return [(seen[0] as { body: number | null }).body, waf?.truncated];
    };
    expect(look(1, new Uint8Array(1024))).toEqual([1024, false]);
    expect(look(1, new Uint8Array(1025))).toEqual([1024, true]);
    expect(look(1, 'é'.repeat(513))).toEqual([1024, true]);
    expect(look(0, 'abc')).toEqual([null, false]);
    expect(look(1, 7)).toEqual([null, false]);
  });

  test('the verdict stays in the decision whatever ends it', () => {
    const rules = [rule('waf', 1), rule('redirect', 2)];
    expect(decide({ rules }, {}, program(3).env)).toMatchObject({ action: 'redirect', waf: { score: 3 } });
    expect(decide({ rules: [rule('waf', 1), rule('drop', 2)] }, {}, program(3).env).waf).toBeNull();
  });
});
