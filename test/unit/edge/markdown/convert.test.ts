/** HTML pages and their Markdown. */

import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { convert, decodePage } from '../../../../src/edge/markdown/convert.ts';
import { type Coding, MAX_PAGE_OCTETS } from '../../../../src/edge/markdown/outcome.ts';

const ADDRESS = 'https://shop.test/docs/page?x=1';

function markdown(html: string, address = ADDRESS): string {
  const converted = convert(html, address);
  return converted.ok ? converted.markdown : `(${converted.reason})`;
}

type Case = readonly [name: string, html: string, markdown: string];

const LINES: readonly Case[] = [
  ['white space folds', '<p>  a \n\t b&nbsp; c </p>', 'a b c'],
  ['paragraphs', '<p>a<p>b</p>c', 'a\n\nb\n\nc'],
  ['headings', '<h1>a</h1><h3>b <em>c</em></h3>', '# a\n\n### b *c*'],
  ['a heading without text is none', '<h2> </h2>a', 'a'],
  ['a heading that ends with number signs', '<h2>a ##</h2><h2>C#</h2>', '## a \\##\n\n## C#'],
  ['emphasis', '<b>a</b> <strong>b</strong> <i>c</i> <em>d</em> <del>e</del>', '**a** **b** *c* *d* ~~e~~'],
  ['marks begin and end at text', 'a<b> b </b>c<i> </i>d', 'a **b** c d'],
  ['a mark within the same mark', '<b>a <strong>b</strong></b>', '**a b**'],
  ['marks within each other', '<b><i>a</i></b><i>b</i>', '**_a_**_b_'],
  ['marks over several blocks', '<b><p>a</p><p>b</p></b>', '**a**\n\n**b**'],
  ['a line break', 'a<br>b<br>', 'a\\\nb'],
  ['two line breaks', 'a<br> <br>b', 'a\n\nb'],
  ['a rule', 'a<hr>b', 'a\n\n***\n\nb'],
  ['a quotation in a line', 'so <q>a</q>', 'so "a"'],
  ['code', 'a <code>b  `c`</code> <code>d</code>', 'a `` b `c` `` `d`'],
  ['code in a link', '<a href="/x"><code>f(x)</code></a>', '[`f(x)`](https://shop.test/x)'],
  ['what runs is dropped', 'a<script>b</script><style>c</style><template>d</template>e', 'ae'],
  ['what is drawn is dropped', 'a<svg><title>b</title><text>c</text></svg>d', 'ad'],
  [
    'controls are dropped',
    '<label>a <input value=b></label><select><option>c</select><textarea>d</textarea>',
    'a',
  ],
  ['what is hidden is dropped', 'a<p hidden>b</p><p aria-hidden=true>c<b>d</b></p><dialog>e</dialog>f', 'af'],
  ['what a search reveals stays', '<p hidden=until-found>a</p>', 'a'],
  ['what leads around is dropped', '<nav><a href=/>b</a></nav><div role=navigation>c</div>a', 'a'],
];

const LINKS: readonly Case[] = [
  ['a relative link', '<a href="../a b">x</a>', '[x](https://shop.test/a%20b)'],
  ['a fragment', '<a href="#y">x</a>', '[x](https://shop.test/docs/page?x=1#y)'],
  ['a base', '<base href="/other/"><base href="/no/"><a href="a">x</a>', '[x](https://shop.test/other/a)'],
  ['no script', '<a href="java\nscript:alert(1)">x</a>', 'x'],
  ['no data', '<a href="data:text/html,x">x</a><img alt=y src="data:image/png,x">', 'xy'],
  ['an address to write to', '<a href="mailto:a@b.test">x</a>', '[x](mailto:a@b.test)'],
  ['a link without text', '<a href="/a"> </a>b', 'b'],
  ['parentheses and pipes', '<a href="/a(b)|`">x</a>', '[x](https://shop.test/a%28b%29%7C%60)'],
  ['an entity in an address', '<a href="/?a&amp;lt;b">x</a>', '[x](https://shop.test/?a&lt%3Bb)'],
  [
    'a link around blocks',
    '<a href="/a"><h2>x</h2><p>y</p></a>',
    '## [x](https://shop.test/a)\n\n[y](https://shop.test/a)',
  ],
  ['an image', '<img src="a.png" alt="a [b]">', '![a \\[b\\]](https://shop.test/docs/a.png)'],
  ['an image that decorates', 'a<img src="a.png" alt=""><img src=b.png>', 'a'],
  [
    'an image in a link',
    '<a href="/a"><img src="/b.png" alt="c"></a>',
    '[![c](https://shop.test/b.png)](https://shop.test/a)',
  ],
];

