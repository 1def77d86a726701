import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Diagnostic, describeDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { BOT_KINDS, RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { nearest } from '../../../../src/rules/model/nearest.ts';
import { parseDomain, parseRecord, parseRule, parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { absoluteName } from '../../../../src/rules/model/record-name.ts';
import { RULE_FORMS } from '../../../../src/rules/model/rule.ts';
import { type Input, LEAST, times } from './read.ts';

const domain = { name: 'example.com' };
const record = { id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true };

function told({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }): string[] {
  return diagnostics.map(describeDiagnostic);
}

describe('parseRuleSet', () => {
  it('reports every mistake of an input together', () => {
    const input = {
      domain: { name: 'not a name', status: 'on' },
      records: [{ id: 1, name: 'a', type: 'A', destination: 'x' }, 5, { ...record, name: '..' }],
      rules: [
        { id: 1, type: 'captcha', ttl_sec: 1, priority: -1, host_includes: ['a b'], paht: 1 },
        { id: 1, type: 'capcha' },
        { type: 'waf', record_ids: [9] },
        null,
      ],
      ruels: [],
    };
    expect(told(parseRuleSet(input))).toEqual([
      'ruels: is not a known field; did you mean `rules`?',
      'domain.name: must be a domain name of at most 253 octets, without scheme, port or star, found `not a name`',
      'domain.status: must be one of `pending`, `unverified`, `active`, `moved`, `disabled`, `banned`, found `on`',
      'records[0].destination: must be an IPv4 address for type `A`, found `x`; a name needs the type `CNAME`; scheme and port have fields of their own: `scheme`, `port`',
      'records[1]: must be an object, found a number',
      expect.stringMatching(
        /^rules\[0\]\.paht: is not a known field; the fields are `record_id`, .*, `ttl_sec`$/,
      ),
      'rules[0].priority: must be a whole number from 0 to 1000000, found -1',
      'rules[0].ttl_sec: must be a whole number from 60 to 2592000, found 1',
      'rules[0].host_includes[0]: must not hold a space or a control character, found `a b`',
      'rules[1].id: is the id of an earlier rule; ids must differ, found 1',
      `rules[1].type: must be one of ${RULE_TYPES.map((type) => `\`${type}\``).join(', ')}, found \`capcha\`; did you mean \`captcha\`?`,
      'rules[2].id: is missing; it must be a whole number',
      'rules[2].record_ids[0]: record_ids do not belong to this domain',
      'rules[3]: must be an object, found null',
    ]);
  });

  it('refuses repeated ids', () => {
    const rules = [
      { ...LEAST.waf, type: 'waf', id: 7 },
      { ...LEAST.captcha, type: 'captcha', id: 7 },
    ];
    expect(told(parseRuleSet({ domain, rules }))).toEqual([
      'rules[1].id: is the id of an earlier rule; ids must differ, found 7',
    ]);
    expect(told(parseRuleSet({ domain, records: [record, { ...record, name: 'b' }] }))).toEqual([
      'records[1].id: is the id of an earlier record; ids must differ, found 1',
    ]);
  });

  it('knows the records that have mistakes of their own', () => {
    const input = {
      domain,
      records: [{ ...record, port: 0 }],
      rules: [{ id: 1, type: 'waf', record_ids: [1] }],
    };
    expect(told(parseRuleSet(input))).toHaveLength(1);
  });

  it('takes an input without records and rules, and ignores entitlements', () => {
    expect(parseRuleSet({ domain, entitlements: { plan_id: 1 } })).toMatchObject({
      ok: true,
      ruleSet: { domain: { name: 'example.com', status: 'active' }, records: [], rules: [] },
    });
  });

  it.each([
    [{ domain, records: 1 }, 'records: must be a list, found 1'],
    [{ domain, rules: {} }, 'rules: must be a list, found an object'],
    [{}, 'domain: must be an object, found nothing'],
    [[], 'must be an object with `domain`, `records` and `rules`, found a list of 0 entries'],
    [null, 'must be an object with `domain`, `records` and `rules`, found null'],
  ])('refuses %j', (input, message) => expect(told(parseRuleSet(input))).toEqual([message]));

  it('holds a domain to 10,000 rules and 10,000 records', () => {
    const rules = (count: number): Input => ({
      domain,
      rules: times(count, (i) => ({ id: i + 1, type: 'waf' })),
    });
    expect(parseRuleSet(rules(10_000)).ok).toBe(true);
    expect(told(parseRuleSet(rules(10_001)))).toEqual([
      'rules: must have at most 10000 entries, found 10001',
    ]);
    const records = (count: number): Input => ({
      domain,
      records: times(count, (i) => ({ ...record, id: i + 1 })),
    });
    expect(parseRuleSet(records(10_000)).ok).toBe(true);
    expect(told(parseRuleSet(records(10_001)))).toEqual([
      'records: must have at most 10000 entries, found 10001',
    ]);
  });

  it('counts the patterns of all rules in one budget, and reports the entry that exceeds it', () => {
    const rules = (count: number): Input => {
      const rule = { type: 'waf', path_match_type: 'regex' };
      return {
        domain,
        rules: times(count, (index) => ({ ...rule, id: index + 1, path_includes: [`x${index}y`] })),
      };
    };
    expect(parseRuleSet(rules(64)).ok).toBe(true);
    expect(parseRuleSet(rules(163)).diagnostics).toMatchObject([
      { code: 'pattern_budget', path: ['rules', 64, 'path_includes', 0] },
    ]);
  });

  it('reports only the first mistakes of an input that has thousands, and stops reading there', () => {
    const bad = { type: 'waf', path_includes: times(200, () => '/%') };
    const { diagnostics } = parseRuleSet({ domain, rules: times(10_000, (id) => ({ ...bad, id: id + 1 })) });
    expect(diagnostics).toHaveLength(501);
    expect(diagnostics.at(-1)).toMatchObject({ code: 'too_many_mistakes', severity: 'info' });
  });

  const warned = (count: number): Input[] =>
    times(count, (index) => ({ id: index + 1, type: 'rewrite', path_target: '/a/../b', query_target: '' }));

  it('reads an input with hundreds of warnings to its end', () => {
    const rules = [...warned(600), { id: 601, type: 'drop', path_includes: ['/admin/*'] }];
    const parsed = parseRuleSet({ domain, rules });
    expect(parsed.diagnostics).toHaveLength(501);
    expect(parsed.ok && parsed.ruleSet.rules.length).toBe(601);
  });

  it('reports an error that comes after hundreds of warnings', () => {
    const parsed = parseRuleSet({ domain, rules: [...warned(600), { id: 601, type: 'drop', ips: ['x'] }] });
    expect(parsed.ok).toBe(false);
    expect(parsed.diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
      { code: 'invalid_ip', path: ['rules', 600, 'ips', 0] },
    ]);
    expect(parsed.diagnostics).toHaveLength(501);
  });

  it('shortens what it repeats of an input', () => {
    const long = 'x'.repeat(10_000_000);
    const input = {
      domain: { name: long, [long]: 1 },
      records: [{ ...record, destination: long, comment: long }],
      rules: [
        { id: 1, type: 'waf', path_match_type: 'regex', path_includes: [long], action_mode: long, [long]: 1 },
      ],
    };
    for (const message of told(parseRuleSet(input))) expect(message.length).toBeLessThan(600);
  });
});

