/** Hostile pages: the characters that a conversion reads grow linearly with the page. */
import { describe, expect, test } from 'vitest';
import { convert } from '../../../../src/edge/markdown/convert.ts';
import { MAX_PAGE_OCTETS } from '../../../../src/edge/markdown/outcome.ts';
import { countTextWork } from '../../../support/count-text-work.ts';

const ADDRESS = 'https://shop.test/';
/** Most characters read per character of the page: parser, folding, escaping and writing read each a few times. */
const MOST_READ = 12;

function filled(unit: string): string {
  return unit.repeat(Math.floor(MAX_PAGE_OCTETS / unit.length));
}

const PAGES: readonly (readonly [name: string, html: string, outcome: string])[] = [
  ['divisions within each other', `${'<div>'.repeat(100_000)}a`, 'depth'],
  ['marks within each other', filled('<b>a'), 'depth'],
  ['marks within marks of their kind', filled(`${'<i>'.repeat(500)}a${'</i>'.repeat(500)}`), 'rendered'],
  ['ends without beginnings', filled('</div></p>'), 'empty'],
  ['paragraphs without ends', filled('<p>a'), 'rendered'],
  ['beginnings of tags', filled('<'), 'rendered'],
  ['a tag without an end', `<a ${filled('x ')}`, 'empty'],
  ['an attribute without an end', `<a href="${filled('x')}`, 'empty'],
  ['a large attribute', `<a href="${filled('x').slice(20)}">a</a>`, 'rendered'],
  [
    'many attributes',
    `<a ${Array.from({ length: 200_000 }, (_, at) => `a${at}`).join(' ')}>a</a>`,
    'rendered',
  ],
  ['entities', 'a&lt;'.repeat(400_000), 'rendered'],
  ['a million entities', filled('&x'), 'rendered'],
  ['entities that are none', filled('&CounterClockwiseContourIntegra'), 'rendered'],
  ['comments without ends', filled('<!--'), 'empty'],
  ['scripts without ends', filled('<script>'), 'empty'],
  ['ends of scripts that are none', `<script>${filled('</scrip')}`, 'empty'],
  ['one long word of signs', filled('*_`['), 'rendered'],
  ['backticks in code', `<code>${filled('`')}`, 'rendered'],
  ['a code block of lines', `<pre>${filled('\n')}x`, 'rendered'],
  ['breaks', filled('a<br>'), 'rendered'],
  ['quotations', filled('<blockquote>a</blockquote>'), 'rendered'],
  ['lists', filled('<ul><li>a</ul>'), 'rendered'],
  ['a wide row', `<table><tr>${filled('<td>a')}`, 'rendered'],
  ['a wide row over many', `<table><tr>${'<td>a'.repeat(100_000)}${'<tr><td>a'.repeat(100_000)}`, 'rendered'],
  ['tables within each other', filled('<table><td>a'), 'depth'],
  ['articles', filled('<article><h1>a</h1></article>'), 'rendered'],
  ['links', filled('<a href=/a>a</a>'), 'rendered'],
  ['forms', filled('<form>a'), 'rendered'],
  ['titles', filled('<title>a</title>'), 'empty'],
];

describe('a conversion of two million characters reads linearly many characters', () => {
  test.each(PAGES)('%s', (_name, html, outcome) => {
    let converted = convert('', ADDRESS);
    const read = countTextWork(() => {
      converted = convert(html, ADDRESS);
    });
    expect(converted.ok ? 'rendered' : converted.reason).toBe(outcome);
    expect(read / html.length).toBeLessThan(MOST_READ);
  });
});
