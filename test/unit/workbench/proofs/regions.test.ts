/** Regions beside rules, case by case: which there are, what is shown of each, and which are proved empty. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { openRegions, type Regions } from '../../../../src/workbench/proofs/regions.ts';
import { readSubject } from '../../../../src/workbench/proofs/subject.ts';

const RECORDS = [
  { id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true },
  { id: 2, name: 'shop', type: 'A', destination: '198.51.100.2', proxied: true },
];

function regionsOf(...rules: readonly Readonly<Record<string, unknown>>[]): Regions {
  const numbered = rules.map((rule, index) => ({ id: index + 1, priority: index + 1, ...rule }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, records: RECORDS, rules: numbered });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return openRegions(readSubject(seal(compile(parsed.ruleSet).plan, { revision: 1 })));
}

describe('a rule has a region', () => {
  test('of each filter that some request does not pass', () => {
    const regions = regionsOf(
      { type: 'drop', path_includes: ['/admin/*'], ips: ['192.0.2.0/24'], countries: ['FR'] },
      { type: 'drop', record_ids: [2] },
      { type: 'rate_limit', limit: 1 },
      { type: 'bot_route', bot_kinds: ['*'], require_verified: true, action: 'tag' },
      { type: 'fingerprint', match_ja4: ['t13*'], action: 'tag' },
      { type: 'error_page', path_includes: ['/x'], mode: 'svc', codes: [502] },
    );
    expect(regions.of('drop', 1)).toEqual(['path', 'ip', 'country']);
    expect(regions.of('drop', 2)).toEqual(['host']);
    expect(regions.of('rate_limit', 3)).toEqual([]);
    expect(regions.of('bot_route', 4)).toEqual(['bot']);
    expect(regions.of('fingerprint', 5)).toEqual(['ja4']);
    // Which error page applies is a question of the response.
    expect(regions.of('error_page', 6)).toEqual([]);
    expect(regions.of('drop', 99)).toEqual([]);
  });

  test('that is empty where earlier rules end all its requests', () => {
    const regions = regionsOf(
      { type: 'drop', host_match_type: 'exact', host_includes: ['example.com'] },
      { type: 'drop', record_ids: [2], path_includes: ['/x'] },
    );
    expect(regions.find('drop', 2, 'host')).toEqual({ kind: 'empty' });
    expect(regions.find('drop', 2, 'path')).toMatchObject({
      kind: 'found',
      witness: { url: 'https://shop.example.com/' },
    });
  });

  test('whose request solves the challenges before the rule', () => {
    const regions = regionsOf(
      { type: 'captcha', ttl_sec: 60 },
      { type: 'cache', path_includes: ['/assets/*'], mode: 'bypass' },
    );
    expect(regions.find('cache', 2, 'path')).toMatchObject({
      kind: 'found',
      witness: { cleared: ['captcha/1'] },
    });
  });
});
