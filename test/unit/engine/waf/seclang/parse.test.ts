import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../../src/base/diagnostics/diagnostic.ts';
import type { Directive } from '../../../../../src/engine/waf/seclang/draft.ts';
import { parseSecLang } from '../../../../../src/engine/waf/seclang/parse.ts';
import {
  parseActions,
  parseOperator,
  parseTargets,
} from '../../../../../src/engine/waf/seclang/parse-words.ts';
import type { SourceReader } from '../../../../../src/engine/waf/seclang/source.ts';

function parse(text: string): readonly Directive[] {
  const { directives, diagnostics } = parseSecLang([{ file: 'a.conf', text }]);
  expect(diagnostics.map(formatDiagnostic)).toEqual([]);
  return directives;
}

function said(text: string): readonly string[] {
  return parseSecLang([{ file: 'a.conf', text }]).diagnostics.map(formatDiagnostic);
}

const PLACE = { file: 'a.conf', line: 1 };

describe('directives', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['SecMarker END', { kind: 'marker', name: 'END' }],
    ['secmarker "END-A"', { kind: 'marker', name: 'END-A' }],
    ['SecAction "id:1,pass"', { kind: 'action' }],
    ['SecDefaultAction "phase:1,pass"', { kind: 'default-action' }],
    ['SecRuleRemoveById 1 2-9 "30"', { kind: 'remove', by: 'id', subjects: ['1', '2-9', '30'] }],
    ['SecRuleRemoveByTag "attack-.*"', { kind: 'remove', by: 'tag', subjects: ['attack-.*'] }],
    ["SecRuleRemoveByMsg 'a b'", { kind: 'remove', by: 'msg', subjects: ['a b'] }],
    ['SecRuleUpdateTargetById 1 "!ARGS:a"', { kind: 'update-targets', by: 'id', subject: '1' }],
    ['SecRuleUpdateTargetByTag x "!ARGS"', { kind: 'update-targets', by: 'tag', subject: 'x' }],
    ['SecRuleUpdateTargetByMsg "a b" ARGS', { kind: 'update-targets', by: 'msg', subject: 'a b' }],
    ['SecRuleUpdateActionById 1:1 "nolog"', { kind: 'update-actions', subject: '1:1' }],
    ['SecComponentSignature "x/1"', { kind: 'setting', name: 'SecComponentSignature', values: ['x/1'] }],
    ['SecCookieFormat', { kind: 'setting', values: [] }],
  ];
  test.each(cases)('%s', (text, expected) => {
    expect(parse(text)).toMatchObject([{ ...expected, place: PLACE }]);
  });

  test('a rule has targets, operator and actions', () => {
    expect(parse('SecRule ARGS|!ARGS:a "!@streq x y" "id:1,deny"')).toEqual([
      {
        kind: 'rule',
        place: PLACE,
        targets: [
          { excluded: false, counted: false, variable: 'ARGS', selector: null },
          { excluded: true, counted: false, variable: 'ARGS', selector: { kind: 'name', text: 'a' } },
        ],
        operator: { negated: true, name: 'streq', argument: 'x y' },
        actions: [
          { name: 'id', value: '1' },
          { name: 'deny', value: null },
        ],
      },
    ]);
  });

  test('a backslash continues a line, and comments and empty lines are left out', () => {
    const text =
      '\u00ef\u00bb\u00bf# one\r\n\r\n  SecRule ARGS \\\r\n  "@rx a#b" \\\r\n  "id:1,\\\r\n   pass"\n#SecRule \\\n# x\nSecMarker M';
    const [rule, marker] = parse(text);
    expect(rule).toMatchObject({ place: { line: 3 }, operator: { argument: 'a#b' } });
    expect(rule).toMatchObject({ actions: [{ name: 'id' }, { name: 'pass' }] });
    expect(marker).toMatchObject({ kind: 'marker', place: { line: 9 } });
  });

  test('the backslash before a quote is removed, every other one stays', () => {
    const [rule] = parse('SecRule ARGS "@rx \\"a\\\\b\\d\\\\" "id:1"');
    expect(rule).toMatchObject({ operator: { argument: '"a\\\\b\\d\\\\' } });
  });

  test('a selector in single quotes may contain spaces', () => {
    const [rule] = parse("SecRule ARGS:'/a b/' x");
    expect(rule).toMatchObject({ targets: [{ selector: { kind: 'pattern', text: 'a b' } }] });
  });
});

