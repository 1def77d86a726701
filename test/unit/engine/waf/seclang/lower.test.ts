import { describe, expect, test } from 'vitest';
import type { WafOperator, WafSetVar, WafTarget } from '../../../../../src/engine/plan/signature-program.ts';
import { compileText, conditionOf, idsOf, levelOf, programOf, ruleOf, saidOf } from './support.ts';

const literal = (text: string) => ({ kind: 'literal', text }) as const;
const rule = (operator: string, actions = ''): string =>
  `SecRule ARGS "${operator}" "id:1,phase:2,pass,t:none${actions}"`;

describe('a rule', () => {
  test('has the properties of its actions', () => {
    const text = `SecRule ARGS "@rx union" "id:942100,phase:1,block,capture,multiMatch,t:none,t:urlDecodeUni,t:LOWERCASE,\\
      msg:'SQL %{TX.0}',logdata:'%{MATCHED_VAR}',tag:'attack-sqli',tag:'paranoia-level/2',severity:'CRITICAL',ver:x"`;
    const program = programOf(text);
    expect(program.levels).toHaveLength(4);
    const [found] = program.levels[3]!.rules;
    expect(found).toMatchObject({
      id: 942100,
      phase: 1,
      disruption: 'block',
      skipTo: -1,
      reported: true,
      message: [literal('SQL '), { kind: 'variable', variable: 'TX', name: '0' }],
      logData: [{ kind: 'variable', variable: 'MATCHED_VAR', name: null }],
      severity: 2,
      tags: ['attack-sqli', 'paranoia-level/2'],
      category: 'sqli',
      paranoia: 2,
    });
    const [condition] = found!.conditions;
    expect(condition).toMatchObject({ negated: false, capture: true, multiMatch: true });
    expect(program.chains[condition!.chain]).toEqual(['urlDecodeUni', 'lowercase']);
    expect(program.targets[condition!.targets]).toEqual({
      include: [{ variable: 'ARGS', selector: { kind: 'all' }, count: false }],
      exclude: [],
    });
  });

  test('belongs to phase 2, is reported and passes without actions that say otherwise', () => {
    expect(ruleOf('SecRule ARGS x id:1')).toMatchObject({
      phase: 2,
      disruption: 'pass',
      reported: true,
      severity: -1,
    });
  });

  test.each([
    ['block', 'pass', 'block'],
    ['block', 'deny', 'deny'],
    ['block', 'drop', 'deny'],
    ['drop', 'pass', 'deny'],
    ['deny', 'pass', 'deny'],
    ['pass', 'deny', 'pass'],
    ['allow', 'pass', 'allow'],
    ['allow:request', 'pass', 'allow'],
    ['nolog', 'deny', 'deny'],
  ])('%s under a default of %s is %s', (action, fallback, expected) => {
    const text = `SecDefaultAction "phase:2,log,${fallback}"\nSecRule ARGS x "id:1,phase:2,${action}"`;
    expect(ruleOf(text).disruption).toBe(expected);
  });

  test('has the transformations and logging of the default action that precedes it', () => {
    const text = `SecRule ARGS a id:1\nSecDefaultAction "phase:2,nolog,pass,t:lowercase"\nSecRule ARGS b "id:2,t:trim"\nSecRule ARGS c "id:3,log,t:none"`;
    const program = programOf(text);
    const found = program.levels[0]!.rules.map(({ reported, conditions }) => [
      reported,
      program.chains[conditions[0]!.chain],
    ]);
    expect(found).toEqual([
      [true, []],
      [false, ['lowercase', 'trim']],
      [true, []],
    ]);
  });

  test('a chain is one rule of several conditions', () => {
    const found = ruleOf(
      'SecRule ARGS a "id:1,phase:2,deny,chain,setvar:tx.a=1"\nSecRule ARGS b "t:trim,chain"\nSecRule ARGS c',
    );
    expect(found.conditions).toHaveLength(3);
    expect(found.conditions.map(({ setVars }) => setVars.length)).toEqual([1, 0, 0]);
  });

  test('rules of phases 3 to 5 are counted and left out, errors included', () => {
    const text =
      'SecRule ARGS a id:1\nSecRule RESPONSE_BODY "@rbl x" "id:2,phase:4,exec:x"\nSecAction "id:3,phase:5"';
    const { program, diagnostics } = compileText(text);
    expect(program?.levels[0]?.rules.map(({ id }) => id)).toEqual([1]);
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['seclang_responses_left_out', '2 rules of phases 3 to 5 left out: signatures inspect requests only'],
    ]);
  });
});

