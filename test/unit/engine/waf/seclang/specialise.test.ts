import { describe, expect, test } from 'vitest';
import { idsOf, levelOf, saidOf } from './support.ts';

/** An action without a request's say that nobody hears of. */
const action = (id: number, actions: string, phase = 1): string =>
  `SecAction "id:${id},phase:${phase},nolog,pass,${actions}"\n`;
const open = (id: number, actions = 'pass', phase = 1): string =>
  `SecRule REQUEST_URI "@streq /${id}" "id:${id},phase:${phase},nolog,${actions}"\n`;
const when = (id: number, condition: string, actions: string, phase = 1): string =>
  `SecRule ${condition} "id:${id},phase:${phase},nolog,pass,${actions}"\n`;

test('rules that no request matches with the settings of the set are named, those that only prepare others are not', () => {
  const text = [
    action(1, 'setvar:tx.limit_b=9'),
    'SecRule &TX:limit_a "@eq 1" "id:2,phase:2,deny,chain"\nSecRule ARGS "@gt %{tx.limit_a}"\n',
    'SecRule &TX:limit_b "@eq 1" "id:3,phase:2,deny,chain"\nSecRule ARGS "@gt %{tx.limit_b}"\n',
    when(4, '&TX:limit_a "@eq 1"', 'setvar:tx.c=1'),
    'SecRule TX:paranoia_level "@eq 3" "id:5,phase:2,deny,chain"\nSecRule ARGS x\n',
  ].join('');
  expect(saidOf(text)).toEqual([
    'info: 1 rule that matches no request with the settings of the set left out: 2',
  ]);
});

describe('the initial values of a level', () => {
  test('have the paranoia level under the names of version 3 and 4', () => {
    expect(levelOf(open(1), 3).initial).toEqual({
      blocking_paranoia_level: '3',
      detection_paranoia_level: '3',
      executing_paranoia_level: '3',
      paranoia_level: '3',
    });
  });

  test('include assignments that every request executes', () => {
    const text = [
      action(1, "setvar:tx.a=1,setvar:tx.b=%{tx.a}2,setvar:tx.a=+4,setvar:'tx.Gone=x',setvar:!tx.gone"),
      when(2, '&TX:c "@eq 0"', 'setvar:tx.c=new'),
      when(3, '&TX:a "@eq 0"', 'setvar:tx.a=no'),
      when(4, 'TX:A "@eq 5"', 'setvar:tx.d=-3'),
      open(9),
    ].join('');
    const { rules, initial } = levelOf(text);
    expect(rules.map(({ id }) => id)).toEqual([9]);
    expect(initial).toMatchObject({ a: '5', b: '12', c: 'new', d: '-3' });
    expect(initial).not.toHaveProperty('gone');
  });

  test('do not include assignments to the level and the threshold', () => {
    const text = `${action(1, 'setvar:tx.paranoia_level=4,setvar:tx.inbound_anomaly_score_threshold=9')}${when(2, '&TX:inbound_anomaly_score_threshold "@eq 0"', 'setvar:tx.x=1')}${when(3, 'TX:inbound_anomaly_score_threshold "@ge 5"', 'setvar:tx.y=1')}`;
    const { rules, initial } = levelOf(text, 2);
    expect(rules.map(({ id }) => id)).toEqual([3]);
    expect(initial).toMatchObject({ paranoia_level: '2' });
    expect(Object.keys(initial)).toHaveLength(4);
  });

  test('do not change after a residual rule has read the variable', () => {
    const text = `${action(1, 'setvar:tx.a=1')}${when(2, 'REQUEST_URI "@streq %{tx.a}%{tx.b}"', 'setvar:tx.hit=1')}${action(3, 'setvar:tx.a=2,setvar:tx.b=3')}${when(4, 'REQUEST_URI "@streq %{tx.a}"', 'setvar:tx.hit=1')}`;
    const { rules, initial } = levelOf(text);
    expect(rules.map(({ id }) => id)).toEqual([2, 3, 4]);
    expect(initial).toMatchObject({ a: '1' });
    expect(initial).not.toHaveProperty('b');
    expect(rules[0]!.conditions[0]!.operator).toMatchObject({
      value: [{ kind: 'literal', text: '1' }, { name: 'b' }],
    });
    expect(rules[2]!.conditions[0]!.operator).toEqual({
      kind: 'streq',
      value: [{ kind: 'literal', text: '2' }],
    });
  });

  test.each([
    ['a name', 'TX:a "@eq 1"', 'setvar:tx.q=1'],
    ['a pattern', 'TX:/^a/ "@eq 1"', 'setvar:tx.q=1'],
    ['a count', '&TX "@gt 90"', 'setvar:tx.q=1'],
    ['a write', 'REQUEST_URI "x"', 'setvar:tx.a=7'],
    ['a write by a name that is put together', 'REQUEST_URI "x"', 'setvar:tx.a%{tx.0}=7'],
    ['a message', 'REQUEST_URI "x"', "msg:'%{tx.a}',log"],
  ])('do not change after the variable was used by %s', (_name, condition, actions) => {
    const text = `${when(1, 'REQUEST_URI "y"', 'setvar:tx.a=0')}${when(2, condition, actions)}${action(3, 'setvar:tx.a=1')}`;
    const { rules, initial } = levelOf(text);
    expect(rules.map(({ id }) => id)).toContain(3);
    expect(initial).not.toHaveProperty('a');
  });

  test('a score that rules add to starts with its initial value', () => {
    const text = `${action(1, 'setvar:tx.score=0,setvar:tx.critical=5')}${open(2, 'pass,setvar:tx.score=+%{tx.critical}')}${when(3, 'TX:score "@ge 5"', 'setvar:tx.q=1')}`;
    const { rules, initial } = levelOf(text);
    expect(rules.map(({ id }) => id)).toEqual([2, 3]);
    expect(initial).toMatchObject({ score: '0' });
    expect(rules[0]!.conditions[0]!.setVars).toEqual([
      {
        kind: 'add',
        name: [{ kind: 'literal', text: 'score' }],
        value: [{ kind: 'literal', text: '5' }],
        sign: 1,
      },
    ]);
  });
});