describe('targets', () => {
  const plain = { excluded: false, counted: false };
  const cases: readonly (readonly [string, readonly object[]])[] = [
    ['XML:/*', [{ ...plain, variable: 'XML', selector: { kind: 'name', text: '/*' } }]],
    ['XML://@*|ARGS', [{ variable: 'XML', selector: { kind: 'name', text: '//@*' } }, { variable: 'ARGS' }]],
    ['&TX:a', [{ counted: true, variable: 'TX', selector: { kind: 'name', text: 'a' } }]],
    ['ARGS:/a|b\\/c/|TX', [{ selector: { kind: 'pattern', text: 'a|b/c' } }, { variable: 'TX' }]],
    ["ARGS:'/a,b/'", [{ selector: { kind: 'pattern', text: 'a,b' } }]],
    ["ARGS:'a|b',TX", [{ selector: { kind: 'name', text: 'a|b' } }, { variable: 'TX', selector: null }]],
    ['!REQUEST_COOKIES:/^_ga(?:_\\w+)?$/', [{ excluded: true, selector: { text: '^_ga(?:_\\w+)?$' } }]],
  ];
  test.each(cases)('%s', (text, expected) => {
    const { targets, findings } = parseTargets(text);
    expect(findings).toEqual([]);
    expect(targets).toMatchObject(expected);
  });

  test.each(['', 'ARGS|', '!', 'ARGS:', 'ARGS:/a', "ARGS:'a", 'ARGS:/a/b', '9X', 'A RGS'])(
    '`%s` is none',
    (text) => {
      expect(parseTargets(text).findings).not.toEqual([]);
    },
  );
});

describe('operators', () => {
  test.each([
    ['@rx a b ', false, 'rx', 'a b '],
    ['a b', false, 'rx', 'a b'],
    ['!a', true, 'rx', 'a'],
    ['! @eq 0', true, 'eq', '0'],
    ['@detectSQLi', false, 'detectSQLi', ''],
    ['@pm  a', false, 'pm', 'a'],
    ['@{', false, 'rx', '@{'],
  ])('%s', (text, negated, name, argument) => {
    expect(parseOperator(text)).toEqual({ negated, name, argument });
  });
});

describe('actions', () => {
  test.each<[string, readonly (readonly [string, string | null])[]]>([
    [
      'id:1, pass ,, t:none',
      [
        ['id', '1'],
        ['pass', null],
        ['t', 'none'],
      ],
    ],
    [
      "msg:'a, b:c',log",
      [
        ['msg', 'a, b:c'],
        ['log', null],
      ],
    ],
    ["msg:'it\\'s'", [['msg', "it's"]]],
    [
      "setvar:'tx.a=%{b}',setvar:tx.c=+1",
      [
        ['setvar', 'tx.a=%{b}'],
        ['setvar', 'tx.c=+1'],
      ],
    ],
    ['ctl:ruleRemoveTargetById=1;ARGS:a', [['ctl', 'ruleRemoveTargetById=1;ARGS:a']]],
  ])('%s', (text, expected) => {
    const { actions, findings } = parseActions(text);
    expect(findings).toEqual([]);
    expect(actions.map(({ name, value }) => [name, value])).toEqual(expected);
  });
});

