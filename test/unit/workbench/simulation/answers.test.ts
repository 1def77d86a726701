/** What traces, would-haves and mutants say of statuses of drop rules and of captures of redirects. */
import { describe, expect, it } from 'vitest';
import { actionMutations } from '../../../../src/workbench/mutation/action-mutations.ts';
import { likelyCircles } from '../../../../src/workbench/proofs/circles.ts';
import { compileSubject, effectOf, nameOfRule } from '../../../../src/workbench/proofs/subject.ts';
import { simulate } from '../../../../src/workbench/simulation/simulate.ts';
import { rule, ruleSet } from '../../../support/sample-rules.ts';
import { asked, subjectOf } from './shop.ts';

const FILE = subjectOf(`
domain: example.com
records: [{ name: '@', type: A, destination: 192.0.2.1, proxied: true }]
rules:
  - { key: gone, type: drop, path_includes: [/gone/*], status: 410 }
  - { key: first, type: drop, path_includes: [/dry/*], action_mode: dry_run }
  - { key: second, type: drop, path_includes: [/dry/*], status: 451, action_mode: dry_run }
  - key: moved
    type: redirect
    path_match_type: regex
    path_includes: ['^/old/(?P<rest>.*)$']
    target: /new/\${rest}
    target_mode: captures
  - key: dotted
    type: redirect
    path_match_type: regex
    path_includes: ['^/dots/(.*)$']
    target: /.$1/x
    target_mode: captures
`);

const at = (path: string): ReturnType<typeof simulate> => simulate(FILE, asked(`https://example.com${path}`));
const noteOf = (path: string, key: string) =>
  at(path)
    .phases.flatMap(({ rules }) => rules)
    .find((one) => one.key === key)!;

describe('a trace', () => {
  it('of a dropped request has the status of the rule', () => {
    expect(at('/gone/a').decision).toMatchObject({ status: 410, text: 'Blocked with 410 by drop #1' });
  });
  it('of dry_run drop rules says what each would have answered', () => {
    const told = at('/dry/a').would_have.map(({ status, text }) => [status, text]);
    expect(told).toEqual([
      [403, 'drop #2 would have answered 403'],
      [451, 'drop #3 would have answered 451'],
    ]);
  });
  it('of a redirect with captures has the location and its groups', () => {
    expect(at('/old/a/b').decision.text).toBe('Redirected with 302 to /new/a/b by redirect #4');
    expect(noteOf('/old/a/b', 'moved').reason).toEqual({ code: 'redirected', text: '→ /new/a/b ($1 = a/b)' });
  });
  it('of one that makes a dot segment says that the request is refused, and why', () => {
    expect(at('/dots/').decision.text).toBe('Refused with 400 by redirect #5');
    expect(noteOf('/dots/', 'dotted').reason).toEqual({
      code: 'dot_segment',
      text: 'its location holds a dot segment ($1 = )',
    });
  });
});

describe('a mutant', () => {
  const changes = (one: Parameters<typeof actionMutations>[0]): readonly string[] =>
    actionMutations(one).map(({ field, change }) => `${field.join('.')}: ${change}`);
  it('has another status if the rule has one of its own', () => {
    expect(changes(rule('drop', 1))).toEqual([]);
    expect(changes(rule('drop', 1, { status: 410 }))).toEqual(['status: `410` → `421`']);
  });
  it('has a literal target if the rule takes captures', () => {
    const captures = { path_match_type: 'regex', path_includes: ['(.*)'], target: '/a$1' } as const;
    const told = changes(rule('redirect', 1, { ...captures, target_mode: 'captures' }));
    expect(told).toContain('target_mode: `captures` → `literal`');
    expect(told.join()).not.toContain('preserve_path');
    expect(changes(rule('redirect', 1)).join()).not.toContain('target_mode');
  });
});

describe('a proof', () => {
  it('takes drop rules of different statuses for different effects', () => {
    const subject = compileSubject(
      ruleSet({
        rules: [
          rule('drop', 1, { ips: ['192.0.2.1'] }),
          rule('drop', 2, { ips: ['192.0.2.2'], status: 403 }),
          rule('drop', 3, { ips: ['192.0.2.3'], status: 404 }),
          rule('bot_route', 4),
        ],
      }),
    );
    const effects = subject.rules.map((one) => `${nameOfRule(one)} ${effectOf(subject, one)}`);
    expect(effects).toEqual([
      'drop/1 block 403',
      'drop/2 block 403',
      'drop/3 block 404',
      'bot_route/4 block 403',
    ]);
  });
  it('finds circles of redirects with captures', () => {
    const to = (id: number, from: string, target: string) =>
      rule('redirect', id, {
        ...{ path_match_type: 'regex', path_includes: [from], target, target_mode: 'captures' },
      });
    const there = [to(1, '^/a/(.*)$', '/b/$1'), to(2, '^/b/(.*)$', '/a/$1')];
    expect(likelyCircles(ruleSet({ rules: there })).map(({ rules }) => rules.map(nameOfRule))).toEqual([
      ['redirect/1', 'redirect/2'],
    ]);
    const onward = [to(1, '^/a/(.*)$', '/b/$1'), to(2, '^/b/(.*)$', '/c/$1')];
    expect(likelyCircles(ruleSet({ rules: onward }))).toEqual([]);
  });
});