describe('rules that do not depend on the request', () => {
  const level = (id: number, n: number): string =>
    when(id, `TX:DETECTION_PARANOIA_LEVEL "@lt ${n}"`, 'skipAfter:END');

  test('execute their jump at compile time', () => {
    const text = `${level(1, 1)}${open(10)}${level(2, 2)}${open(20)}${level(3, 3)}${open(30)}${open(40, 'pass', 2)}SecMarker END\n${open(50)}`;
    expect([1, 2, 3, 4].map((paranoia) => idsOf(text, paranoia))).toEqual([
      [10, 50, 40],
      [10, 20, 50, 40],
      [10, 20, 30, 50, 40],
      [10, 20, 30, 50, 40],
    ]);
  });

  test.each([
    ['TX:x "@eq 1"', false],
    ['&TX:x "@eq 0"', true],
    ['TX:paranoia_level "!@ge 2"', true],
    ['TX:paranoia_level "@rx ^[1-3]$"', true],
    ['TX:paranoia_level "@within 0 1 2"', true],
    ['IP:block "@eq 1"', false],
    ['IP:block "!@eq 1"', false],
    ['&IP:block "@eq 0"', true],
    ['RESPONSE_STATUS "@eq 0"', false],
    ['TX:paranoia_level "@unconditionalMatch"', true],
    ['TX:paranoia_level "@noMatch"', false],
  ])('%s: %s', (condition, holds) => {
    const { rules, initial } = levelOf(when(1, condition, 'setvar:tx.hit=1'));
    expect(rules).toEqual([]);
    expect(initial['hit']).toBe(holds ? '1' : undefined);
  });

  test('remain if they depend on the request', () => {
    expect(idsOf(when(1, 'TX:paranoia_level|REQUEST_URI "@eq 1"', 'setvar:tx.a=1'))).toEqual([1]);
    expect(idsOf(when(1, 'TX:1 "@eq 1"', 'setvar:tx.a=1'))).toEqual([1]);
    expect(idsOf(`${open(2, 'pass,setvar:tx.a=1')}${when(1, 'TX:a "@eq 1"', 'setvar:tx.b=1')}`)).toEqual([
      2, 1,
    ]);
  });

  test('remain without their condition if they are reported or disruptive', () => {
    const text = `SecRule TX:paranoia_level "@ge 1" "id:1,phase:1,pass,log,msg:'on'"\n`;
    expect(levelOf(text).rules[0]).toMatchObject({
      id: 1,
      conditions: [{ targets: -1, operator: { kind: 'unconditionalMatch' } }],
    });
  });

  test('a chain whose last condition never matches is dropped, unless an earlier one has an effect', () => {
    const chain = (actions: string): string =>
      `SecRule REQUEST_URI "x" "id:1,phase:1,nolog,pass,chain${actions}"\nSecRule TX:no "@eq 1"\n`;
    expect(idsOf(chain(''))).toEqual([]);
    expect(idsOf(chain(',setvar:tx.a=1'))).toEqual([1]);
  });

  test('remove other rules for every request', () => {
    expect(idsOf(`${action(1, 'ctl:ruleRemoveById=10-19')}${open(10)}${open(20)}`)).toEqual([20]);
    expect(idsOf(`${action(1, 'ctl:ruleRemoveByTag=^a$')}${open(10, "pass,tag:'a'")}${open(20)}`)).toEqual([
      20,
    ]);
  });

  test('an unsupported construct is no error in a rule that no request reaches', () => {
    const text = `${when(1, 'TX:paranoia_level "@ge 1"', 'skipAfter:END')}SecRule GEO:X "@rbl x" "id:2,phase:1"\nSecMarker END\n${open(3)}`;
    expect(saidOf(text)).toEqual([
      'info: 1 rule that matches no request with the settings of the set left out: 2',
    ]);
  });
});