describe('rules with state between requests', () => {
  const warningsOf = (text: string): readonly string[] =>
    saidOf(text).filter((line) => line.includes('warning'));

  test.each([
    ['a target', 'SecRule IP:hits "@gt 5" "id:1,deny"', 'IP'],
    ['a count', 'SecRule &session:seen "@eq 0" "id:1,pass"', 'SESSION'],
    ['an operator', 'SecRule ARGS:a "@streq %{user.name}" "id:1,deny"', 'USER'],
    ['an assignment', 'SecAction "id:1,nolog,pass,setvar:tx.hits=%{GLOBAL.hits}"', 'GLOBAL'],
    ['a later link', 'SecRule ARGS x "id:1,deny,chain"\nSecRule RESOURCE:x "@eq 1"', 'RESOURCE'],
  ])('one that reads a collection in %s is a warning', (_, text, collection) => {
    expect(warningsOf(text)).toEqual([
      `a.conf:1:1: warning: 1 rule reads ${collection}, which is always empty: no state is stored between requests, found \`1\`; limit requests with a rule of type \`rate_limit\``,
    ]);
  });

  test('all of a set are one warning with their count and their ids', () => {
    const text = `SecAction "id:1,phase:1,nolog,pass,initcol:ip=%{REMOTE_ADDR}"
      SecRule REQUEST_URI "@beginsWith /login" "id:2,phase:2,pass,setvar:ip.logins=+1,expirevar:ip.logins=60"
      SecRule IP:logins "@gt 5" "id:3,phase:2,deny,status:429"
      SecRule IP:floods|SESSION:floods "@gt 5" "id:4,phase:2,deny"`;
    expect(warningsOf(text)).toEqual([
      'a.conf:3:1: warning: 2 rules read IP, SESSION, which are always empty: no state is stored between requests, found `3 4`; limit requests with a rule of type `rate_limit`',
    ]);
  });

  test.each([
    ['writes', 'SecAction "id:1,nolog,pass,initcol:ip=x,setvar:ip.a=%{ip.b}"'],
    [
      'is skipped for every request',
      'SecAction "id:1,nolog,pass,skipAfter:E"\nSecRule IP:a "@eq 1" "id:2,deny"\nSecMarker E',
    ],
    ['is removed', 'SecRule IP:a "@eq 1" "id:2,deny"\nSecRuleRemoveById 2'],
    ['leaves a member out', 'SecRule ARGS|!IP:a x "id:1,deny"'],
  ])('one that only %s is no warning', (_, text) => {
    expect(warningsOf(text)).toEqual([]);
  });
});

describe('targets', () => {
  const targetsOf = (written: string): { include: readonly WafTarget[]; exclude: readonly WafTarget[] } => {
    const program = programOf(`SecRule ${written} x id:1`);
    return program.targets[program.levels[0]!.rules[0]!.conditions[0]!.targets]!;
  };

  test('names of members keep their case, names of variables are case-insensitive', () => {
    expect(targetsOf('request_headers:User-Agent|&args').include).toEqual([
      { variable: 'REQUEST_HEADERS', selector: { kind: 'name', name: 'User-Agent' }, count: false },
      { variable: 'ARGS', selector: { kind: 'all' }, count: true },
    ]);
  });

  test('patterns in selectors ignore case', () => {
    const program = programOf('SecRule ARGS:/^a/|!ARGS:/^ab/ x id:1');
    expect(program.patterns.map(({ source, ignoreCase }) => [source, ignoreCase])).toEqual([
      ['^a', true],
      ['^ab', true],
      ['x', false],
    ]);
    expect(program.targets[0]?.exclude).toEqual([
      { variable: 'ARGS', selector: { kind: 'pattern', pattern: 1 } },
    ]);
  });

  test('a variable that is always empty is left out of a list', () => {
    expect(targetsOf('ARGS|IP:x|RESPONSE_BODY').include).toHaveLength(1);
  });
});

