import { describe, expect, test } from 'vitest';
import { MAX_BODY_ARGUMENTS } from '../../../../../../src/engine/waf/request/bodies/parsed-body.ts';
import { parseXml } from '../../../../../../src/engine/waf/request/bodies/xml.ts';
import { parse, utf8 } from './body-cases.ts';

describe('a document has its text and attributes', () => {
  test.each([
    ['<a/>', '', []],
    ['<a></a>', '', []],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<a b="1">x<c d=\'2\'>y</c>z</a>\n', 'xyz', ['1', '2']],
    ['<a>\n <b>1</b>\n</a>', '\n 1\n', []],
    ['<a><![CDATA[<script>&lt;]]></a>', '<script>&lt;', []],
    ['<a>x<!-- no > y --><?php no > ?>z</a>', 'xz', []],
    ['<a b="&lt;&gt;&amp;&quot;&apos;">&lt;&gt;&amp;&quot;&apos;</a>', '<>&"\'', ['<>&"\'']],
    ['<a>&#60;&#x3c;&#x0000000000000000003C;&#233;&#x1F600;</a>', `<<<${utf8('é😀')}`, []],
    ['<s:E xmlns:s="urn:x" xmlns="urn:y" s:q="1"><s:B/></s:E>', '', ['1']],
    ['<a b = "1"\n\tc=\'x\ty\n\'/>', '', ['1', 'x y ']],
    ['<!DOCTYPE html PUBLIC "-//W3C//DTD" "http://x/>[">\n<html>x</html>', 'x', []],
    ['<!DOCTYPE a [ <!-- ]> " --> <!ELEMENT a (#PCDATA)> ]><a>x</a>', 'x', []],
    ['<a>\xe9\xff</a>', '\xe9\xff', []],
    [utf8('\ufeff<a>é</a>'), utf8('é'), []],
    ['<a b="1>2"/>', '', ['1>2']],
    ['<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', '\xe9', []],
  ])('%j', (text, content, attributes) => {
    const body = parse('XML', text);
    expect(body.xmlText).toBe(content);
    expect(body.xmlAttributes).toEqual(attributes);
    expect(body.error).toBeNull();
  });

  test.each(['utf16le', 'utf16be'])('a document in %s has the same text as in UTF-8', (layout) => {
    const little = Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?><a b="é">&lt;é</a>', 'utf16le');
    const octets = layout === 'utf16le' ? little : little.swap16();
    const body = parse('XML', octets.toString('latin1'));
    expect(body).toMatchObject({ xmlText: utf8('<é'), xmlAttributes: [utf8('é')], error: null });
  });

  test('an empty body has no text and no error', () => {
    expect(parse('XML', '')).toMatchObject({ xmlText: null, xmlAttributes: [], error: null });
  });
});

describe('malformed markup is an error, and the rest of the text is returned', () => {
  test.each([
    ['test', 'test', 'text is outside of the root element at octet 0'],
    ['x<a>y</a>', 'xy', 'text is outside of the root element at octet 0'],
    ['<a>y</a>x', 'yx', 'text is outside of the root element at octet 8'],
    ['<a>x</a><b>y</b>', 'xy', 'it holds more than one root element'],
    ['<a>x</b>', 'x', 'the tag at octet 4 closes no open element'],
    ['</a>', null, 'the tag at octet 0 closes no open element'],
    ['<a><b>x</a>', 'x', 'the tag at octet 7 closes no open element'],
    ['<a>x', 'x', 'it ends inside an element'],
    ['<a b="x', '', 'it ends inside an attribute'],
    ['<a', '', 'it ends inside a tag'],
    ['<a>x<!-- y', 'x', 'it ends inside a comment'],
    ['<a><![CDATA[x', 'x', 'it ends inside CDATA'],
    ['<?xml', null, 'it ends inside an instruction'],
    ['<!DOCTYPE a [', null, 'it ends inside a DOCTYPE'],
    ['<a>1 < 2</a>', '1 < 2', 'no markup follows `<` at octet 5'],
    ['<a b=x c>y</a>', 'y', 'the value at octet 5 is not quoted'],
    ['<a b>y</a>', 'y', 'the attribute at octet 3 has no value'],
    ['<a>&nbsp;&#0;&</a>', '&nbsp;&#0;&', 'it refers to an entity that is not expanded'],
    [
      '<?xml version="1.0" encoding="UTF-7"?><a/>',
      '',
      'it declares an encoding that is not its own, or that is not supported',
    ],
    [
      '<?xml version="1.0" encoding="utf-16"?><a/>',
      '',
      'it declares an encoding that is not its own, or that is not supported',
    ],
    ['  ', null, 'it holds no element'],
  ])('%j', (text, content, error) => {
    const body = parse('XML', text);
    expect(body.xmlText).toBe(content);
    expect(body.error).toBe(`xml: ${error}`);
  });
});