describe('every error has a diagnostic with its place and remedy', () => {
  test.each([
    [
      'SecRule ARGS "@rx a',
      'a.conf:1:14: error: the quote that opens here is never closed, found `"@rx a`; close it with "; a line that goes on ends with \\',
    ],
    [
      'SecRule ARGS "a"b" "id:1"',
      'a.conf:1:17: error: text follows a closing quote without a space, found `b" "id:1"`; write \\" for a quote inside quotes, or put a space after the closing one',
    ],
    [
      'SecRule ARGS',
      'a.conf:1:1: error: `SecRule` has 1 argument; write it as `SecRule TARGETS "OPERATOR" "ACTIONS"`, with quotes around what holds spaces',
    ],
    [
      '<IfModule x>',
      'a.conf:1:1: error: sections of a web server are not part of SecLang, found `<IfModule`; take the section off and keep the directives inside',
    ],
    [
      'Rule x',
      'a.conf:1:1: error: this is not a SecLang directive, found `Rule`; directives start with `Sec` or are `Include`',
    ],
    [
      'SecRule 1 x',
      'a.conf:1:9: error: a target is a variable, such as `ARGS` or `REQUEST_HEADERS:Host`, found `1`',
    ],
    [
      'SecRule ARGS:/a x',
      'a.conf:1:9: error: a pattern in a selector is written between slashes, found `/a`',
    ],
    [
      "SecRule ARGS:'a\\' x\" y",
      "a.conf:1:9: error: the quote that opens here is never closed, found `ARGS:'a\\' x\" y`; close it with '; a line that goes on ends with \\",
    ],
    [
      'SecAction "id:1,msg:\'a"',
      "a.conf:1:11: error: the single quote that opens here is never closed, found `'a`; close it with ', and write \\' for one inside",
    ],
    [
      'SecAction "id:1,msg:\'a\'b"',
      "a.conf:1:11: error: text follows a closing single quote before the comma, found `'a'b`; write \\' for a single quote inside quotes",
    ],
    ['SecAction "id:1,a b"', 'a.conf:1:11: error: this is not an action, found `a b`'],
    [
      'Include x.conf',
      'a.conf:1:9: error: files cannot be included here, found `x.conf`; give the files one after the other',
    ],
    [
      '# x \\\nSecMarker M',
      'a.conf:2:1: warning: this line belongs to the comment before it, which ends with `\\`; put the comment mark in front of this line too, or take the `\\` off the comment',
    ],
    ['a\0', 'a.conf:1:1: error: the file holds a NUL; it is not SecLang text'],
    ['# \u0100', 'a.conf:1:1: error: the file holds a character above U+00FF; it is not SecLang text'],
  ])('%s', (text, expected) => {
    expect(said(text)).toEqual([expected]);
  });

  test('all errors of one file are reported', () => {
    expect(said('SecRule\nNo\nSecRule ARGS "@rx a\nSecMarker M')).toHaveLength(3);
  });
});

describe('Include', () => {
  const files: Readonly<Record<string, string>> = {
    'd/b.conf': 'SecMarker B',
    'd/c.conf': 'Include b.conf\nSecMarker C',
    'd/loop.conf': 'Include loop.conf',
  };
  const reader: SourceReader = {
    read: (path) => files[path] ?? null,
    list: (pattern) => Object.keys(files).filter((file) => pattern === 'd/*.conf' && file !== 'd/loop.conf'),
  };
  const run = (text: string) => parseSecLang([{ file: 'd/a.conf', text }], { reader });
  const names = (text: string) => run(text).directives.map((one) => (one.kind === 'marker' ? one.name : ''));

  test('inserts the files at its place, relative to its own file', () => {
    expect(names('SecMarker 1\nInclude c.conf\nSecMarker 2')).toEqual(['1', 'B', 'C', '2']);
    expect(names('Include *.conf')).toEqual(['B', 'B', 'C']);
    expect(run('Include b.conf').directives[0]?.place).toEqual({ file: 'd/b.conf', line: 1 });
  });

  test('a missing file is an error unless the include is optional', () => {
    expect(run('Include no.conf').diagnostics.map(formatDiagnostic)).toEqual([
      'd/a.conf:1:9: error: there is no such file, found `d/no.conf`; put it there, or write `IncludeOptional`',
    ]);
    expect(run('IncludeOptional no.conf').diagnostics).toEqual([]);
  });

  test('a circular include is an error', () => {
    expect(run('Include loop.conf').diagnostics.map(({ message }) => message)).toEqual([
      'files include one another more than 16 deep',
    ]);
  });
});