describe('operators', () => {
  test.each<[string, WafOperator]>([
    ['@eq 5', { kind: 'eq', value: [literal('5')] }],
    ['@LT %{tx.a}', { kind: 'lt', value: [{ kind: 'variable', variable: 'TX', name: 'a' }] }],
    ['@within a b', { kind: 'within', value: [literal('a b')] }],
    [
      '@endsWith .%{request_headers.host}',
      {
        kind: 'endsWith',
        value: [literal('.'), { kind: 'variable', variable: 'REQUEST_HEADERS', name: 'host' }],
      },
    ],
    ['@detectSQLi', { kind: 'detectSQLi' }],
    ['@unconditionalMatch', { kind: 'unconditionalMatch' }],
    ['@validateUtf8Encoding', { kind: 'validateUtf8Encoding' }],
    [
      '@ipMatch 127.0.0.1,::1, 10.1.2.3/8',
      { kind: 'ipMatch', prefixes: ['127.0.0.1/32', '::1/128', '10.0.0.0/8'] },
    ],
  ])('%s', (operator, expected) => {
    expect(conditionOf(rule(operator)).operator).toEqual(expected);
  });

  test('@validateByteRange lists the allowed octets', () => {
    const { operator } = conditionOf(rule('@validateByteRange 9,32-34, 255'));
    const allowed = operator.kind === 'validateByteRange' ? operator.allowed : [];
    expect(allowed.flatMap((one, octet) => (one ? [octet] : []))).toEqual([9, 32, 33, 34, 255]);
    expect(allowed).toHaveLength(256);
  });

  const phrases = (text: string, data: Record<string, string> = {}): readonly string[] => {
    const program = programOf(text, data);
    return program.phraseLists[0]!.phrases.map((number) => program.literals[number]!);
  };

  test('@pm has phrases in lower case, and decodes octets in hexadecimal', () => {
    expect(phrases(rule('@pm  Foo  bar |41 3B|x foo a|b'))).toEqual(['a;x', 'a|b', 'bar', 'foo']);
  });

  test('@pmFromFile has one phrase for each line that is not a comment', () => {
    expect(phrases(rule('@pmFromFile x.data'), { 'x.data': '# no\r\nSome Thing\n\n |41|\nb' })).toEqual([
      'b',
      'some thing',
      '|41|',
    ]);
    expect(phrases(rule('@pmf x y'), { x: 'a', y: 'b' })).toEqual(['a', 'b']);
  });

  test('@ipMatchFromFile has one prefix for each line', () => {
    const program = programOf(rule('@ipMatchFromFile x'), { x: '# a\n192.0.2.0/24\n' });
    expect(program.levels[0]!.rules[0]!.conditions[0]!.operator).toEqual({
      kind: 'ipMatch',
      prefixes: ['192.0.2.0/24'],
    });
  });

  test('equal patterns, lists and targets have one number', () => {
    const program = programOf(
      'SecRule ARGS "@rx a" id:1\nSecRule ARGS "@rx a" id:2\nSecRule ARGS "@pm a" id:3\nSecRule ARGS "@pm A" id:4',
    );
    expect([program.targets.length, program.patterns.length, program.phraseLists.length]).toEqual([1, 1, 1]);
  });
});