describe('entities', () => {
  test('nested entity declarations are an error and are not expanded', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
    );
    const body = parse('XML', `<!DOCTYPE b [<!ENTITY l0 "lol">${levels.join('')}]><b c="&l9;">&l9;</b>`);
    expect(body).toMatchObject({
      xmlText: '&l9;',
      xmlAttributes: ['&l9;'],
      error: 'xml: it declares an entity, which is not expanded',
    });
  });

  test('an external entity is an error and is not fetched', () => {
    const body = parse('XML', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>');
    expect(body.xmlText).toBe('&x;');
    expect(body.error).toBe('xml: it declares an entity, which is not expanded');
  });
});

test('a truncated document is no error at any length', () => {
  const text =
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE a [<!ELEMENT a ANY>]><a b="1"><!--x--><c d=\'&lt;\'/>y<![CDATA[z]]></a>';
  for (let at = 0; at <= text.length; at++) {
    expect(parse('XML', text.slice(0, at), { truncated: true }).error, text.slice(0, at)).toBeNull();
  }
  expect(parse('XML', '<a>one<b c="two', { truncated: true })).toMatchObject({
    xmlText: 'one',
    xmlAttributes: ['two'],
  });
});

describe('limits', () => {
  test('256 levels of nesting are no error, one more is', () => {
    const nested = (depth: number): string => `${'<a>'.repeat(depth)}x${'</a>'.repeat(depth)}`;
    expect(parse('XML', nested(256))).toMatchObject({ xmlText: 'x', error: null });
    expect(parse('XML', nested(257)).error).toBe(
      'xml: it is nested more than 256 deep; the rest was not inspected',
    );
  });

  test('ten thousand attributes are no error, one more is', () => {
    const text = `<a>${'<b c="1"/>'.repeat(MAX_BODY_ARGUMENTS + 1)}</a>`;
    const body = parse('XML', text);
    expect(body.xmlAttributes).toHaveLength(MAX_BODY_ARGUMENTS);
    expect(body.error).toBe('xml: it holds more than 10000 values; the rest was not inspected');
  });
});

describe('expanded entities', () => {
  const expanded = (text: string, truncated = false) =>
    parseXml({ text, contentType: '', truncated }, { expands: true, anyEncoding: false });

  test.each([
    ['<!DOCTYPE r [<!ENTITY a "x">]><r b="&a;">&a;&lt;</r>', 'x<', ['x']],
    [`<!DOCTYPE r [<!ENTITY a '&b;"'><!ENTITY b "&#60;">]><r>&a;</r>`, '<"', []],
    ['<!DOCTYPE r [<!ENTITY a "1"><!ENTITY a "2">]><r>&a;</r>', '1', []],
    ['<!DOCTYPE r [<!ENTITY é "1">]><r>&é;</r>', '1', []],
  ])('%j', (text, content, attributes) => {
    expect(expanded(utf8(text))).toMatchObject({ xmlText: content, xmlAttributes: attributes, error: null });
  });

  test.each([
    [
      'an external entity',
      '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///x">]><r>&a;</r>',
      'it declares an entity, which is not expanded',
    ],
    [
      'a parameter entity',
      '<!DOCTYPE r [<!ENTITY % a "x">%a;]><r/>',
      'it declares an entity, which is not expanded',
    ],
    [
      'an undeclared entity',
      '<!DOCTYPE r [<!ENTITY a "x">]><r>&b;</r>',
      'it refers to an entity that is not expanded',
    ],
    [
      'an entity of itself',
      '<!DOCTYPE r [<!ENTITY a "&a;">]><r>&a;</r>',
      'its entities expand to more than 65536 octets; the rest was not inspected',
    ],
  ])('%s is an error', (_, text, error) => {
    expect(expanded(text).error).toBe(`xml: ${error}`);
  });

  test.each([
    ['text', 'lol'],
    ['nothing', ''],
  ])('a bomb of %s is an error after bounded work', (_, text) => {
    const levels = Array.from(
      { length: 15 },
      (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(30)}">`,
    );
    const body = expanded(`<!DOCTYPE b [<!ENTITY l0 "${text}">${levels.join('')}]><b>&l15;</b>`);
    expect(body.error).toMatch(/^xml: its entities expand to more than/);
    expect(body.xmlText!.length).toBeLessThanOrEqual(65_536);
  });

  test('texts between tags are returned, except plain ones', () => {
    const body = expanded(
      '<r><a>one</a>\n <b>two<!-- c --><![CDATA[;]]>&amp;</b>three<c>/four</c><d>five six</d></r>',
    );
    expect(body.xmlParts).toEqual(['two;&', '/four', 'five six']);
  });
});
