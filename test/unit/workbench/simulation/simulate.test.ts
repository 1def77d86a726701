import { describe, expect, it } from 'vitest';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { type RuleNote, refOf, type TraceDocument } from '../../../../src/workbench/simulation/document.ts';
import { nearMatch } from '../../../../src/workbench/simulation/near-match.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { renderTrace } from '../../../../src/workbench/simulation/render.ts';
import type { RequestFlags } from '../../../../src/workbench/simulation/request-line.ts';
import { type SimulatedRequest, simulate } from '../../../../src/workbench/simulation/simulate.ts';
import { asked, SHOP, subjectOf } from './shop.ts';

/** Past the shop's captcha. */
const SOLVED = { cleared: ['captcha/shop-captcha'] };
const URL = 'https://shop.example.com/api/orders?id=7';

describe('a refusal', () => {
  it.each([
    ['https://shop.example.com/%zz', 'target `/%zz` holds the bad escape `%zz`'],
    ['https://shop.example.com/a b c', 'target `/a b c` holds a raw space'],
    [
      'https://shop.example.com:99999/',
      'host `shop.example.com:99999` has the port 99999, which is above 65535',
    ],
  ])('of %s names the wrong part and the reason', (url, note) => {
    expect(simulate(SHOP, asked(url)).decision.text).toBe(`Refused with 400: ${note}`);
  });

  it('of a target with another authority than the Host header states that the two differ', () => {
    const given = asked('https://shop.example.com/');
    const request = { ...given.request, target: 'https://evil.test/x' };
    expect(simulate(SHOP, { ...given, request }).decision.text).toBe(
      'Refused with 400: target `https://evil.test/x` names another host, port or scheme than the Host header',
    );
  });
});

describe('simulate', () => {
  it('returns the decision of the evaluator on the sealed bytes', () => {
    const given = asked(URL, { ip: '203.0.113.7', country: 'RU', userAgent: 'GPTBot/1.2' });
    const document = simulate(SHOP, given);
    const decision = loadPlan(SHOP.bytes).evaluate(given.request);
    expect(document.plan).toMatchObject({ version: 41, domain: 'example.com' });
    expect(document.decision).toMatchObject({ action: decision.action, status: decision.status });
    expect(document.effective).toMatchObject({
      path: decision.path,
      query: decision.query,
      tags: decision.tags,
    });
    const matched = document.phases
      .flatMap((phase) => phase.rules)
      .filter((rule) => rule.outcome === 'matched')
      .map(refOf);
    expect(matched.sort()).toEqual(decision.matches.map(refOf).sort());
  });

  it('lists every rule of the plan once', () => {
    const { phases } = simulate(SHOP, asked(URL));
    const told = phases.flatMap((phase) => phase.rules.map(refOf)).sort();
    expect(told).toEqual(SHOP.ruleSet?.rules.map(refOf).sort());
  });

  it('returns the same document for the same input', () => {
    const given = asked('https://static.example.com/x', { ip: '192.0.2.200' });
    expect(simulate(SHOP, given)).toEqual(simulate(SHOP, given));
  });

  it('measures only with a stopwatch, in microseconds', () => {
    expect(simulate(SHOP, asked(URL)).timing.evaluate_us).toBe(null);
    let now = 0;
    const stopwatch = () => {
      now += 0.25;
      return now;
    };
    expect(simulate(SHOP, asked(URL, {}, { stopwatch })).timing.evaluate_us).toBe(250);
  });

  it('contains the error page for a status of the origin, and for a block of the edge', () => {
    const response = { status: 502, madeBy: 'origin' as const };
    const forwarded = simulate(SHOP, asked('https://shop.example.com/', SOLVED, { response }));
    expect(forwarded.error_page).toMatchObject({ status: 502, made_by: 'origin', by: { key: 'shop-down' } });
    const blocked = simulate(SHOP, asked('https://shop.example.com/admin/', {}, { response }));
    expect(blocked.error_page).toMatchObject({ status: 403, made_by: 'edge', page: null });
    expect(blocked.would_have.map((one) => one.text)).toEqual(['error_page #14 would have given the page']);
  });

  it('excludes origins that are down from a pool', () => {
    const url = 'https://shop.example.com/';
    const first = simulate(SHOP, asked(url, SOLVED));
    expect(first.decision.by).toMatchObject({ type: 'origin_pool', key: 'shop-pool' });
    const { world } = asked(url);
    const other = simulate(SHOP, asked(url, SOLVED, { world: { ...world, down: ['80/0'] } }));
    expect(other.decision.by).toMatchObject({ key: 'shop-pool' });
    expect(other.effective.origin).not.toBe(first.effective.origin);
    expect(first.assumptions.map((one) => one.input)).toContain('origin_health');
    expect(other.assumptions.map((one) => one.input)).not.toContain('origin_health');
  });

  it('does not classify a request whose bot was given', () => {
    const curl = { userAgent: 'curl/8' };
    expect(simulate(SHOP, asked(URL, curl)).request.bot).toMatchObject({
      kind: 'generic-bot',
      from: 'generic',
    });
    expect(simulate(SHOP, asked(URL, { ...curl, bot: 'none' })).request.bot).toBe(null);
    expect(simulate(SHOP, asked(URL, { ...curl, bot: 'ccbot' })).request.bot).toMatchObject({
      from: 'given',
    });
  });

  it('never answers for a host of another domain', () => {
    const document = simulate(SHOP, asked('https://example.org/'));
    expect(document.decision).toMatchObject({ action: 'refuse', status: 421, by: null });
    expect(document.error_page).toBe(null);
    expect(document.counts.considered).toBe(0);
  });
});