const BLOCKS: readonly Case[] = [
  ['a list', '<ul><li>a<li>b</ul>c', '- a\n- b\n\nc'],
  ['a numbered list', '<ol start=9><li>a<li>b<li value=20>c</ol>', '9. a\n10. b\n20. c'],
  ['lists within each other', '<ul><li>a<ol><li>b<li>c</ol><li>d</ul>', '- a\n  1. b\n  2. c\n- d'],
  ['a list that begins with two below text', '<ul><li>a<ol start=2><li>b</ol></ul>', '- a\n\n  2. b'],
  ['an item of paragraphs', '<ul><li><p>a</p><p>b</p><li>c</ul>', '- a\n\n  b\n- c'],
  ['an item without text is none', '<ul><li><li>a</ul>', '- a'],
  [
    'two lists in a row',
    '<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol><ol><li>d</ol>',
    '- a\n\n* b\n\n1. c\n\n1) d',
  ],
  ['an item outside of a list', '<li>a', '- a'],
  ['a quotation', '<blockquote><p>a</p><p>b</p></blockquote>c', '> a\n>\n> b\n\nc'],
  ['a quotation in an item', '<ul><li><blockquote>a<br>b</blockquote></ul>', '- > a\\\n  > b'],
  ['a code block', '<pre>\n a  b\n  *c*\n</pre>', '```\n a  b\n  *c*\n```'],
  ['its language', '<pre><code class="hljs language-c++">a &lt; b</code></pre>', '```c++\na < b\n```'],
  [
    'its lines as elements',
    '<pre class=lang-sh><div>a</div><div>b</div>c<br>d</pre>',
    '```sh\na\nb\nc\nd\n```',
  ],
  ['a fence within', '<pre>```\na</pre>', '````\n```\na\n````'],
  ['a code block in an item', '<ul><li>a<pre>b\n\nc</pre></ul>', '- a\n\n  ```\n  b\n\n  c\n  ```'],
  ['terms', '<dl><dt>a<dd>b<dd>c<p>d</dl>', 'a\n\n: b\n\n: c\n\n  d'],
];

const TABLES: readonly Case[] = [
  [
    'a table',
    '<table><tr><th>a<th>b<tr><td>c|d<td><b>e</b></table>',
    '| a | b |\n| --- | --- |\n| c\\|d | **e** |',
  ],
  ['its head', '<table><thead><tr><td>a<td>b</thead><tr><td>c</table>', '| a | b |\n| --- | --- |\n| c |'],
  ['without a head', '<table><tr><td>a<td>b</table>', '|  |  |\n| --- | --- |\n| a | b |'],
  ['columns', '<table><tr><th colspan=2>a<tr><td>b<td>c</table>', '| a |  |\n| --- | --- |\n| b | c |'],
  ['a caption', '<table><caption>x</caption><tr><th>a<th>b</table>', 'x\n\n| a | b |\n| --- | --- |'],
  [
    'blocks in a cell',
    '<table><tr><th>a<th>b<tr><td><p>c</p><p>d<br>e</p><td><ul><li>f<li>g</ul></table>',
    '| a | b |\n| --- | --- |\n| c d e | f g |',
  ],
  [
    'code in a cell',
    '<table><tr><th>a<th>b<tr><td><code>c|d</code><td><pre>e\nf</pre></table>',
    '| a | b |\n| --- | --- |\n| `c\\|d` | `e f` |',
  ],
  ['one column', '<table><tr><td>a<tr><td>b</table>', 'a\n\nb'],
  [
    'a table that holds others',
    '<table><tr><td>a<td>b <table><tr><th>c<th>d</table> e</table>',
    'a\n\nb\n\n| c | d |\n| --- | --- |\n\ne',
  ],
  ['a table that only places', '<table role=presentation><tr><td>a<td><ul><li>b</ul></table>', 'a\n\n- b'],
  ['a table that holds the page', '<table><tr><td>a<td><h1>b</h1>c</table>', 'a\n\n# b\n\nc'],
];

