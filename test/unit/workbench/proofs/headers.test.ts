/** Headers rules in proofs: when they act, what a change of one is, and the mistakes that tests should notice. */
import { expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { type ProvedChanges, proveChanges } from '../../../../src/workbench/proofs/changes.ts';
import { changeInput } from '../../../../src/workbench/proofs/differences.ts';
import { lintRuleSet } from '../../../../src/workbench/proofs/lint.ts';
import { proveReach } from '../../../../src/workbench/proofs/reach.ts';
import { knownOf } from '../../../../src/workbench/proofs/rule-types.ts';
import { compileSubject } from '../../../../src/workbench/proofs/subject.ts';
import { rule } from '../../../support/sample-rules.ts';

type Fields = Readonly<Record<string, unknown>>;

const RECORDS = [{ id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true }];

function ruleSetOf(rules: readonly Fields[]): RuleSet {
  const numbered = rules.map((one, index) => ({ id: index + 1, priority: index + 1, ...one }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, records: RECORDS, rules: numbered });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return parsed.ruleSet;
}

function changesOf(before: readonly Fields[], after: readonly Fields[]): ProvedChanges {
  const [was, now] = [before, after].map((rules) => seal(compile(ruleSetOf(rules)).plan, { revision: 1 }));
  return proveChanges(
    changeInput({ opened: openPlan(was!), bytes: was! }, { opened: openPlan(now!), bytes: now! }),
  );
}

const named = ({ changes }: ProvedChanges): readonly string[] =>
  changes.map(({ component, kind, before, after }) =>
    [component, kind, before?.ref.id ?? 'none', after?.ref.id ?? 'none'].join(' '),
  );

const set = (name: string, value: string, fields: Fields = {}): Fields => ({
  type: 'headers',
  response: { set: { [name]: value } },
  ...fields,
});

test('a rule is reached behind rules that end every request, and behind others of its type', () => {
  const rules = [
    { type: 'redirect', target: 'https://elsewhere.test/' },
    set('X-A', '1'),
    set('X-A', '2'),
    set('X-B', '1', { conditions: { tags: { includes: ['bot_route/5'] } } }),
    { type: 'bot_route', bot_kinds: ['gptbot'], action: 'tag' },
  ];
  const reach = proveReach(compileSubject(ruleSetOf(rules)));
  const found = reach.filter((one) => one.rule.type === 'headers').map(({ result }) => result.kind);
  expect(found).toEqual(['reached', 'reached', 'reached']);
  expect(lintRuleSet(ruleSetOf(rules)).filter(({ code }) => code === 'shadowed_rule')).toEqual([]);
});

test('another value, another name and a removed rule are changes, with a request that shows each', () => {
  expect(named(changesOf([set('X-A', '1')], [set('X-A', '2')]))).toEqual(['headers outcome 1 1']);
  expect(named(changesOf([set('X-A', '1')], [set('X-B', '1')]))).toEqual(['headers outcome 1 1']);
  expect(named(changesOf([set('X-A', '1')], []))).toEqual(['headers outcome 1 none']);
  expect(named(changesOf([set('X-A', '1')], [set('X-A', '1')]))).toEqual([]);
});

test('a change behind a rule that ends every request is one: its answer has the headers, too', () => {
  const redirect = { type: 'redirect', target: 'https://elsewhere.test/', id: 9 };
  const { changes } = changesOf([redirect, set('X-A', '1')], [redirect, set('X-A', '2')]);
  expect(changes.map(({ profiles }) => profiles.after.decision.action)).toEqual(['redirect']);
});

test('the order of two rules that set the same header is an outcome', () => {
  const [first, second] = [set('X-A', '1', { id: 1 }), set('X-A', '2', { id: 2 })];
  const swapped = [
    { ...first, priority: 20 },
    { ...second, priority: 10 },
  ];
  expect(named(changesOf([first, second], swapped))).toEqual(['headers order 1 2']);
});

test('a rule whose value has the tag of a rule that changes is a change', () => {
  const bots = (kind: string): Fields => ({ type: 'bot_route', bot_kinds: [kind], action: 'tag', id: 5 });
  const tagged = { type: 'headers', request: { set: { 'X-Bot': '${tag(bot_route/5)}' } }, id: 6 };
  const { changes, open } = changesOf([bots('gptbot'), tagged], [bots('ccbot'), tagged]);
  expect([...changes, ...open].some(({ component }) => component === 'bot_tag')).toBe(true);
});

test('mutants leave each name out and change each value', () => {
  const made = rule('headers', 1, {
    request: { set: { 'X-A': 'secret-value' }, remove: ['Cookie'] },
    response: { add: { Link: '</a>' } },
  });
  const changes = knownOf('headers').changes(made);
  expect(changes).toEqual([
    ['request', { set: {}, remove: ['Cookie'] }, 'without request.set of `X-A`'],
    [
      'request',
      { set: { 'X-A': 'secret-valuex' }, remove: ['Cookie'] },
      'another value in request.set of `X-A`',
    ],
    ['request', { set: { 'X-A': 'secret-value' }, remove: [] }, 'without request.remove of `Cookie`'],
    ['response', { add: {} }, 'without response.add of `Link`'],
    ['response', { add: { Link: '</a>x' } }, 'another value in response.add of `Link`'],
  ]);
  expect(changes.map(([, , words]) => words).join()).not.toContain('secret');
});

test('a replay needs the facts that values insert', () => {
  const made = rule('headers', 1, { request: { set: { 'X-A': '${client_ip} ${ja4}', 'X-B': '${host}' } } });
  expect(knownOf('headers').facts(made)).toEqual(['ip', 'ja4']);
});
