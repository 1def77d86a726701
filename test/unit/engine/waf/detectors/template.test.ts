import { describe, expect, test } from 'vitest';
import { detectTemplate, SHORTEST_TEMPLATE } from '../../../../../src/engine/waf/detectors/template.ts';

describe('a value is reported with its construct', () => {
  test.each([
    ['constant arithmetic', '{{7*7}}'],
    ['constant arithmetic', "{{7*'7'}}"],
    ['constant arithmetic', '${{8*8}}'],
    ['constant arithmetic', '{{{3*3}}}'],
    ['constant arithmetic', '#{5*5}'],
    ['constant arithmetic', '<%= 9*9 %>'],
    ['constant arithmetic', '[[${6*6}]]'],
    ['constant arithmetic', '{% set x = 4*4 %}{{x}}'],
    ['constant arithmetic', '#set($x=2*3)$x'],
    ['constant arithmetic', '%{3*4}'],
    ['constant arithmetic', '{{1+1}}'],
    ['constant arithmetic', '{{1/0}}'],
    ["inner attribute of Python's objects", "{{''.__class__}}"],
    ["inner attribute of Python's objects", "{{x['__cl'+'ass__']}}"],
    ["inner attribute of Python's objects", "{{x['\\x5f\\x5fclass']}}"],
    ["chain of Python's inner attributes", '().__class__.__bases__[0]'],
    ["chain of Python's inner attributes", 'x.__init__.__globals__[0]'],
    ['filter that reads attributes', '{{x|attr(name)}}'],
    ['constructor of an object', "{{x.constructor('a')}}"],
    ['constructor of an object', '{{#with (lookup s "constructor")}}'],
    ['walk to a class', '{{constructor.constructor}}'],
    ['walk to a class', '${x.getClass()}'],
    ['walk to a class', "$a.class.forName('b')"],
    ['walk to a class', "#set($c=$x.class.forName('b'))"],
    ['class of FreeMarker', "${'x'?new()}"],
    ['class of FreeMarker', "<#assign e='x'?new()>"],
    ['class of FreeMarker', '${x?api.class}'],
    ['filter that runs code', "{{['id']|map('system')}}"],
    ['filter that runs code', "{{a.registerUndefinedFilterCallback('x')}}"],
    ['tag of Smarty that runs code', "{system('id')}"],
    ['tag of Smarty that runs code', '{php}x{/php}'],
    ['tag of Smarty that runs code', '{if phpinfo()}'],
    ['call that runs code', "<%= system('id') %>"],
    ['call that runs code', "{{x.popen('id')}}"],
    ['call that runs code', "${'id'.execute()}"],
    ['call that runs code', '<%eval request("c")%>'],
    ['command of a shell', '<%= `id` %>'],
    ['command of a shell', '#{%x(id)}'],
    ['process of Node.js', '#{global.process}'],
    ['process of Node.js', '${x.mainModule}'],
    ['namespace of .NET', '@(System.Diagnostics.Process.Start(x))'],
    ['static method of Java', '@java.lang.Runtime@getRuntime()'],
    ['static method of Java', '%{@java.lang.Math@abs(1)}'],
    ['type of Java', 'T(java.lang.Runtime)'],
    ['type of Java', '${T (java.lang.System).exit(0)}'],
    ['class of the Java run time', '${new java.lang.String()}'],
    ['preprocessed expression of Thymeleaf', '__${x}__::y'],
    ['object of the container', '${applicationScope}'],
    ['object of the container', '#{pageContext.x}'],
    ['settings of the program', '{{config}}'],
    ['settings of the program', '{{ self|string }}'],
    ['object of the template engine', '{{lipsum.x}}'],
    ['object of the template engine', '{$smarty.version}'],
    ['context of OGNL', '%{#_memberAccess}'],
    ['context of OGNL', "${#context['x']}"],
    ['import of a module', '{% import os %}'],
    ['delimiters of several template languages', '{{<%x'],
  ])('%s: %j', (construct, value) => expect(detectTemplate(value)).toBe(construct));
});

describe('merge fields and code are not reported', () => {
  test.each([
    '{{name}}',
    '{{ user.first_name | default("x") }}',
    '${amount}',
    '{{#if paid}}yes{{/if}}',
    '${__from}',
    '{{ price | currency }}',
    '${{ secrets.TOKEN }}',
    "{{ 'HOME.TITLE' | translate }}",
    '{% for i in items %}{{ i.name }}{% endfor %}',
    '<%= user.name %>',
    '#{user.name}',
    "${items.map(i => i.name).join(', ')}",
    'x^{2*3} + \\frac{a}{b}',
    '{{2024-01-01}}',
    '{{1/2}}',
    '{{ total * 2 }}',
    '@user@mastodon.social',
    'self.__class__.__name__',
    '${this.constructor.name}',
    'T(n) = 2T(n/2) + n',
    '`{{ 7 * 7 }}` prints 49',
    '{system} is down',
    'sum(rate(x{job="a"}[5m])) by (job)',
  ])('%j', (value) => expect(detectTemplate(value)).toBeNull());
});

test('the shortest reported value has SHORTEST_TEMPLATE octets', () => {
  for (const value of ['<%{{', '{{<%']) {
    expect(detectTemplate(value)).not.toBeNull();
    expect(value).toHaveLength(SHORTEST_TEMPLATE);
  }
});