describe('jumps that depend on the request', () => {
  test('lead to the first residual rule after the marker', () => {
    const text = `${open(1, 'pass,skipAfter:M')}${open(2)}SecMarker M\n${action(3, 'setvar:tx.a=1')}${open(4)}${open(5, 'pass', 2)}`;
    expect(levelOf(text).rules.map(({ id, skipTo }) => [id, skipTo])).toEqual([
      [1, 2],
      [2, -1],
      [4, -1],
      [5, -1],
    ]);
  });

  test('lead to the end of the phase if the marker is missing', () => {
    const text = `${open(1, 'skipAfter:NO')}${open(2)}${open(3, 'allow:phase', 2)}${open(4, 'pass', 2)}`;
    expect(levelOf(text).rules.map(({ skipTo, disruption }) => [skipTo, disruption])).toEqual([
      [2, 'pass'],
      [-1, 'pass'],
      [-1, 'allowPhase'],
      [-1, 'pass'],
    ]);
  });

  test('make the assignments of skipped rules unknown', () => {
    const text = `${open(1, 'pass,skipAfter:M')}${action(2, 'setvar:tx.a=1')}SecMarker M\n${when(3, 'TX:a "@eq 1"', 'setvar:tx.b=1')}`;
    const { rules, initial } = levelOf(text);
    expect(rules.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(initial).not.toHaveProperty('a');
  });

  test('an unconditional jump remains if another jump leads between it and its target', () => {
    const text = `${open(1, 'pass,skipAfter:IN')}${when(2, 'TX:paranoia_level "@lt 2"', 'skipAfter:OUT')}${open(3)}SecMarker IN\n${open(4)}SecMarker OUT\n${open(5)}`;
    expect(levelOf(text).rules.map(({ id, skipTo }) => [id, skipTo])).toEqual([
      [1, 3],
      [2, 4],
      [3, -1],
      [4, -1],
      [5, -1],
    ]);
    expect(idsOf(text, 2)).toEqual([1, 3, 4, 5]);
  });
});

describe('rules that some requests remove', () => {
  const remover = open(1, 'pass,ctl:ruleRemoveByTag=CRS');
  const skip = (tag: string): string => when(2, 'TX:paranoia_level "@lt 2"', `skipAfter:END${tag}`);

  test('are executed at compile time if the rules they skip are removed with them', () => {
    expect(idsOf(`${remover}${skip(',tag:CRS')}${open(3, 'pass,tag:CRS')}SecMarker END\n${open(4)}`)).toEqual(
      [1, 4],
    );
  });

  test('remain if the rules they skip are not removed with them', () => {
    expect(idsOf(`${remover}${skip(',tag:CRS')}${open(3)}SecMarker END\n${open(4)}`)).toEqual([1, 2, 3, 4]);
    expect(idsOf(`${remover}${skip('')}${open(3)}SecMarker END\n${open(4)}`)).toEqual([1, 4]);
  });

  test('make the variables they assign unknown', () => {
    const text = `${remover}${action(2, 'setvar:tx.a=1,tag:CRS')}${when(3, 'TX:a "@eq 1"', 'setvar:tx.b=1')}`;
    expect(idsOf(text)).toEqual([1, 2, 3]);
  });

  test('remain if their only target may be removed', () => {
    const text = `${open(1, 'pass,ctl:ruleRemoveTargetById=2;TX')}${when(2, 'TX:paranoia_level "@ge 1"', 'setvar:tx.a=1')}`;
    expect(idsOf(text)).toEqual([1, 2]);
  });
});
