/**
 * Drop rules that other rule engines can express too: wildcard paths, hosts, countries, prefixes. Every second request
 * is aimed at a rule, and most of those at a later one.
 */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { DropRule, RuleSet } from '../../src/rules/model/types.ts';
import { seeded } from '../../test/support/generate-random.ts';
import { requestOf, type Wanted } from './requests.ts';
import { DOMAIN, HOSTS, OTHER_COUNTRIES, RECORDS, SECTIONS, slug, VISITOR_COUNTRIES } from './words.ts';
import { ruleSetOf, type WrittenRule } from './written.ts';

export interface Drops {
  readonly ruleSet: RuleSet;
  /** In the order in which they are tried. */
  readonly rules: readonly DropRule[];
  readonly requests: readonly EdgeRequest[];
}

export function drops(count: number, pool: number): Drops {
  const random = seeded(99);
  const drawn = random.times(count, (at): { rule: WrittenRule; wanted: Wanted } => {
    const path = `/${random.pick(SECTIONS)}/${slug(random)}-d${at}`;
    const country = random.pick(VISITOR_COUNTRIES);
    const countries = [country, ...random.some(OTHER_COUNTRIES, 3)];
    const network = `${180 + (at >> 8)}.${at & 255}.16.0/20`;
    switch (at % 4) {
      case 0:
        return { rule: { type: 'drop', ips: [network] }, wanted: { ip: network.replace('.0/20', '.9') } };
      case 1:
        return {
          rule: { type: 'drop', path_includes: [`${path}/*`], countries },
          wanted: { path: `${path}/a`, country },
        };
      case 2:
        return {
          rule: { type: 'drop', path_includes: [`${path}/*.php`] },
          wanted: { path: `${path}/x.php` },
        };
      default: {
        const host = random.pick(HOSTS);
        const filter = { host_match_type: 'exact', host_includes: [host] };
        return { rule: { type: 'drop', path_includes: [`${path}*`], ...filter }, wanted: { path, host } };
      }
    }
  });
  const requests = random.times(pool, () =>
    requestOf(random, random.chance(0.5) ? random.pick(drawn).wanted : {}),
  );
  const ruleSet = ruleSetOf({ domain: DOMAIN, records: RECORDS, rules: drawn.map(({ rule }) => rule) });
  const rules = ruleSet.rules.filter((rule) => rule.type === 'drop');
  return { ruleSet, rules, requests };
}
