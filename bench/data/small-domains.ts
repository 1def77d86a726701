/** Small customers: 20 rules each, over a few records. */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { type Random, seeded } from '../../test/support/generate-random.ts';
import { requestOf } from './requests.ts';
import { OTHER_COUNTRIES, slug } from './words.ts';
import { ruleSetOf, type WrittenRule } from './written.ts';

const RECORDS = ['www', 'api', 'shop', 'cdn'] as const;

export interface SmallDomain {
  readonly ruleSet: RuleSet;
  /** A request to one of its hosts; every second one is aimed at a rule. */
  request(random: Random): EdgeRequest;
}

/** The domain of that number; its rules follow from the number alone. */
export function smallDomain(index: number): SmallDomain {
  const random = seeded(1_000 + index);
  const name = `${slug(random)}-${index}.example`;
  const own = random.times(12, (at) => `/${slug(random)}-${at}`);
  const rules: WrittenRule[] = [
    { type: 'drop', ips: [`${170 + (index % 80)}.${index % 256}.0.0/18`] },
    { type: 'drop', path_includes: ['*/.git/*', '*/.env'] },
    { type: 'drop', path_includes: [`${own[0]}/*`], countries: random.some(OTHER_COUNTRIES, 5) },
    {
      type: 'rate_limit',
      path_includes: ['/login'],
      limit: 500_000,
      window_sec: 60,
      key_by: 'ip',
      on_breach: 'drop',
    },
    { type: 'waf', path_includes: ['/account/*'], paranoia: 1, threshold: 5, body_cap_kb: 64 },
    { type: 'captcha', path_includes: [`${own[1]}/*`] },
    { type: 'cache', path_includes: ['*.css', '*.js', '*.png'], mode: 'force', edge_ttl_sec: 3_600 },
    { type: 'origin_route', path_includes: ['/api/*'], address: `api-${index}.example.net` },
    ...own
      .slice(2, 10)
      .map((path, at) => ({ type: 'redirect', path_includes: [path], target: `https://new.example/${at}` })),
    ...own
      .slice(10)
      .map((path) => ({ type: 'rewrite', path_includes: [`${path}/*`], path_target: '/index.html' })),
    { type: 'error_page', mode: 'svc', codes: [502, 503] },
    { type: 'cache', path_includes: ['/account/*'], mode: 'bypass' },
  ];
  const ruleSet = ruleSetOf({ domain: name, records: RECORDS, rules });
  return {
    ruleSet,
    request: (draw) =>
      requestOf(draw, {
        host: `${draw.pick(RECORDS)}.${name}`,
        ...(draw.chance(0.5) ? { path: `${draw.pick(own)}${draw.pick(['', '/a', '/b.css'])}` } : {}),
      }),
  };
}