describe('a domain', () => {
  it.each(['example.com', 'EXAMPLE.com.', 'bücher.example', 'a'])('takes `%s`', (name) => {
    expect(parseDomain({ name }).ok).toBe(true);
  });
  it.each(['', '*.a', 'a b', 'a:80', '192.0.2.1', '[::1]', 'https://a', 'a..b'])('refuses `%s`', (name) => {
    expect(parseDomain({ name }).ok).toBe(false);
  });
  it('brings the name to canonical form', () => {
    expect(parseDomain({ name: 'BÜCHER.Example.' })).toMatchObject({
      domain: { name: 'xn--bcher-kva.example' },
    });
  });
  it('holds the developer mode to RFC 3339', () => {
    const until = (developer_mode_until: unknown): boolean =>
      parseDomain({ ...domain, developer_mode_until }).ok;
    for (const fine of ['2030-01-31T12:00:00Z', '2030-01-31t12:00:00.5+02:00', null])
      expect(until(fine)).toBe(true);
    for (const bad of ['2030-01-31', 'tomorrow', '2030-13-01T00:00:00Z', 1_900_000_000, '']) {
      expect(until(bad)).toBe(false);
    }
  });
  it('ignores the settings that do not shape a decision', () => {
    const answer = {
      id: 1,
      dns_mode: 'managed',
      ssl: {},
      my_role: 'owner',
      cache_cap_mb: 128,
      permissions: [],
    };
    expect(parseDomain({ ...domain, ...answer })).toMatchObject({ ok: true, diagnostics: [] });
    expect(told(parseDomain({ ...domain, stauts: 1 }))).toEqual([
      'stauts: is not a known field; did you mean `status`?',
    ]);
  });
  it('warns about a status under which nothing is served', () => {
    expect(parseDomain({ ...domain, status: 'pending' })).toMatchObject({
      ok: true,
      diagnostics: [{ severity: 'warning' }],
    });
    expect(parseDomain({ ...domain, status: 'moved' })).toMatchObject({ ok: true, diagnostics: [] });
  });
});