const WHOLES: readonly Case[] = [
  ['the title stands for a heading', '<title>a &amp; b</title><h2>c</h2>', '# a & b\n\n## c'],
  ['a first heading is one', '<title>a</title><h1>b</h1>', '# b'],
  ['the main part', '<title>t</title><h1>a</h1>b<main>c<p>d</main>e', '# t\n\nc\n\nd'],
  ['a main part without text', 'a<main></main>', 'a'],
  ['an article that holds most', 'a<article><h1>bcde</h1>fghi</article>j', '# bcde\n\nfghi'],
  ['an article beside the rest', '<p>abcdefghijklmnop</p><article>b</article>', 'abcdefghijklmnop\n\nb'],
  ['articles', '<article>abc</article>-<article>def<article>ghi</article></article>', 'abc\n\ndef\n\nghi'],
  ['a main part within a list', '<ul><li>x<main><p>a</p><ul><li>b</ul></main></ul>', 'a\n\n- b'],
  ['a page without text', '<title>a</title><script>b</script><div id=root></div>', '(empty)'],
  ['a page without an end', '<ul><li>a <b>b <a href="/c">d', '- a **b [d](https://shop.test/c)**'],
];

const TEXTS: readonly Case[] = [
  ['signs', '* _a_ `b` [c](d) ~e~ a\\b | !', '\\* \\_a\\_ \\`b\\` \\[c\\](d) \\~e\\~ a\\\\b \\| \\!'],
  ['words with low lines stay', 'snake_case_name', 'snake_case_name'],
  ['tags as text', '&lt;script&gt;alert(1)&lt;/script&gt;', '&lt;script>alert(1)&lt;/script>'],
  [
    'entities as text',
    '&amp;lt; &amp;#60; AT&amp;T &amp; &amp;<!-- -->copy;',
    '&amp;lt; &amp;#60; AT&amp;T & &amp;copy;',
  ],
  ['an image out of two halves', 'a!<a href="/b">c</a>', 'a\\![c](https://shop.test/b)'],
  [
    'lines that begin like blocks',
    '<p># a<p>- b<p>+ c<p>1. d<p>2) e<p>> f<p>=== <p>---<p>: g',
    '\\# a\n\n\\- b\n\n\\+ c\n\n1\\. d\n\n2\\) e\n\n\\> f\n\n\\===\n\n\\---\n\n\\: g',
  ],
  [
    'lines that begin like words',
    '<p>#a<p>-5<p>+1<p>1.5<p>1234567890. a',
    '#a\n\n-5\n\n+1\n\n1.5\n\n1234567890. a',
  ],
  ['a line behind a break', 'a<br>- b', 'a\\\n\\- b'],
  ['a line out of two halves', '<p><span>1</span>. a', '1\\. a'],
];

describe.each([
  ['lines', LINES],
  ['links', LINKS],
  ['blocks', BLOCKS],
  ['tables', TABLES],
  ['whole pages', WHOLES],
  ['text', TEXTS],
])('%s', (_name, cases) => {
  test.each(cases)('%s', (_case, html, expected) => {
    const end = expected.startsWith('(') ? '' : '\n';
    expect(markdown(html)).toBe(`${expected}${end}`);
  });
});

