import { describe, expect, it } from 'vitest';
import { describeDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { nearest } from '../../../../src/rules/model/nearest.ts';
import { parseRule } from '../../../../src/rules/model/parse.ts';
import { RULE_FORMS } from '../../../../src/rules/model/rule.ts';

const FIELDS = [...new Set(RULE_TYPES.flatMap((type) => Object.keys(RULE_FORMS[type].fields)))];

describe('the nearest known word', () => {
  it.each([
    ['priorty', 'priority'],
    ['proirity', 'priority'],
    ['pirority', 'priority'],
    ['rpiority', 'priority'],
    ['host_include', 'host_includes'],
    ['host_inlcudes', 'host_includes'],
    ['hst_includes', 'host_includes'],
    ['hsot_inclde', 'host_includes'],
    ['host-includes', 'host_includes'],
    ['hostIncludes', 'host_includes'],
    ['host_exclude', 'host_excludes'],
    ['path_exlcudes', 'path_excludes'],
    ['Path_Includes', 'path_includes'],
    ['ip', 'ips'],
    ['isp', 'ips'],
    ['ip_s', 'ips'],
    ['code', 'codes'],
    ['mod', 'mode'],
    ['contries', 'countries'],
    ['treshold', 'threshold'],
    ['thershhold', 'threshold'],
    ['edge_tll_sec', 'edge_ttl_sec'],
    ['edge_ttl_secs', 'edge_ttl_sec'],
    ['windowsec', 'window_sec'],
    ['preserv_quary', 'preserve_query'],
    ['orgins', 'origins'],
    ['adress', 'address'],
  ])('for `%s` is `%s`', (word, meant) => {
    expect(nearest(word, FIELDS)).toBe(meant);
  });

  it.each([
    ['path_includes', ['host_includes', 'host_excludes']],
    ['path_match_type', ['host_match_type', 'ip_match_type']],
    ['country_includes', ['host_includes', 'path_includes']],
    ['host_includes', ['host_excludes']],
    ['includes', ['excludes']],
    ['inclusions', ['exclusions']],
    ['max_ttl', ['min_ttl']],
    ['id', ['ip', 'ips']],
    ['code', ['mode']],
    ['post', ['host', 'port_range']],
    ['edge_ttl', ['edge_ttl_sec']],
    ['ttl_sec', ['edge_ttl_sec']],
    ['query_target', ['path_target']],
    ['alt_port', ['alt_dest']],
    ['match_ja4', ['match_ja4h_list']],
    ['rule-1', ['rule-2']],
    ['fast', ['slow']],
    ['unrelated', ['enabled']],
    ['disabled', ['enabled']],
    ['', ['ips', 'port']],
    ['x'.repeat(41), ['x'.repeat(40)]],
  ])('for `%s` is none of %j', (word, known) => {
    expect(nearest(word, known)).toBeNull();
  });

  it('is never another field that a type has', () => {
    for (const field of FIELDS) {
      const others = FIELDS.filter((other) => other !== field);
      const said = nearest(field, others);
      expect([field, said]).toEqual([field, ALIKE.get(field) ?? null]);
    }
  });

  it('is not suggested by an origin_pool for a path filter', () => {
    const input = {
      origins: [{ address: 'origin.example' }],
      path_includes: ['/a'],
      path_match_type: 'exact',
    };
    expect(parseRule('origin_pool', input).diagnostics.map(describeDiagnostic)).toEqual([
      'path_includes: is not a known field; rules of this type match hosts, not paths',
      'path_match_type: is not a known field; rules of this type match hosts, not paths',
    ]);
  });
});

/** Fields whose names are one slip apart, and mean the same of one thing or several. */
const ALIKE = new Map<string, string>([
  ['target', 'targets'],
  ['targets', 'target'],
  ['record_id', 'record_ids'],
  ['record_ids', 'record_id'],
  ['match_ja4', 'match_ja4h'],
  ['match_ja4h', 'match_ja4'],
]);
