import { describe, expect, it } from 'vitest';
import type { DropRule, OriginPoolRule, RuleSet } from '../../../../src/rules/model/types.ts';
import { DOMAIN } from '../../../support/sample-rules.ts';
import {
  BLOCKED,
  FORWARDED,
  phase,
  rule,
  SHOP_PHASES,
  SHOP_TRACE,
  shopDocument,
  shopInput,
} from './sample.ts';

const NO_PAGE = { page: null, matches: [], shadow: null };

describe('the trace document', () => {
  it('contains the outcome, the plan and the request to the origin', () => {
    const document = shopDocument();
    expect(document.format).toBe('edgeplan.trace/v1');
    expect(document.decision).toEqual({
      action: 'forward',
      status: null,
      by: { type: 'origin_route', id: 71, key: 'api' },
      text: 'Forwarded to https://10.0.4.9:8443/v2/orders?id=7',
    });
    expect(document.effective).toMatchObject({
      origin: 'https://10.0.4.9:8443',
      host_header: 'api.internal',
      path: '/v2/orders',
      query: 'id=7',
      record: { id: 12, name: 'shop.example.com' },
      cache: null,
    });
    expect(document.counts).toEqual({ considered: 8, matched: 4, out_of_scope: 1, disabled: 1 });
  });

  it('lists the phases in the order of the trace and adds key and place to rules', () => {
    const document = shopDocument();
    expect(document.phases.map((one) => one.name)).toEqual(SHOP_PHASES.map((one) => one.name));
    const [embargo] = document.phases.flatMap((one) => one.rules);
    expect(embargo).toMatchObject({ id: 57, key: 'embargo', at: 'edge.yaml:31', effect: 'would_block' });
  });

  it('is unchanged by JSON.stringify and JSON.parse', () => {
    const document = shopDocument();
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('lists what dry_run rules would have answered, and the shadow decision', () => {
    const document = shopDocument();
    expect(document.would_have).toEqual([
      {
        action: 'block',
        status: 403,
        by: { type: 'drop', id: 57, key: 'embargo' },
        text: 'drop #57 would have answered 403',
      },
    ]);
    expect(document.shadow?.text).toBe('Blocked with 403 by drop #57');
  });

  it('takes the status of a dry_run redirect from the shadow, and is null without one', () => {
    const moved = rule({
      type: 'redirect',
      id: 33,
      mode: 'dry_run',
      outcome: 'matched',
      effect: 'redirect',
      reason: ['redirected', 'to /new'],
    });
    const shadow = {
      ...BLOCKED,
      action: 'redirect' as const,
      status: 308,
      rule: { type: 'redirect' as const, id: 33 },
    };
    const phases = [phase('redirect', [moved])];
    const sure = shopDocument({ trace: { ...SHOP_TRACE, decision: { ...FORWARDED, shadow }, phases } });
    expect(sure.would_have[0]?.status).toBe(308);
    const open = shopDocument({
      trace: { ...SHOP_TRACE, decision: { ...FORWARDED, shadow: BLOCKED }, phases },
    });
    expect(open.would_have[0]).toMatchObject({ status: null, text: 'redirect #33 would have answered' });
  });

  it('does not list effects that only observe under would_have', () => {
    const counted = rule({
      type: 'rate_limit',
      id: 18,
      mode: 'dry_run',
      outcome: 'matched',
      effect: 'counted',
      reason: ['under_limit', 'request 1 of 5'],
    });
    const document = shopDocument({ trace: { ...SHOP_TRACE, phases: [phase('rate_limit', [counted])] } });
    expect(document.would_have).toEqual([]);
    expect(document.phases[0]?.rules[0]?.effect).toBe('counted');
  });

  it('writes an IPv6 origin in brackets and omits a port that the scheme implies', () => {
    const origin = { ...FORWARDED.origin!, address: '2001:db8::1', port: 443 };
    const document = shopDocument({ trace: { ...SHOP_TRACE, decision: { ...FORWARDED, origin } } });
    expect(document.effective.origin).toBe('https://[2001:db8::1]');
  });

  it('marks a bot that only isbot recognised as generic', () => {
    expect(shopDocument({ genericBot: true }).request.bot?.from).toBe('generic');
    expect(shopDocument().request.bot?.from).toBe('user-agent');
  });
});

describe('error pages', () => {
  const page = { kind: 'custom' as const, html: '<p>sorry', rule: { type: 'error_page' as const, id: 12 } };
  const matches = [
    { type: 'error_page' as const, id: 12, mode: 'enforce' as const, effect: 'error_page' as const },
  ];

  it('are matched or not reached once a status is known', () => {
    const document = shopDocument({
      errorPage: { status: 502, madeBy: 'origin', answer: { page, matches, shadow: null } },
    });
    expect(document.error_page).toEqual({
      status: 502,
      made_by: 'origin',
      page: 'custom',
      html: '<p>sorry',
      by: { type: 'error_page', id: 12, key: null },
    });
    expect(document.phases.at(-1)?.rules[0]).toMatchObject({ outcome: 'matched', effect: 'error_page' });
  });

  it('are skipped when they do not list the status', () => {
    const document = shopDocument({ errorPage: { status: 404, madeBy: 'origin', answer: NO_PAGE } });
    expect(document.error_page?.page).toBe(null);
    expect(document.phases.at(-1)?.rules[0]?.reason).toEqual({
      code: 'status_not_listed',
      text: 'status 404 is not in codes',
    });
  });

  it('are conditional while no status is known', () => {
    expect(shopDocument().error_page).toBe(null);
    expect(shopDocument().phases.at(-1)?.rules[0]?.outcome).toBe('conditional');
  });
});

describe('assumptions', () => {
  const inputs = (document = shopDocument()) => document.assumptions.map((one) => one.input);

  it('are listed only with the rules that depend on them', () => {
    expect(shopDocument().assumptions).toEqual([
      { input: 'ja4', value: 'not given', affects: ['fingerprint/5'] },
      { input: 'rate_counters', value: 'empty', affects: ['rate_limit/18'] },
    ]);
  });

  it('do not list a fact that was given', () => {
    const request = { ...shopInput().request, ja4: 't13d1516h2_8daaf6152771_b186095e22b6' };
    expect(inputs(shopDocument({ request }))).toEqual(['rate_counters']);
  });

  it('list a fact only where all other checks of a rule passed', () => {
    const unknown = { check: 'country' as const, pass: null, text: 'the country is unknown' };
    const sketch = { type: 'drop' as const, id: 7, outcome: 'skipped' as const };
    const near = rule({ ...sketch, reason: ['country_unknown', 'unknown'], checks: [unknown] });
    const far = rule({
      ...sketch,
      reason: ['path_not_included', 'elsewhere'],
      checks: [{ check: 'path', pass: false, text: 'elsewhere' }, unknown],
    });
    const request = { ...shopInput().request, country: null };
    const withRule = (one: typeof near) =>
      shopDocument({ request, trace: { ...SHOP_TRACE, phases: [phase('drop', [one])] } });
    expect(withRule(near).assumptions).toEqual([
      { input: 'country', value: 'not given', affects: ['drop/7'] },
    ]);
    expect(withRule(far).assumptions).toEqual([]);
  });

  it('list the challenge where a captcha rule was reached, unless clearance was given', () => {
    const asked = rule({
      type: 'captcha',
      id: 9,
      outcome: 'matched',
      effect: 'challenge',
      reason: ['challenge_unsolved', 'not solved'],
    });
    const trace = { ...SHOP_TRACE, phases: [phase('captcha', [asked])] };
    expect(shopDocument({ trace }).assumptions).toEqual([
      { input: 'challenge', value: 'not solved', affects: ['captcha/9'] },
    ]);
    const request = { ...shopInput().request, cleared: ['captcha/8'] };
    expect(inputs(shopDocument({ trace, request }))).toEqual([]);
  });

  it('list the turns of a pool with several origins, and their health only when it was not given', () => {
    const pool = rule({
      type: 'origin_pool',
      id: 80,
      outcome: 'matched',
      effect: 'origin',
      reason: ['chosen', 'origin 0'],
    });
    const trace = { ...SHOP_TRACE, phases: [phase('origin', [pool])] };
    expect(inputs(shopDocument({ trace }))).toEqual(['origin_health', 'origin_turns']);
    const world = { ...shopInput().world, down: ['80/0'] };
    expect(inputs(shopDocument({ trace, world }))).toEqual(['origin_turns']);
    const single = { id: 80, type: 'origin_pool', lb_type: 'geo', origins: [{ address: 'a' }] };
    const ruleSet = {
      domain: { developer_mode_until: null },
      records: [],
      rules: [single as unknown as OriginPoolRule],
    };
    expect(inputs(shopDocument({ trace, ruleSet: ruleSet as unknown as RuleSet }))).toEqual(['node_id']);
  });

  it('list missing signatures', () => {
    const waf = rule({
      type: 'waf',
      id: 30,
      outcome: 'matched',
      effect: 'unavailable',
      reason: ['no_signatures', 'no signatures are loaded'],
    });
    const document = shopDocument({ trace: { ...SHOP_TRACE, phases: [phase('waf', [waf])] } });
    expect(document.assumptions).toEqual([
      { input: 'waf_signatures', value: 'none loaded', affects: ['waf/30'] },
    ]);
  });

  it('do not list the clock where only counters read it', () => {
    expect(
      inputs(shopDocument({ ruleSet: { domain: DOMAIN, records: [], rules: [] as DropRule[] } })),
    ).not.toContain('clock');
  });
});