describe('a page beyond a limit stays HTML', () => {
  test('elements nested deeper than MAX_DEPTH give the reason depth', () => {
    expect(markdown(`${'<div>'.repeat(512)}a`)).toBe('a\n');
    expect(markdown(`${'<div>'.repeat(513)}a`)).toBe('(depth)');
    expect(markdown(`a${'<svg>'.repeat(513)}`)).toBe('(depth)');
  });

  test('a URL longer than MAX_ADDRESS gives the reason address', () => {
    expect(markdown('<a href="b">c</a>', `https://shop.test/${'a'.repeat(2_048)}`)).toBe('(address)');
    expect(markdown(`<base href="/${'a'.repeat(2_048)}/"><a href="b">c</a>`)).toBe(
      '[c](https://shop.test/docs/b)\n',
    );
  });

  test('Markdown that exceeds the growth limit gives the reason growth', () => {
    const far = `https://shop.test/${'a'.repeat(2_000)}/`;
    expect(markdown('<a href=b>c</a>'.repeat(1_000), far)).toBe('(growth)');
    expect(markdown(`${'<blockquote>'.repeat(500)}${'<p>a'.repeat(10_000)}`)).toBe('(growth)');
  });
});

// Decoding of pages: content codings and character encodings.

function decoded(octets: Uint8Array, charset: string | null = null, coding: Coding = 'identity'): string {
  const page = decodePage({ octets, coding, charset });
  return page.ok ? page.html : `(${page.reason})`;
}

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('character encodings', () => {
  test.each([
    ['UTF-8 without a word', Buffer.from('ä€'), null, 'ä€'],
    ['what is not UTF-8', latin('\xe4'), null, 'ä'],
    ['as the header says', latin('\xe4'), 'ISO-8859-1', 'ä'],
    ['as the header says, in another', Buffer.from([0x82, 0xa0]), 'shift_jis', 'あ'],
    ['a header that names none', Buffer.from('ä'), 'x-none', 'ä'],
    ['a byte order mark', Buffer.from([0xff, 0xfe, 0xe4, 0]), 'utf-8', 'ä'],
    ['a meta element', latin('<meta charset=windows-1251>\xe4'), null, '<meta charset=windows-1251>д'],
    [
      'a meta element of another time',
      latin('<META http-equiv=x content="text/html; charset=koi8-r">\xe4'),
      null,
      '<META http-equiv=x content="text/html; charset=koi8-r">Д',
    ],
    [
      'a meta element without one',
      latin('<meta name=x><meta charset><p>\xe4'),
      null,
      '<meta name=x><meta charset><p>ä',
    ],
    [
      'a meta element too late',
      latin(`${' '.repeat(1_024)}<meta charset=koi8-r>\xe4`),
      null,
      `${' '.repeat(1_024)}<meta charset=koi8-r>ä`,
    ],
  ])('%s', (_name, octets, charset, text) => {
    expect(decoded(octets, charset)).toBe(text);
  });
});

describe('codings', () => {
  const page = Buffer.from('<p>page</p>');
  test.each([
    ['gzip', 'gzip', gzipSync(page)],
    ['br', 'br', brotliCompressSync(page)],
    ['deflate', 'deflate', deflateSync(page)],
    ['deflate without its format', 'deflate', deflateRawSync(page)],
  ] as const)('%s', (_name, coding, octets) => {
    expect(decoded(octets, null, coding)).toBe('<p>page</p>');
  });

  test('octets that are not in the declared content coding give the reason coding', () => {
    for (const coding of ['gzip', 'br', 'deflate'] as const) {
      expect(decoded(Buffer.from('\x01page'), null, coding)).toBe('(coding)');
      expect(decoded(Buffer.alloc(0), null, coding)).toBe('(coding)');
    }
    expect(decoded(gzipSync(page).subarray(0, -9), null, 'gzip')).toBe('(coding)');
  });

  test('a small page that inflates beyond the limit gives the reason size', () => {
    const whole = Buffer.alloc(MAX_PAGE_OCTETS, 'a');
    expect(decoded(gzipSync(whole), null, 'gzip')).toBe(whole.toString());
    const larger = Buffer.alloc(MAX_PAGE_OCTETS + 1, 'a');
    expect(decoded(gzipSync(larger), null, 'gzip')).toBe('(size)');
    expect(decoded(brotliCompressSync(larger), null, 'br')).toBe('(size)');
    expect(decoded(deflateSync(larger), null, 'deflate')).toBe('(size)');
  });
});
