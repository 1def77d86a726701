/** How rules with conditions are shown: in the table of phases, folded, and check by check. */
import { describe, expect, it } from 'vitest';
import type { RuleNote } from '../../../../src/workbench/simulation/document.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { renderTrace } from '../../../../src/workbench/simulation/render.ts';
import { renderWhy } from '../../../../src/workbench/simulation/render-why.ts';
import type { RequestFlags } from '../../../../src/workbench/simulation/request-line.ts';
import { simulate } from '../../../../src/workbench/simulation/simulate.ts';
import { asked, subjectOf } from './shop.ts';

const URL = 'https://example.com/';

/** The document of a request under drop rules with these conditions. */
function documentOf(conditions: readonly string[], flags: RequestFlags = {}, url = URL) {
  const rules = conditions.map((text, place) => `  - { id: ${place + 1}, type: drop, conditions: ${text} }`);
  const head =
    'domain: example.com\nrecords: [{ name: "@", type: A, destination: 192.0.2.1, proxied: true }]\nrules:\n';
  return simulate(subjectOf(`${head}${rules.join('\n')}\n`), asked(url, flags));
}

/** The lines of phase 1, without its name. */
function phaseLines(...given: Parameters<typeof documentOf>): readonly string[] {
  const text = paint(renderTrace(documentOf(...given), { width: 200, all: false }), false);
  const lines = text.split('\n').map((line) => line.slice('   1 drop        '.length).trimEnd());
  const from = text.split('\n').findIndex((line) => line.startsWith('   1 drop'));
  const rest = lines.slice(from);
  return rest.slice(
    0,
    rest.findIndex((line, place) => place > 0 && !/^[+·✘]/.test(line)),
  );
}

/** Name, result, text and entry of the checks that conditions gave the only rule. */
function checksOf(conditions: string, flags: RequestFlags = {}, url = URL): readonly unknown[] {
  const rule = documentOf([conditions], flags, url).phases.flatMap(({ rules }) => rules)[0] as RuleNote;
  return rule.checks.slice(5).map(({ check, pass, text, entry }) => [check, pass, text, entry ?? null]);
}

describe('a phase', () => {
  it('shows the reason of its only rule, and names a list once', () => {
    expect(phaseLines(['{ methods: [POST] }'])).toEqual([
      '· drop #1  skipped  method GET is not in conditions.methods [POST]  edge.yaml:4',
    ]);
    expect(phaseLines(['{ headers: [{ name: x-a, op: present }] }'])).toEqual([
      '· drop #1  skipped  header x-a is absent  conditions.headers[0] · edge.yaml:4',
    ]);
  });

  it('counts rules that were skipped by conditions by what these read', () => {
    const conditions = [
      '{ methods: [POST] }',
      '{ methods: [PUT] }',
      '{ headers: [{ name: x-a, op: present }] }',
      '{ query: [{ name: a, op: present }] }',
      '{ user_agents: { includes: ["*curl*"] } }',
      '{ ips: { includes: [192.0.2.0/24] } }',
      '{ asns: { includes: [64496] } }',
      '{ bot_kinds: { includes: ["*"] } }',
    ];
    expect(phaseLines(conditions)).toEqual([
      '+ 5 skipped by method (2), header (1), query parameter (1), User-Agent (1) · 3 skipped: no address given (1), no autonomous system given (1), no known bot (1)',
    ]);
  });
});

describe('a check of a condition', () => {
  it('has the entry that decided, and none where no entry of `excludes` did', () => {
    const ips = '{ ips: { includes: [192.0.2.0/24], excludes: [192.0.2.1, 192.0.2.7] } }';
    expect(checksOf(ips, { ip: '192.0.2.7' })).toEqual([
      [
        'ip',
        true,
        'address 192.0.2.7 is in conditions.ips.includes [192.0.2.0/24]',
        'conditions.ips.includes[0]',
      ],
      [
        'ip',
        false,
        'address 192.0.2.7 is in conditions.ips.excludes [192.0.2.7]',
        'conditions.ips.excludes[1]',
      ],
    ]);
    expect(checksOf(ips, { ip: '192.0.2.8' })[1]).toEqual([
      'ip',
      true,
      'address 192.0.2.8 is not in conditions.ips.excludes [192.0.2.1, 192.0.2.7]',
      null,
    ]);
  });

  it('names one of several values only if it compares', () => {
    const query = '{ query: [{ name: a, op: equals, values: [x, y] }] }';
    expect(checksOf(query, {}, `${URL}?a=y`)).toEqual([
      ['query', true, 'query parameter a equals [y]', 'conditions.query[0].values[1]'],
    ]);
    expect(checksOf(query, {}, `${URL}?a=z`)).toEqual([
      ['query', false, 'query parameter a has no value that equals [x, y]', 'conditions.query[0]'],
    ]);
  });

  it('repeats no value of a header or cookie', () => {
    const conditions =
      '{ headers: [{ name: x-api-key, op: equals, values: [other] }], cookies: [{ name: sid, op: not_prefix, values: [o-] }] }';
    const flags = { header: ['x-api-key: s3cret'], cookie: 'sid=s3cret' };
    const document = documentOf([conditions], flags);
    expect(JSON.stringify(document)).not.toContain('s3cret');
    const rule = document.phases.flatMap(({ rules }) => rules)[0]!;
    const why = paint(renderWhy(rule, { width: 200, wouldMatch: null, signatures: null }), false);
    expect(why).toContain('header   header x-api-key has no value that equals [other]');
    expect(why).not.toContain('s3cret');
  });

  it('says of a visitor that is no bot that it is none', () => {
    const bots = '{ bot_kinds: { includes: [gptbot] } }';
    expect(checksOf(bots)[0]).toEqual([
      'kind',
      null,
      'the visitor is no classified bot, so it is in no conditions.bot_kinds.includes',
      'conditions.bot_kinds.includes[0]',
    ]);
    expect(checksOf(bots, { userAgent: 'SomeCrawler/1.0 (+https://example.net/bot)' })[0]).toMatchObject({
      1: false,
      2: 'bot generic-bot is not in conditions.bot_kinds.includes [gptbot]',
    });
  });
});

it('what a condition needs and the request lacks is assumed', () => {
  const assumed = documentOf([
    '{ asns: { excludes: [64496] } }',
    '{ countries: { includes: [DE] } }',
  ]).assumptions;
  expect(assumed).toEqual([
    { input: 'country', value: 'not given', affects: ['drop/2'] },
    { input: 'asn', value: 'not given', affects: ['drop/1'] },
  ]);
});
