/** Any text at all as a page: it becomes Markdown or is refused, never grows beyond its bound, and holds no tag. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { convert } from '../../src/edge/markdown/convert.ts';
import { GROWTH, GROWTH_FLOOR } from '../../src/edge/markdown/writer.ts';

const NAMES = [
  ...['a', 'article', 'b', 'blockquote', 'br', 'caption', 'dd', 'div', 'dl', 'dt', 'em', 'form', 'h1', 'h2'],
  ...[
    'hr',
    'img',
    'li',
    'main',
    'nav',
    'ol',
    'p',
    'q',
    's',
    'script',
    'span',
    'style',
    'svg',
    'table',
    'tbody',
  ],
  ...['td', 'template', 'th', 'thead', 'title', 'tr', 'ul', 'base', 'math', 'textarea', 'select', 'option'],
];
const CODES = ['code', 'pre', 'kbd', 'plaintext', 'xmp'];

const attribute = fc.oneof(
  fc.constantFrom('hidden', 'aria-hidden=true', 'start=7', 'colspan=3', 'role=none', 'href=/a', 'href="b c"'),
  fc.constantFrom(
    'href=javascript:a',
    'href="//x.test/<script>"',
    'alt="<script>"',
    'src=i.png',
    'alt="[a](b)"',
  ),
  fc.string({ maxLength: 12 }).map((text) => `title="${text.replaceAll('"', '')}"`),
);
const text = fc.oneof(
  fc.constantFrom(
    'a',
    ' ',
    '\n',
    'b c',
    '&lt;script&gt;',
    '&lt;',
    '&amp;',
    '&#60;',
    '# ',
    '- ',
    '1. ',
    '> ',
    '|',
  ),
  fc.constantFrom(
    '`',
    '```\n',
    '*',
    '**',
    '_',
    '[',
    '](',
    ')',
    '!',
    '\\',
    '~~',
    '---',
    '&',
    '<',
    '</',
    '<!--',
    '-->',
  ),
  fc.string({ maxLength: 20 }),
);

function pages(names: readonly string[]): fc.Arbitrary<string> {
  const name = fc.constantFrom(...names);
  const opening = fc.tuple(name, fc.array(attribute, { maxLength: 2 })).map(([tag, more]) => {
    return `<${[tag, ...more].join(' ')}>`;
  });
  const closing = name.map((tag) => `</${tag}>`);
  return fc.array(fc.oneof(opening, closing, text), { maxLength: 60 }).map((parts) => parts.join(''));
}

const ADDRESS = 'https://shop.test/a/b';

test('a page becomes Markdown or is refused, and is bounded', () => {
  let rendered = 0;
  fc.assert(
    fc.property(pages([...NAMES, ...CODES]), (html) => {
      const converted = convert(html, ADDRESS);
      if (!converted.ok) return;
      rendered++;
      // Of a title every character may become an entity, and a mark stands before it.
      const title = 5 * html.length + 4;
      expect(converted.markdown.length).toBeLessThanOrEqual(GROWTH * html.length + GROWTH_FLOOR + title);
      expect(converted.markdown.trim()).not.toBe('');
      expect(converted.markdown.endsWith('\n')).toBe(true);
    }),
    { numRuns: 3_000 },
  );
  expect(rendered).toBeGreaterThan(1_000);
});

test('outside of code there is no tag, whatever the text says', () => {
  fc.assert(
    fc.property(pages(NAMES), (html) => {
      const converted = convert(html, ADDRESS);
      if (converted.ok) expect(converted.markdown).not.toContain('<');
    }),
    { numRuns: 3_000 },
  );
});

test('text alone reads as the same words after unescaping', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii', maxLength: 200 }), (said) => {
      const html = `<p>${said.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`;
      const converted = convert(html, ADDRESS);
      const words = said.split(/[\s\0]+/).filter((word) => word !== '');
      if (said.includes('\0')) return;
      expect(converted.ok ? unescaped(converted.markdown) : '').toBe(words.join(' '));
    }),
    { numRuns: 3_000 },
  );
});

/** What a reader of CommonMark makes of escapes and entities (§2.4, §2.5). */
function unescaped(markdown: string): string {
  return markdown.trim().replaceAll(/\\([!-/:-@[-`{-~])|&lt;|&amp;/g, (found, sign: string | undefined) => {
    return sign ?? (found === '&lt;' ? '<' : '&');
  });
}