describe('setvar', () => {
  const a = [literal('a')];
  test.each<[string, WafSetVar]>([
    ['tx.a=b', { kind: 'set', name: a, value: [literal('b')] }],
    [
      'TX.A=%{tx.b}c',
      { kind: 'set', name: a, value: [{ kind: 'variable', variable: 'TX', name: 'b' }, literal('c')] },
    ],
    ['tx.a', { kind: 'set', name: a, value: [literal('1')] }],
    ['tx.a=', { kind: 'set', name: a, value: [] }],
    ['tx.a=+5', { kind: 'add', name: a, value: [literal('5')], sign: 1 }],
    [
      'tx.a=-%{tx.b}',
      { kind: 'add', name: a, value: [{ kind: 'variable', variable: 'TX', name: 'b' }], sign: -1 },
    ],
    ['!tx.a', { kind: 'unset', name: a }],
    ['tx.a=/x=y/', { kind: 'set', name: a, value: [literal('/x=y/')] }],
    [
      'tx.a_%{MATCHED_VAR_NAME}=b',
      {
        kind: 'set',
        name: [literal('a_'), { kind: 'variable', variable: 'MATCHED_VAR_NAME', name: null }],
        value: [literal('b')],
      },
    ],
    ['tx.a=%{rule.id}', { kind: 'set', name: a, value: [literal('1')] }],
  ])('%s', (value, expected) => {
    expect(conditionOf(rule('x', `,setvar:'${value}'`)).setVars).toEqual([expected]);
  });

  test('assignments to collections with state between requests are ignored', () => {
    expect(
      conditionOf(rule('x', ',setvar:ip.a=1,expirevar:ip.a=60,initcol:ip=%{remote_addr}')).setVars,
    ).toEqual([]);
  });
});

describe('ctl', () => {
  test('removes rules and targets', () => {
    const program = programOf(
      `${rule('x', ',ctl:ruleRemoveById=3-5,ctl:ruleRemoveByTag=a.c,ctl:ruleRemoveTargetById=7;ARGS:pw,ctl:ruleRemoveTargetByTag=q;REQUEST_COOKIES:/^s/,ctl:ruleRemoveByMsg=^Se')}\nSecRule ARGS y "id:9,msg:'Second'"`,
    );
    expect(program.levels[0]!.rules[0]!.conditions[0]!.controls).toEqual([
      { kind: 'ruleRemoveById', ranges: [{ from: 3, to: 5 }] },
      { kind: 'ruleRemoveByTag', pattern: 1 },
      {
        kind: 'ruleRemoveTargetById',
        ranges: [{ from: 7, to: 7 }],
        target: { variable: 'ARGS', selector: { kind: 'name', name: 'pw' } },
      },
      {
        kind: 'ruleRemoveTargetByTag',
        pattern: 3,
        target: { variable: 'REQUEST_COOKIES', selector: { kind: 'pattern', pattern: 2 } },
      },
      { kind: 'ruleRemoveById', ranges: [{ from: 9, to: 9 }] },
    ]);
    expect(program.patterns.map(({ source }) => source)).toEqual(['x', 'a.c', '^s', 'q', 'y']);
  });

  test.each([
    ['decodeRequestBody=On', { kind: 'decodeRequestBody', on: true }],
    ['forceRequestBodyVariable=On', { kind: 'forceRequestBodyVariable', on: true }],
    ['requestBodyProcessor=xml', { kind: 'requestBodyProcessor', processor: 'XML' }],
    ['ruleEngine=DetectionOnly', { kind: 'ruleEngine', mode: 'DetectionOnly' }],
  ])('%s', (control, expected) => {
    expect(conditionOf(rule('x', `,ctl:${control},ctl:auditEngine=Off`)).controls).toEqual([expected]);
  });
});

