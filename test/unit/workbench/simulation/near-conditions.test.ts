/** Requests that rules with conditions would match: what is proposed, and that it matches as it is printed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearMatch } from '../../../../src/workbench/simulation/near-match.ts';
import { type RequestFlags, readRequest } from '../../../../src/workbench/simulation/request-line.ts';
import { simulate } from '../../../../src/workbench/simulation/simulate.ts';
import { meets, sampleValue } from '../../../../src/workbench/simulation/value-samples.ts';
import { asked, subjectOf } from './shop.ts';

const URL = 'https://example.com/';
const HEAD =
  'domain: example.com\nrecords: [{ name: "@", type: A, destination: 192.0.2.1, proxied: true }]\nrules:\n';

/** Reads the words of a shell back as URL and flags. */
function readWords(words: string): readonly [string, RequestFlags] {
  const [url = '', ...rest] = [...words.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map((match) =>
    (match[1] ?? match[2] ?? '').replaceAll("'\\''", "'"),
  );
  const flags: Record<string, string | string[]> = {};
  const names: Readonly<Record<string, string>> = { '-X': 'method', '-A': 'userAgent', '-b': 'cookie' };
  for (let at = 0; at < rest.length; at += 2) {
    const [flag = '', value = ''] = [rest[at], rest[at + 1]];
    if (flag === '-H') flags['header'] = [...((flags['header'] as string[] | undefined) ?? []), value];
    else flags[names[flag] ?? flag.slice(2)] = value;
  }
  return [url, flags as RequestFlags];
}

/** What is proposed for the last rule; its words are simulated, and must match. */
function proposedFor(rules: string, flags: RequestFlags = {}, url = URL): string | null {
  const subject = subjectOf(`${HEAD}${rules}`);
  const given = asked(url, flags);
  const last = (document: ReturnType<typeof simulate>) =>
    document.phases
      .flatMap((phase) => phase.rules)
      .find(({ id }) => id === subject.ruleSet!.rules.at(-1)!.id)!;
  const words = nearMatch(subject, given, last(simulate(subject, given)));
  if (words !== null) {
    const [read, more] = readWords(words);
    expect([words, last(simulate(subject, asked(read, more))).outcome]).toEqual([words, 'matched']);
  }
  return words;
}

const drop = (conditions: string, more = ''): string =>
  `  - { id: 9, type: drop, ${more}conditions: ${conditions} }\n`;

describe('a request that would match', () => {
  it.each([
    ['{ methods: [PUT, POST] }', {}, `${URL} -X PUT`],
    ['{ except_methods: [GET, POST] }', {}, `${URL} -X HEAD`],
    ['{ methods: [PUT, POST], except_methods: [PUT] }', {}, `${URL} -X POST`],
    ['{ schemes: [http] }', {}, 'http://example.com/'],
    ['{ countries: { includes: [DE, AT], excludes: [DE] } }', {}, `${URL} --country AT`],
    ['{ countries: { excludes: [US] } }', { country: 'US' }, `${URL} --country DE`],
    ['{ ips: { includes: [192.0.2.0/24], excludes: [192.0.2.0] } }', {}, `${URL} --ip 192.0.2.255`],
    ['{ ips: { excludes: [192.0.2.0/24] } }', { ip: '192.0.2.1' }, `${URL} --ip 203.0.113.7`],
    ['{ bot_kinds: { includes: ["*"], excludes: [gptbot] } }', {}, `${URL} --bot oai-searchbot`],
    ['{ bot_kinds: { excludes: ["*"] } }', { bot: 'gptbot' }, `${URL} --bot none`],
    ['{ verified_bot: true }', { userAgent: 'GPTBot/1.0' }, `${URL} --bot gptbot:verified`],
    ['{ verified_bot: false }', { bot: 'gptbot:verified' }, `${URL} --bot gptbot`],
    ['{ ja4: { includes: ["t13d*"] } }', {}, `${URL} --ja4 t13d`],
    ['{ user_agents: { includes: ["*curl*"] } }', {}, `${URL} -A curl`],
    ['{ user_agents: { excludes: ["*curl*"] } }', { userAgent: 'curl/8' }, URL],
    ['{ headers: [{ name: X-A, op: present }] }', {}, `${URL} -H 'x-a: x'`],
    ['{ headers: [{ name: x-a, op: absent }] }', { header: ['x-a: 1'] }, URL],
    ['{ headers: [{ name: x-a, op: equals, values: [""] }] }', {}, `${URL} -H 'x-a;'`],
    ['{ headers: [{ name: x-a, op: prefix, values: ["a b"] }] }', {}, `${URL} -H 'x-a: a b'`],
    ['{ headers: [{ name: x-a, op: not_equals, values: ["1"] }] }', { header: ['x-a: 1'] }, URL],
    ['{ cookies: [{ name: sid, op: regex, values: ["^[0-9]{3}$"] }] }', {}, `${URL} -b 'sid=000'`],
    ['{ cookies: [{ name: sid, op: suffix, values: ["Z"], ignore_case: true }] }', {}, `${URL} -b 'sid=z'`],
    ['{ query: [{ name: "a b", op: wildcard, values: ["x*&z"] }] }', {}, `'${URL}?a%20b=x%26z'`],
  ] as const)('%s', (conditions, flags, words) => {
    expect(proposedFor(drop(conditions), flags)).toBe(words);
  });

  it('meets all that is asked of one value', () => {
    const headers =
      '[{ name: x-a, op: prefix, values: [ab] }, { name: x-a, op: contains, values: [cd] }, { name: x-a, op: not_equals, values: [abcd] }]';
    expect(proposedFor(drop(`{ headers: ${headers} }`))).toMatch(/ -H 'x-a: ab.cd'$/);
  });

  it('changes a parameter and leaves the others', () => {
    const conditions = '{ query: [{ name: a, op: equals, values: ["1"] }, { name: b, op: absent }] }';
    expect(proposedFor(drop(conditions), {}, `${URL}?c=3&a=2&b=4&a=5`)).toBe(`'${URL}?c=3&a=1'`);
  });

  it('meets the lists of a type and of conditions at once', () => {
    expect(
      proposedFor(drop('{ countries: { excludes: [DE] } }', 'countries: [DE, AT], '), { country: 'DE' }),
    ).toBe(`${URL} --country AT`);
    const bots = `  - { id: 9, type: bot_route, bot_kinds: [gptbot, ccbot], action: tag, conditions: { bot_kinds: { excludes: [gptbot] } } }\n`;
    expect(proposedFor(bots, { userAgent: 'GPTBot/1.0' })).toBe(`${URL} --bot ccbot`);
  });

  it('states what the rule needs of the request besides, but not the values of its headers', () => {
    const conditions =
      '{ methods: [POST], headers: [{ name: authorization, op: prefix, values: ["Bearer "] }, { name: x-b, op: present }] }';
    const flags = {
      method: 'POST',
      ip: '192.0.2.9',
      header: ['Authorization: Bearer s3cret', 'x-c: s3cret'],
    };
    expect(proposedFor(drop(conditions, 'ips: [192.0.2.0/24], '), flags)).toBe(
      `${URL} -X POST --ip 192.0.2.9 -H 'authorization: Bearer x' -H 'x-b: x'`,
    );
  });

  it('gets the tag that the rule asks for', () => {
    const rules = `  - { id: 1, key: ai, type: bot_route, bot_kinds: [gptbot], action: tag, conditions: { methods: [POST] } }
  - { id: 9, type: redirect, target: /x, conditions: { tags: { includes: [TAG] }, query: [{ name: q, op: present }] } }
`;
    for (const tag of ['bot_route/ai', 'ai'])
      expect(proposedFor(rules.replace('TAG', tag))).toBe(`'${URL}?q=x' -X POST --bot gptbot`);
  });

  it('is not proposed where none is known', () => {
    expect(proposedFor(drop('{ headers: [{ name: x-a, op: equals, values: ["\\u0001"] }] }'))).toBe(null);
    const both = '{ headers: [{ name: x-a, op: present }, { name: x-a, op: absent }] }';
    expect(proposedFor(drop(both))).toBe(null);
    expect(proposedFor(drop('{ cookies: [{ name: a, op: regex, values: ["^;$"] }] }'))).toBe(null);
  });
});

describe('a sample of values', () => {
  const comparison = fc.constantFrom('equals', 'prefix', 'suffix', 'contains', 'wildcard', 'regex');
  const compared = fc.record({
    comparison,
    values: fc.array(fc.stringMatching(/^[aB*.^+]{1,4}$/), { minLength: 1, maxLength: 3 }),
    ignoreCase: fc.boolean(),
  });

  it('meets the demand, as a header that is sent', () => {
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(compared, { minLength: 1, maxLength: 3 }),
        fc.array(compared, { maxLength: 2 }),
        (within, outside) => {
          const all = [...within, ...outside];
          fc.pre(all.every(isAccepted));
          const text = sampleValue({ member: 'headers', within, outside });
          if (text === null) return;
          found++;
          expect(within.map((one) => meets(one, text))).toEqual(within.map(() => true));
          expect(outside.map((one) => meets(one, text))).toEqual(outside.map(() => false));
          const read = readRequest(URL, { header: [text === '' ? 'x-a;' : `x-a: ${text}`], now: 0 });
          expect(read.ok && read.value.headers?.['x-a']).toBe(text);
        },
      ),
    );
    expect(found).toBeGreaterThan(10);
  });

  it('is compared as the evaluator compares', () => {
    fc.assert(
      fc.property(compared, fc.stringMatching(/^[aAbB*.]{1,6}$/), (one, text) => {
        fc.pre(isAccepted(one));
        const { comparison: op, values, ignoreCase: ignore_case } = one;
        const rule = { name: 'x-a', op, values, ignore_case };
        const subject = subjectOf(`${HEAD}${drop(`{ headers: [${JSON.stringify(rule)}] }`)}`);
        const outcome = simulate(subject, asked(URL, { header: [`x-a: ${text}`] })).decision.action;
        expect(outcome).toBe(meets(one, text) ? 'block' : 'forward');
      }),
      { numRuns: 60 },
    );
  });

  /** Whether a regex parses; other values all do. */
  function isAccepted({
    comparison: op,
    values,
  }: {
    comparison: string;
    values: readonly string[];
  }): boolean {
    if (op !== 'regex') return true;
    try {
      return values.every(
        (value) => new RegExp(value, 'u') !== null && !/[*+.^]{2}|^[*+]|\^[*+]/.test(value),
      );
    } catch {
      return false;
    }
  }
});
