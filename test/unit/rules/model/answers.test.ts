/** Statuses of drop rules and captures of redirects: what is stored, and what is refused with which remedy (semantics §14). */
import { describe, expect, it } from 'vitest';
import { DROP_STATUSES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import { insertsGroups } from '../../../../src/rules/model/groups.ts';
import { rule, ruleSet } from '../../../support/sample-rules.ts';
import { mistakes, stored, warnings } from './read.ts';

describe('the status of a drop rule', () => {
  it.each(DROP_STATUSES.slice(1))('%d is stored as written', (status) => {
    expect(stored('drop', { status })).toMatchObject({ status });
  });
  it('is absent if it is left out, or 403, so that the rule is stored as before the field existed', () => {
    expect(JSON.stringify(stored('drop', { status: 403 }))).toBe(JSON.stringify(stored('drop', {})));
    expect(Object.keys(stored('drop', {}))).not.toContain('status');
  });
  it.each([200, 400, 500, '404', null])('%j is refused', (status) => {
    expect(mistakes('drop', { status }).join()).toMatch(/^status: must be one of `403`, `404`/);
  });
});

describe('a redirect with captures', () => {
  const CAPTURES = { target_mode: 'captures', path_match_type: 'regex', path_includes: ['^/a/(.*)$'] };
  const told = (fields: object): string => mistakes('redirect', { ...CAPTURES, ...fields }).join();

  it.each(['/b/$1', '/b', '/$$', '/b?q=$1#$1', 'https://b.example/$1', 'https://b.example?q=$1'])(
    'may have the target `%s`',
    (target) => {
      expect(told({ target })).toBe('');
      expect(stored('redirect', { ...CAPTURES, target })).toMatchObject({ target, target_mode: 'captures' });
    },
  );
  it.each([
    ['$1', 'must be an absolute http or https address, or a path that starts with one `/`, found `$1`'],
    ['//$1', 'must start with exactly one `/`'],
    ['https://$1', 'must name an ASCII host after `://`, as literal text'],
    ['https://b.example$1/', 'groups of `target_mode: captures` may be in the path, query and fragment'],
    ['https://b.example:$1/', 'as literal text'],
    ['$1://b.example/', 'must be an absolute http or https address'],
    ['/b/../$1', 'must not hold a dot segment'],
    ['/b/$2', 'target: refers to a group that no entry of `path_includes` has, found `$2`'],
    ['/b/${rest}', 'found `${rest}`'],
    ['/b/$0', 'groups are numbered from 1'],
    ['/b/$', 'write `$$` for a literal `$`'],
  ])('may not have the target `%s`', (target, part) => expect(told({ target })).toContain(part));

  it('needs regexes', () => {
    const wildcard = { target_mode: 'captures', path_includes: ['/a/*'], target: '/b/$1' };
    expect(mistakes('redirect', wildcard)).toEqual([
      'target_mode: must not be `captures` while `path_match_type` is `wildcard`, which has no groups; set `path_match_type` to `regex`, or leave `target_mode` out',
    ]);
  });
  it('does not append the path', () => {
    expect(told({ target: '/b', preserve_path: true })).toMatch(
      /^preserve_path: must not be true while `target_mode` is `captures`.*; put the path into a group/,
    );
  });
  it('refuses patterns whose groups cost too much to find', () => {
    const costly = `^/${'(a|b|c)?'.repeat(60)}`;
    expect(told({ target: '/b/$1', path_includes: [costly] })).toMatch(/^path_includes\[0\]: has \d+ /);
  });
  it('warns of nothing', () => expect(warnings('redirect', { ...CAPTURES, target: '/b/$1' })).toEqual([]));
});

describe('a literal redirect', () => {
  it('is stored without a mode, so that the rule is stored as before the field existed', () => {
    const literal = stored('redirect', { target_mode: 'literal' });
    expect(JSON.stringify(literal)).toBe(JSON.stringify(stored('redirect', {})));
  });
  it.each([['words'], [null], [1]])('does not have the mode %j', (target_mode) => {
    expect(mistakes('redirect', { target_mode }).join()).toContain('must be one of `literal`, `captures`');
  });
  it('inserts no groups, whatever its paths are', () => {
    expect(insertsGroups(rule('redirect', 1, { path_match_type: 'regex' }))).toBe(false);
    expect(insertsGroups(rule('redirect', 1, { target_mode: 'captures' }))).toBe(true);
    expect(insertsGroups(rule('rewrite', 1, { path_match_type: 'regex' }))).toBe(true);
    expect(insertsGroups(rule('rewrite', 1))).toBe(false);
  });
});

describe('a plan', () => {
  const versionOf = (...rules: ReturnType<typeof rule>[]): number =>
    openPlan(seal(compile(ruleSet({ rules })).plan, { revision: 1 })).version;
  const captures = { path_match_type: 'regex', path_includes: ['(.*)'], target: '/b$1' } as const;

  it('of statuses and captures is one that earlier releases refuse, and all others are as before', () => {
    expect(versionOf(rule('drop', 1, { ips: ['192.0.2.1'] }), rule('redirect', 2))).toBe(3);
    expect(versionOf(rule('drop', 1, { ips: ['192.0.2.1'], status: 403 }))).toBe(3);
    expect(versionOf(rule('drop', 1, { ips: ['192.0.2.1'], status: 410 }))).toBe(5);
    expect(versionOf(rule('redirect', 1, captures))).toBe(3);
    expect(versionOf(rule('redirect', 1, { ...captures, target_mode: 'captures' }))).toBe(5);
  });
});