describe('the autonomous system', () => {
  it('is part of the document and of its text, and only where it is known', () => {
    const [without, known] = [{}, { asn: '64496' }].map((flags) => simulate(SHOP, asked(URL, flags)));
    expect(known!.request.asn).toBe(64_496);
    expect(known!.facts.asn).toBe(64_496);
    const lines = (document: TraceDocument): string =>
      paint(renderTrace(document, { width: 100, all: false }), false);
    expect(lines(known!)).toContain('from an unknown address · AS64496 · plan');
    expect(JSON.stringify(without)).not.toContain('"asn"');
    expect(lines(without!)).toBe(lines(known!).replace(' · AS64496', ''));
  });

  it('is an assumption where a rule depends on it, and part of a request that matches', () => {
    const rules = [
      '{ type: drop, conditions: { asns: { includes: [64500, 64501], excludes: [64500] } } }',
      '{ type: drop, conditions: { asns: { excludes: [64496] } } }',
    ];
    const subject = subjectOf(
      `domain: example.com\nrecords: [{ name: shop, type: A, destination: 192.0.2.1, proxied: true }]\nrules: [${rules.join(', ')}]\n`,
    );
    const given = asked('https://shop.example.com/');
    expect(simulate(subject, given).assumptions).toContainEqual({
      input: 'asn',
      value: 'not given',
      affects: ['drop/1', 'drop/2'],
    });
    const excluded = asked('https://shop.example.com/', { asn: '64496' });
    const rulesOf = (one: SimulatedRequest): readonly RuleNote[] =>
      simulate(subject, one).phases.flatMap((phase) => phase.rules);
    expect(nearMatch(subject, excluded, rulesOf(excluded)[0]!)).toBe('https://shop.example.com/ --asn 64501');
    expect(nearMatch(subject, excluded, rulesOf(excluded)[1]!)).toBe('https://shop.example.com/ --asn 64497');
  });
});

describe('nearMatch', () => {
  /** Reads back what was proposed and runs it. */
  function outcomeOf(words: string, ref: string): string | undefined {
    const parts = [...words.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
      (match) => match[1] ?? match[2] ?? '',
    );
    const [url = '', ...rest] = parts;
    const flags: Record<string, string> = {};
    for (let at = 0; at < rest.length; at += 2) flags[(rest[at] ?? '').slice(2)] = rest[at + 1] ?? '';
    const { phases } = simulate(SHOP, asked(url, flags as RequestFlags));
    return phases.flatMap((phase) => phase.rules).find((rule) => refOf(rule) === ref)?.outcome;
  }

  it('returns only requests that match in a simulation', () => {
    const given = asked('https://shop.example.com/nothing');
    const skipped = simulate(SHOP, given).phases.flatMap((phase) =>
      phase.rules.filter((rule) => rule.outcome === 'skipped'),
    );
    const proposed = skipped.map((rule) => ({ ref: refOf(rule), words: nearMatch(SHOP, given, rule) }));
    const found = proposed.filter(({ words }) => words !== null);
    expect(found.length).toBeGreaterThan(skipped.length * 0.7);
    for (const { ref, words } of found)
      expect([ref, outcomeOf(words!, ref)]).toEqual([ref, expect.stringMatching(/matched|conditional/)]);
  });

  it('changes only the inputs of failed checks', () => {
    const given = asked('https://shop.example.com/nothing?x=1', { ip: '203.0.113.7' });
    const find = (id: number) =>
      simulate(SHOP, given)
        .phases.flatMap((phase) => phase.rules)
        .find((rule) => rule.id === id)!;
    expect(nearMatch(SHOP, given, find(57))).toBe("'https://shop.example.com/nothing?x=1' --country RU");
    expect(nearMatch(SHOP, given, find(41))).toBe('https://shop.example.com/admin/');
    expect(nearMatch(SHOP, given, find(22))).toBe(
      "'https://shop.example.com/nothing?x=1' --bot gptbot:verified",
    );
  });

  it('is null for a rule that nothing can match, or whose fields are unknown', () => {
    const subject = subjectOf(`
domain: example.com
records: [{ name: shop, type: A, destination: 192.0.2.1, proxied: true }]
rules:
  - { type: redirect, host_includes: [nowhere.example.com], target: /x }
  - { type: captcha, enabled: false, path_includes: [/login] }
  - { type: drop, path_includes: [/a*], path_excludes: ['*'] }
`);
    const given = asked('https://shop.example.com/');
    const rules = simulate(subject, given).phases.flatMap((phase) => phase.rules);
    expect(rules.map((rule) => nearMatch(subject, given, rule))).toEqual([null, null, null]);
    const [rule] = simulate(SHOP, given).phases.flatMap((phase) =>
      phase.rules.filter((one) => one.id === 41),
    );
    expect(nearMatch({ ...SHOP, ruleSet: null }, given, rule!)).toBe(null);
  });
});