describe('amendments', () => {
  const two = `SecRule ARGS a "id:1,tag:'t-one',msg:'First'"\nSecRule ARGS b "id:2,tag:'t-two',msg:'Second'"\n`;
  test.each([
    ['SecRuleRemoveById 1', [2]],
    ['SecRuleRemoveById 2-9', [1]],
    ['SecRuleRemoveByTag ^t-o', [2]],
    ['SecRuleRemoveByMsg econd', [1]],
  ])('%s', (directive, expected) => {
    expect(idsOf(`${two}${directive}`)).toEqual(expected);
    expect(idsOf(`${directive}\n${two}`)).toEqual(expected);
  });

  test.each(['SecRuleUpdateTargetById 1', 'SecRuleUpdateTargetByTag one', 'SecRuleUpdateTargetByMsg First'])(
    '%s',
    (directive) => {
      const program = programOf(`${two}${directive} "!ARGS:x|REQUEST_URI"`);
      const lists = program.levels[0]!.rules.map(
        ({ conditions }) => program.targets[conditions[0]!.targets]!,
      );
      expect(lists.map(({ include, exclude }) => [include.length, exclude.length])).toEqual([
        [2, 1],
        [1, 0],
      ]);
    },
  );

  test('SecRuleUpdateActionById adds actions, and the last one counts', () => {
    const found = levelOf(`${two}SecRuleUpdateActionById 1 "deny,t:trim,severity:4,tag:x"`).rules[0];
    expect(found).toMatchObject({ disruption: 'deny', severity: 4, tags: ['t-one', 'x'] });
  });
});

