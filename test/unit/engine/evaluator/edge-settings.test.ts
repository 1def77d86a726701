/** What a plan tells the node besides decisions. */
import { describe, expect, it } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { printPlan } from '../../../../src/engine/compiler/print.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { openPlan } from '../../../../src/engine/plan/seal.ts';
import { rule, ruleSet } from '../../../support/sample-rules.ts';

const SWITCHES = [
  'sec_no_sniff',
  'sec_referrer_policy',
  'sec_strip_headers',
  'markdown_for_agents',
  'websockets_off',
] as const;
const NAMES = {
  sec_no_sniff: 'noSniff',
  sec_referrer_policy: 'referrerPolicy',
  sec_strip_headers: 'stripHeaders',
  markdown_for_agents: 'markdownForAgents',
  websockets_off: 'webSocketsOff',
} as const;

const POOL = rule('origin_pool', 9, {
  host_header: 'inner',
  origins: [
    { address: 'a', port: null, scheme: 'http', weight: 1, node_ids: [], country: '' },
    { address: 'b', port: 8443, scheme: 'https', weight: 0, node_ids: [3], country: '' },
  ],
  health_check: {
    enabled: true,
    path: '/up',
    interval_sec: 7,
    timeout_sec: 2,
    unhealthy_threshold: 4,
    healthy_threshold: 3,
    eject_sec: 60,
    host: 'probe.example',
  },
});

describe('the settings of a plan', () => {
  it.each(SWITCHES)('%s is on alone', (name) => {
    const bytes = seal(compile(ruleSet({ domain: { [name]: true } })).plan);
    const settings = loadPlan(bytes).settings();
    expect(SWITCHES.filter((one) => settings[NAMES[one]])).toEqual([name]);
    expect(printPlan(openPlan(bytes)).domain).toMatchObject({ [name]: true });
  });

  it('the settings of a plan have the sizes of the caches', () => {
    const domain = { cache_cap_mb: 4096, cache_l2_max_gb: 100_000, cache_l2_ttl_days: 3 } as const;
    const bytes = seal(compile(ruleSet({ domain })).plan);
    expect(loadPlan(bytes).settings()).toMatchObject({
      cacheCapMb: 4096,
      diskMaxGb: 100_000,
      diskTtlDays: 3,
    });
    expect(printPlan(openPlan(bytes)).domain).toMatchObject(domain);
  });

  it('the settings of a plan list every pool with its origins in order and its health check', () => {
    const quiet = rule('origin_pool', 10, { origins: POOL.type === 'origin_pool' ? POOL.origins : [] });
    const { pools } = loadPlan(seal(compile(ruleSet({ rules: [quiet, POOL] })).plan)).settings();
    expect(pools).toEqual([
      {
        id: 9,
        hostHeader: 'inner',
        origins: [
          { address: 'a', port: 80, scheme: 'http' },
          { address: 'b', port: 8443, scheme: 'https' },
        ],
        health: {
          path: '/up',
          host: 'probe.example',
          intervalSec: 7,
          timeoutSec: 2,
          unhealthyThreshold: 4,
          healthyThreshold: 3,
        },
        ejection: { failures: 4, seconds: 60 },
      },
      expect.objectContaining({ id: 10, health: null, ejection: { failures: 3, seconds: 30 } }),
    ]);
  });

  it('pools without probes eject origins as their rule says', () => {
    if (POOL.type !== 'origin_pool') throw new Error('POOL is a pool');
    const { origins, health_check } = POOL;
    const own = { ...health_check, enabled: false, unhealthy_threshold: 1, eject_sec: 0 };
    const rules = [
      rule('origin_pool', 8, { origins, health_check: own }),
      POOL,
      rule('origin_pool', 10, { origins }),
    ];
    const bytes = seal(compile(ruleSet({ rules })).plan);
    expect(
      loadPlan(bytes)
        .settings()
        .pools.map(({ ejection }) => ejection),
    ).toEqual([
      { failures: 1, seconds: 0 },
      { failures: 4, seconds: 60 },
      { failures: 3, seconds: 30 },
    ]);
    const printed = (given: Uint8Array): readonly object[] =>
      printPlan(openPlan(given)).rules as readonly object[];
    expect(printed(bytes)[0]).toMatchObject({ ejection: { failures: 1, seconds: 0 } });
    const usual = printed(seal(compile(ruleSet({ rules: rules.slice(1) })).plan));
    expect(usual.some((one) => 'ejection' in one)).toBe(false);
  });
});