describe('a record', () => {
  const fine = (fields: Input): boolean => parseRecord({ ...record, ...fields }, 'example.com').ok;

  it('has these defaults', () => {
    const least = { id: 1, name: '@', type: 'A', destination: '192.0.2.1' };
    expect(parseRecord(least, 'example.com')).toMatchObject({
      ok: true,
      record: {
        ...least,
        mx_priority: null,
        proxied: false,
        captcha: false,
        scheme: 'Default',
        port: null,
        host_header: '',
        monitor: false,
        timeout: null,
        comment: '',
      },
    });
  });
  it('holds its bounds', () => {
    const bounds: [string, readonly unknown[], readonly unknown[]][] = [
      ['port', [1, 65_535, null], [0, 65_536]],
      ['timeout', [1, 1800, null], [0, 1801]],
      ['mx_priority', [0, 65_535, null], [-1, 65_536]],
      ['id', [1, 4_294_967_295], [0, 4_294_967_296, undefined]],
      ['scheme', ['Default', 'Auto', 'Http', 'Https', 'http', 'AUTO'], ['ftp', '']],
      ['comment', ['x'.repeat(1000)], ['x'.repeat(1001)]],
      [
        'name',
        ['@', 'www', 'www.example.com', 'www.example.com.', '*', '*.a', '_dmarc'],
        ['', 'a b', 'a.*', 'x*', '*x'],
      ],
      ['name', [], ['www.other.test.', 'a..b', 'a:80']],
      ['host_header', ['', 'a:80'], ['a b']],
      ['destination', ['192.0.2.1'], ['', '1', '::1', 'a']],
    ];
    for (const [field, accepted, refused] of bounds) {
      for (const value of accepted) expect(fine({ [field]: value }), `${field} ${String(value)}`).toBe(true);
      for (const value of refused) expect(fine({ [field]: value }), `${field} ${String(value)}`).toBe(false);
    }
  });
  it('proxies only what the edge can carry', () => {
    const destinations = { A: '192.0.2.1', AAAA: '::1', CNAME: 'a.test', ALIAS: 'a.test' };
    for (const [type, destination] of Object.entries(destinations))
      expect(fine({ type, destination })).toBe(true);
    for (const type of ['MX', 'TXT', 'NS', 'SRV', 'CAA', 'PTR', 'HTTPS', 'SVCB', 'TLSA']) {
      expect(fine({ type, destination: 'x' })).toBe(false);
      expect(fine({ type, destination: 'x', proxied: false })).toBe(true);
    }
  });
  it('holds its destination to its type', () => {
    expect(fine({ type: 'AAAA', destination: '192.0.2.1' })).toBe(false);
    expect(fine({ type: 'CNAME', destination: '192.0.2.1' })).toBe(false);
    expect(fine({ type: 'CNAME', destination: '2001:db8::1' })).toBe(false);
    expect(fine({ type: 'CNAME', destination: 'target.example.net.' })).toBe(true);
  });
  it.each([
    ['@', 'example.com'],
    ['www', 'www.example.com'],
    ['WWW.Example.com', 'www.example.com'],
    ['example.com', 'example.com'],
    ['notexample.com', 'notexample.com.example.com'],
    ['www.example.com.', 'www.example.com'],
    ['other.test.', null],
    ['bücher', 'xn--bcher-kva.example.com'],
    ['*', '*.example.com'],
  ])('stands under `%s` for %s', (name, absolute) =>
    expect(absoluteName(name, 'example.com')).toBe(absolute),
  );
});

