/** Which Accept headers prefer Markdown, and the header that the origin gets. */
import { expect, test } from 'vitest';
import { prefersMarkdown, withHtml } from '../../../../src/edge/markdown/request.ts';

test.each([
  ['text/markdown', true],
  ['text/markdown, text/html;q=0.9, */*;q=0.8', true],
  ['text/html, text/markdown', true],
  ['TEXT/Markdown; Q=0.5, text/html;q=0.5', true],
  ['text/markdown;variant=GFM, */*', true],
  ['text/markdown, */*', true],
  ['text/markdown;q=0.1, text/html;q=0, */*', true],
  ['text/markdown;q=0.000', false],
  ['text/markdown;q=0.9, text/html', false],
  ['text/markdown;q=0.5, */*', false],
  ['text/markdown;q=0.5, text/*;q=0.6', false],
  ['text/markdown;q=2', false],
  ['text/markdown;q=x', false],
  ['text/markdown;q=1e-1', false],
  ['"text/markdown"', false],
  ['text/html', false],
  ['text/*', false],
  ['*/*', false],
  ['', false],
])('%s', (accept, prefers) => {
  expect(prefersMarkdown(accept)).toBe(prefers);
});

test.each([
  ['text/markdown', 'text/markdown, text/html;q=0.001'],
  ['text/markdown, text/html;q=0', 'text/markdown, text/html;q=0, text/html;q=0.001'],
  ['text/markdown, text/html;q=0.5', 'text/markdown, text/html;q=0.5'],
  ['text/markdown, */*;q=0.1', 'text/markdown, */*;q=0.1'],
])('an origin is asked for %s', (accept, asked) => {
  expect(withHtml(accept)).toBe(asked);
});
