import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../../../src/base/octets/octet-kinds.ts';
import {
  detectScript,
  SCRIPT_KINDS,
  SHORTEST_SCRIPT,
} from '../../../../../src/engine/waf/detectors/script.ts';
import { detectorStrings } from '../../../../support/detector-strings.ts';

const EVENT = 'event attribute with script';
const HIDDEN = 'call with hidden text';
const PIECES = 'script put together from pieces';
const MEMBER = 'computed member of the global object';
const TAG = 'tag put together from pieces';
const MARKUP = 'script put together from pieces of markup';
const DIALOG = 'call of a dialog';
const HIDDEN_DIALOG = 'hidden call of a dialog';

describe('script is detected', () => {
  test.each([
    ['<b onclick="print()">', EVENT],
    ['<b onclick="save();alert(1)">', EVENT],
    ['<b onclick="load(\'//a.example\')">', EVENT],
    ['<b onclick="save()', EVENT],
    ['onwheel="alert(2)"></td>', EVENT],
    ['style="color:red" onanimationend="confirm(2)"', EVENT],
    ['<dfn tabindex=1 ondeactivate=prompt(2)>', EVENT],
    ['<img src=`a` onrerror=`alert(2)`>', EVENT],
    ['<svg/a=">"/onLoad=alert(2)//', EVENT],
    ['src="a"onerror=javascript:f(2)>', EVENT],
    ['" autofocus onfocus\0=(alert)(2)//', EVENT],
    ['"onclick="a=b"', EVENT],
    ['onclick=f(2)', EVENT],
    ['onerror="x=\'a\';new constructor.constructor`b${x}`"', EVENT],
    ['alert(String.fromCharCode(72,105))', HIDDEN],
    ['confirm?.(document?.cookie)', HIDDEN],
    ["document.write(atob('SGk='))", HIDDEN],
    ["setTimeout( unescape('%61'))", HIDDEN],
    ["eval('pri'+'nt()')", PIECES],
    ['a="x";b="y";c="z";eval(a+b+c)', PIECES],
    ["window['al'+'ert'](2)", MEMBER],
    ['top[/alert/.source](2)', MEMBER],
    ["self['\\x61lert']`2`", MEMBER],
    ["a.constructor.constructor('f()')()", 'function made from a constructor'],
    ["e.__defineGetter__('a',f)", 'getter that runs script'],
    ["x', true);q.onload = 1;alert(q)", 'script behind the end of an argument'],
    ['<scr<b>ipt>f()</scr</b>ipt>', TAG],
    ['<<i>script</i>>f()', TAG],
    ['<![CDATA[<]]>SCRIPT<![CDATA[>]]>f()', TAG],
    ['"o<b>nmouseover=alert<b>(2)//', MARKUP],
    ['prompt(2)', DIALOG],
    ["'-confirm(2)-'", DIALOG],
    ['"autofocus=alert(2)//', DIALOG],
    ['(prompt())', DIALOG],
    ['[2].find(confirm(2))', DIALOG],
    ['alert?.(2)', DIALOG],
    ['alert.call(null, 2)', HIDDEN_DIALOG],
    ['confirm.apply(self,[2])', HIDDEN_DIALOG],
    ['(alert)(2)', HIDDEN_DIALOG],
    ['[confirm][0](2)', HIDDEN_DIALOG],
    ['[2].map(prompt)', HIDDEN_DIALOG],
    ['[2,3].with(0, alert).pop()(2)', HIDDEN_DIALOG],
    ["self[/*a*/'alert'/*b*/](2)", HIDDEN_DIALOG],
    ['al\\u0065rt(2)', HIDDEN_DIALOG],
    ["('\\141\\154\\145\\162\\164\\50\\62\\51')()", HIDDEN_DIALOG],
    ['[].sort.call`${alert}2`', HIDDEN_DIALOG],
    ['Reflect.set.call`${location}${"href"}${name}`', HIDDEN_DIALOG],
  ])('%j is a %s', (value, expected) => expect(detectScript(value)).toBe(expected));
});

describe('what only looks like script is not detected', () => {
  test.each([
    '<p>Hello <b>world</b></p>',
    'alert()',
    'How does confirm(2) differ from prompt(2)?',
    'promise.then(alert)',
    'window.alert = function () {}',
    'list.forEach(x => alert(x))',
    'smoke alert (2)',
    'alerts[0](x)',
    'M\\u00fcller',
    '<a href="https://example.com/?online=true&onpage=2">x</a>',
    'Set onclick="save()" on the button',
    'window.onload = function () { init(); }',
    'xhr.onload=function(){ alert(1) }',
    '"use strict"; onmessage = (e) => { post(e) }',
    'once = f(x)',
    'x <y onward = f(3)',
    'if (a<b && onset=(c))',
    '<Button onPress={() => go()} />',
    '<button onClick={() => go()}>x</button>',
    '<input onInput=${e => set(e)}>',
    'replace `__defineGetter__` with defineProperty',
    'function f({\n onSubmit = noop,\n onCancel = noop\n }) { prompt() }',
    'alert("hello")',
    'Please confirm (by mail) your order',
    'setTimeout(() => f(), 10)',
    'eval("1+2")',
    'eval(a+b)',
    'function (a+b+c)',
    '[text](https://example.com/)',
    'this[name](x)',
    "window['open'](1)",
    'super.constructor(x)',
    "$('#a').on('click', function(e) { alert('x'); });",
    "s.replace(/\\)/g, ''); alert('x')",
    '<b>script</b>ing <i>x</i>',
    '#simple style=) hee hee',
  ])('%j', (value) => expect(detectScript(value)).toBeNull());

  test.each(detectorStrings('ordinary'))('$heading: $value', ({ value }) =>
    expect(detectScript(value)).toBeNull(),
  );
});

test('no detected value is shorter than SHORTEST_SCRIPT or without SCRIPT_KINDS', () => {
  expect(detectScript('<<b>script')).toBe(TAG);
  expect(detectScript('onend=a=')).toBe(EVENT);
  expect('onend=a=').toHaveLength(SHORTEST_SCRIPT);
  const all = Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet));
  const harmless = all.filter((octet) => (KINDS[octet.charCodeAt(0)]! & SCRIPT_KINDS) === 0);
  const values = fc.array(fc.constantFrom(...harmless, 'onload', 'eval', 'script'), { maxLength: 12 });
  fc.assert(fc.property(values, (parts) => detectScript(parts.join('')) === null));
});