describe('nearest', () => {
  it.each([
    ['hots_includes', 'host_includes'],
    ['dry-run', 'dry_run'],
    ['LIMIT', 'limit'],
    ['unrelated', null],
    ['', null],
    ['x'.repeat(1000), null],
  ])('of `%s` is %s', (word, expected) => {
    expect(nearest(word, ['host_includes', 'dry_run', 'limit'])).toBe(expected);
  });
});

/** Values near enough to the real ones that most checks are reached. */
const scalar = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, 100, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, ''),
  fc.constantFrom(
    '*',
    '/*',
    '(',
    '$1',
    '/$1',
    'regex',
    'exact',
    'wildcard',
    'include',
    'exclude',
    'replace',
    'alt_origin',
  ),
  fc.constantFrom(
    '10.0.0.0/8',
    '::/0',
    'RU',
    'a.example',
    '__proto__',
    'constructor',
    '\ud800',
    '\0',
    ...BOT_KINDS,
  ),
  fc.string(),
);
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 4 }),
  fc.dictionary(fc.string(), scalar, { maxKeys: 3 }),
);

describe('whatever the input', () => {
  it('never throws on any value', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (input) => {
          expect(Array.isArray(parseRuleSet(input).diagnostics)).toBe(true);
          expect(parseRuleSet({ domain: input, records: input, rules: [input] }).ok).toBe(false);
          for (const type of RULE_TYPES) expect(typeof parseRule(type, input).ok).toBe('boolean');
        },
      ),
    );
  });

  it('never throws on nearly right rules, and what it accepts it accepts again unchanged', () => {
    const rule = fc.constantFrom(...RULE_TYPES).chain((type) => {
      const field = fc.tuple(fc.constantFrom(...Object.keys(RULE_FORMS[type].fields)), value);
      const fields = fc.array(field, { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));
      return fields.map((own) => ({ type, input: { ...LEAST[type], ...own } }));
    });
    let accepted = 0;
    fc.assert(
      fc.property(rule, ({ type, input }) => {
        const parsed = parseRule(type, input);
        if (!parsed.ok) {
          expect(parsed.diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
          for (const text of told(parsed)) expect(text).not.toMatch(/undefined|\[object|Invalid/);
          return;
        }
        accepted++;
        const again = parseRule(type, parsed.fields);
        expect(again).toMatchObject({ ok: true, fields: parsed.fields });
      }),
      { numRuns: 1_500 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it('refuses what cannot be read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const getter = {
      get domain(): unknown {
        throw new Error('no');
      },
    };
    for (const input of [proxy, getter, { domain, rules: [getter] }, { domain, records: proxy }]) {
      expect(parseRuleSet(input)).toMatchObject({ ok: false, diagnostics: [{ code: 'unreadable' }] });
    }
  });

  it('ends on circular, deep and wide data', () => {
    const circular: Input = { domain };
    circular['rules'] = [circular];
    expect(parseRuleSet(circular).ok).toBe(false);
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(parseRuleSet({ domain, rules: [deep] }).ok).toBe(false);
    const sparse: unknown[] = [];
    sparse.length = 4_000_000_000;
    expect(parseRuleSet({ domain, rules: [{ id: 1, type: 'waf', path_includes: sparse }] }).ok).toBe(false);
    const wide = Object.fromEntries(times(200_000, (index) => [`key${index}`, index]));
    expect(
      parseRuleSet({ domain, rules: [{ id: 1, type: 'error_page', codes: [500], content: wide }] }).ok,
    ).toBe(false);
    expect(parseRuleSet(wide).ok).toBe(false);
  });

  it('takes `__proto__` for a field like any other', () => {
    const input: unknown = JSON.parse('{"domain":{"name":"example.com","__proto__":{"status":"moved"}}}');
    expect(told(parseRuleSet(input))).toEqual([
      expect.stringMatching(/^domain\.__proto__: is not a known field; the fields are `name`, /),
    ]);
    expect(({} as Input)['status']).toBeUndefined();
  });
});