describe('every error has a diagnostic with its place and remedy', () => {
  const at = 'a.conf:1:1: ';
  test.each<[string, string]>([
    ['SecRule ARGS x', 'error: the rule has no id; give each rule an `id` of its own'],
    [
      'SecRule ARGS x id:0',
      'error: an id is a whole number from 1 to 4294967295, found `0`; give each rule an `id` of its own',
    ],
    ['SecRule NOPE x id:1', 'error: SecLang has no variable of this name, found `NOPE`'],
    [
      'SecRule GEO:COUNTRY x id:1',
      'error: this variable is not supported, found `GEO`; take the target out of the rule, or the rule out of the text',
    ],
    [
      'SecRule REQUEST_URI:a x id:1',
      'error: this variable has one value and takes no selector, found `REQUEST_URI:a`',
    ],
    [
      'SecRule ARGS "@nope x" id:1',
      'error: SecLang has no operator of this name, found `@nope`; a pattern that starts with `@` is written `@rx @…`',
    ],
    [
      'SecRule ARGS "@rbl x" id:1',
      'error: this operator is not supported, found `@rbl`; take the rule out of the text',
    ],
    ['SecRule ARGS "@pm " id:1', 'error: no phrase is given, found ``'],
    [
      'SecRule ARGS "@pmf no" id:1',
      'error: the data file does not exist, found `no`; put it beside the file that names it',
    ],
    ['SecRule ARGS "@pmf empty" id:1', 'error: the data file holds no entry, found `empty`'],
    [
      'SecRule ARGS "@ipMatch 1.2.3" id:1',
      'error: an IPv4 address must be four numbers from 0 to 255 without leading zeros, found `1.2.3`',
    ],
    [
      'SecRule ARGS "@validateByteRange 3-300" id:1',
      'error: this is not a range of octets, found `3-300`; write octets from 0 to 255, such as `9,10,32-126`',
    ],
    [
      'SecRule ARGS "@rx a(?R)" id:1',
      'error: rule 1: recursion is not supported: `(?R)`, found `a(?R)`; write the pattern without it, or leave the rule out: `edgeplan waf compile --without 1`, or `SecRuleRemoveById 1` in the rules',
    ],
    [
      'SecRule ARGS "@rx ^%{ARGS.a}$" id:1',
      'error: a pattern whose macro depends on the request cannot be compiled ahead, found `^%{ARGS.a}$`; compare with `@streq`, `@contains` or `@within` instead',
    ],
    [
      'SecRule ARGS "@eq %{TIME}" id:1',
      'error: this macro names no known variable, found `%{TIME}`; name a variable of the request, such as `%{MATCHED_VAR}` or `%{tx.name}`',
    ],
    [
      'SecRule ARGS x "id:1,exec:x"',
      'error: this action is not supported, found `exec`; take it out of the rule',
    ],
    [
      'SecRule ARGS x "id:1,skip:2"',
      'error: this action is not supported, found `skip`; write `skipAfter` and a marker',
    ],
    ['SecRule ARGS x "id:1,nope"', 'error: SecLang has no action of this name, found `nope`'],
    ['SecRule ARGS x "id:1,constructor"', 'error: SecLang has no action of this name, found `constructor`'],
    ['SecRule ARGS x "id:1,t:nope"', 'error: this transformation is not supported, found `t:nope`'],
    [
      'SecRule ARGS x "id:1,severity:9"',
      'error: there is no such severity, found `9`; write one of EMERGENCY, ALERT, CRITICAL, ERROR, WARNING, NOTICE, INFO, DEBUG, or 0 to 7',
    ],
    [
      'SecRule ARGS x "id:1,phase:9"',
      'error: a phase is a number from 1 to 5, found `9`; write 1 for a request’s headers, 2 for its body',
    ],
    [
      'SecRule ARGS x "id:1,allow:all"',
      'error: `allow` is for a `phase` or the `request`, found `allow:all`',
    ],
    [
      'SecRule ARGS x "id:1,setvar:env.a=1"',
      'error: only variables of TX can be set, found `setvar:env.a=1`; write it as `setvar:tx.name=value`',
    ],
    [
      'SecRule ARGS x "id:1,ctl:nope=1"',
      'error: this control is not supported, found `ctl:nope=1`; take the action out of the rule',
    ],
    [
      'SecRule ARGS x "id:1,ctl:ruleRemoveById=x"',
      'error: ids are numbers or ranges, such as `1,5-9`, found `ctl:ruleRemoveById=x`',
    ],
    [
      'SecRule ARGS x "id:1,ctl:ruleRemoveTargetById=1"',
      'error: a target is missing, found `ctl:ruleRemoveTargetById=1`; write it as `ruleRemoveTargetById=942100;ARGS:id`',
    ],
    [
      'SecRule ARGS x "id:1,ctl:ruleRemoveTargetById=1;&ARGS"',
      'error: exactly one target is expected, without `!` or `&`, found `&ARGS`',
    ],
    [
      'SecRule ARGS x "id:1,ctl:ruleEngine=Maybe"',
      'error: the value must be one of On, Off, DetectionOnly, found `ctl:ruleEngine=Maybe`',
    ],
    [
      'SecRule ARGS x "id:1,chain"',
      'error: the chain that starts here has no end: a rule with `chain` is followed by no other rule; take the last `chain` off, or write the rule that belongs to it',
    ],
    [
      'SecRule ARGS x "id:1,chain"\nSecMarker M',
      'error: the chain that starts here has no end: a rule with `chain` is followed by no other rule; take the last `chain` off, or write the rule that belongs to it',
    ],
    [
      'SecDefaultAction "log"',
      'error: a default action needs a phase and a disruptive action; write it as `SecDefaultAction "phase:2,log,pass"`',
    ],
    ['SecNope on', 'error: this setting is not supported, found `SecNope`; take it out of the text'],
    ['SecRuleRemoveById x', 'error: ids are numbers or ranges, such as `1,5-9`, found `x`'],
    ['SecRuleRemoveByTag (', 'error: missing closing ), found `(`'],
    [
      'SecRuleRemoveById 7',
      'warning: no rule matches this subject, found `7`; look for a mistyped id, tag or message',
    ],
    [
      'SecRuleUpdateActionById 7 "nolog"',
      'warning: no rule matches this subject, found `7`; look for a mistyped id, tag or message',
    ],
    [
      'SecRuleUpdateActionById x "nolog"',
      'error: a rule is named by its id, `942100`, or a chain’s second one by `942100:1`, found `x`',
    ],
    [
      'SecRuleUpdateActionById 7 "id:8"',
      'error: this action of a rule cannot be changed from outside, found `id`',
    ],
    [
      'SecRuleEngine Off',
      'warning: the waf rule’s mode decides whether requests are blocked; set the waf rule’s mode instead',
    ],
    [
      'SecCollectionTimeout 600',
      'info: the setting has no effect: no state is stored between requests, found `SecCollectionTimeout`',
    ],
    [
      'SecRule ARGS:/a(?!b)/ "@rx c" id:1',
      'error: rule 1: look-around, backreferences, atomic groups and possessive quantifiers are supported in `@rx` only, not in patterns of names and tags, found `a(?!b)`; write the pattern without it, or leave the rule out: `edgeplan waf compile --without 1`, or `SecRuleRemoveById 1` in the rules',
    ],
    [
      'SecAction "id:1,deny,msg:\'no\'"',
      'warning: rule 1 denies every request: no; look whether its configuration is complete, or take the rule out',
    ],
  ])('%s', (text, expected) => {
    expect(saidOf(text, { empty: '# nothing' })).toEqual([`${at}${expected}`]);
  });

  test.each([
    'SecArgumentSeparator &',
    'SecRxPreFilter Off',
    'SecParseXmlIntoArgs Off',
    'SecAction "id:1,nolog,pass,ctl:requestBodyAccess=Off"',
    'SecAction "id:1,nolog,pass,ctl:auditEngine=Off"',
    'SecAction "id:1,nolog,pass,initcol:ip=%{REMOTE_ADDR}"',
    'SecAction "id:1,nolog,pass,setvar:ip.hits=+1"',
    'SecAction "id:1,nolog,pass,expirevar:ip.hits=60"',
    'SecRule ARGS x "id:1,deny,status:429"',
    'SecDefaultAction "phase:2,deny,log,status:404"',
  ])('%s compiles with one info', (text) => {
    const { program, diagnostics } = compileText(text);
    expect(program).not.toBeNull();
    expect(diagnostics.map(({ severity }) => severity)).toEqual(['info']);
  });

  test.each(['SecArgumentSeparator ;', 'SecParseXmlIntoArgs On'])('%s is an error', (text) => {
    expect(compileText(text).program).toBeNull();
  });

  test.each(['SecRule ARGS x "id:1,deny,status:403,rev:1,ver:x,maturity:9,accuracy:9"'])(
    'a status of 403 and documenting actions have no diagnostic',
    (text) => {
      expect(saidOf(text)).toEqual([]);
    },
  );

  test('the info about an action without effect has the number of its rules and the reason', () => {
    const text = [1, 2, 3].map((id) => `SecRule ARGS x "id:${id},deny,status:${id === 3 ? 404 : 429}"`);
    expect(saidOf(text.join('\n'))).toEqual([
      'a.conf:1:1: info: the action has no effect in 2 rules: a request that is blocked is answered with 403, found `status:429`',
      'a.conf:3:1: info: the action has no effect in 1 rule: a request that is blocked is answered with 403, found `status:404`',
    ]);
  });

  test('a duplicate id is an error that names the place of the first', () => {
    expect(saidOf('SecRule ARGS x id:1\nSecRule ARGS y "id:1,phase:4"')).toContain(
      'a.conf:2:1: error: the id is taken by the rule at a.conf:1, found `1`; give each rule an `id` of its own',
    );
  });

  test('a later rule of a chain has no disruptive action, id, phase or skipAfter', () => {
    expect(saidOf('SecRule ARGS x "id:1,chain"\nSecRule ARGS y "deny,skipAfter:M,phase:1"')).toEqual(
      ['deny', 'skipAfter', 'phase'].map((found) => {
        return `a.conf:2:1: error: this action is allowed only in the first rule of a chain, found \`${found}\`; move it to the rule that starts the chain`;
      }),
    );
  });

  test('there is a program if and only if no diagnostic is an error', () => {
    expect(compileText('SecRule ARGS x').program).toBeNull();
    expect(compileText('SecRuleEngine Off').program).not.toBeNull();
  });
});
