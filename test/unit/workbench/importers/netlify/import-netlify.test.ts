/** `_redirects` and `_headers`: the file answers as a naive reading of their documentation does, line by line. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CLOUDFLARE_PAGES, NETLIFY } from '../../../../../src/workbench/importers/netlify/import-netlify.ts';
import { countOpened } from '../../../../../src/workbench/importers/report.ts';
import { type EvaluatedImport, evaluateImport } from '../../../../support/importers/evaluate-import.ts';

const OPTIONS = { domain: 'example.com', origin: 'origin.invalid' };

function importText(text: string, product = NETLIFY, name = '_redirects'): EvaluatedImport {
  return evaluateImport(product.translate([{ name, text }], OPTIONS, () => []));
}

interface Visitor {
  readonly path: string;
  readonly query: string;
  readonly country: string;
  readonly cookie: string;
}

/** One line as the oracle reads it. */
interface Line {
  readonly from: string;
  readonly to: string;
  readonly status: string;
  readonly condition: string;
}

/** Values of placeholders where a path matches; `null`: it does not. Segments are compared one by one. */
function match(from: string, path: string, ignoresSlash: boolean): ReadonlyMap<string, string> | null {
  const found = new Map<string, string>();
  const split = (text: string): string[] => text.slice(1).split('/');
  const wanted = split(ignoresSlash && from !== '/' ? from.replace(/\/$/, '') : from);
  const given = split(path);
  for (const [index, piece] of wanted.entries()) {
    if (piece === '*') {
      if (!ignoresSlash && given.length <= index) return null;
      found.set('splat', given.slice(index).join('/'));
      return found;
    }
    const segment = given[index];
    if (segment === undefined) return null;
    if (piece.startsWith(':')) {
      if (segment === '') return null;
      found.set(piece.slice(1), segment);
    } else if (piece !== segment) return null;
  }
  const left = given.slice(wanted.length);
  const isWhole = left.length === 0 || (ignoresSlash && left.length === 1 && left[0] === '');
  return isWhole ? found : null;
}

function holds(condition: string, { country, cookie }: Visitor): boolean {
  const [name, value = ''] = condition.split('=');
  if (name === 'Country') return value.split(',').includes(country.toLowerCase());
  if (name === 'Cookie') return value.split(',').some((one) => cookie.startsWith(`${one}=`));
  return true;
}

/** What the first line that matches answers: `301 URL`, `404`, or the path that the origin gets. */
function expected(lines: readonly Line[], visitor: Visitor, ignoresSlash: boolean): string {
  for (const { from, to, status, condition } of lines) {
    const values = match(from, visitor.path, ignoresSlash);
    if (values === null || !holds(condition, visitor)) continue;
    const filled = to.replace(/:([a-z]+)/g, (mark, name: string) => values.get(name) ?? mark);
    const code = status.replace('!', '') || (ignoresSlash ? '301' : '302');
    if (code === '404') return '404';
    if (code === '200') return `forward ${filled}`;
    const query = visitor.query === '' ? '' : `?${visitor.query}`;
    return `${code} ${new URL(filled + query, 'https://example.com').href}`;
  }
  return `forward ${visitor.path}`;
}

function answered({ decide }: EvaluatedImport, { path, query, country, cookie }: Visitor): string {
  const target = query === '' ? path : `${path}?${query}`;
  const decision = decide({ target, country, headers: cookie === '' ? {} : { cookie } });
  if (decision.action === 'redirect')
    return `${decision.status} ${new URL(decision.location!, 'https://example.com').href}`;
  return decision.action === 'block' ? `${decision.status}` : `forward ${decision.path}`;
}

const FROM = fc.constantFrom(
  '/',
  '/a',
  '/a/',
  '/b',
  '/a/b',
  '/a/*',
  '/b/:x',
  '/:x/:y',
  '/a/:x/c',
  '/:x',
  '/c/*',
  '/*',
);
const TO = fc.constantFrom(
  '/z',
  '/z/:x',
  '/z/:splat',
  'https://z.example.net/:splat',
  '/q/:y/:x',
  'https://z.example.net/a',
);
const STATUS = fc.constantFrom('', '301!', '302!', '308!', '200!', '404!');
const CONDITION = fc.constantFrom('', '', '', 'Country=de,at', 'Cookie=beta', 'Cookie=beta,old');

/** A line whose target has placeholders of its path alone. */
const LINE = fc.record({ from: FROM, to: TO, status: STATUS, condition: CONDITION }).map((line) => {
  const names = [...line.to.matchAll(/:([a-z]+)/g)].map((found) => found[1]!);
  const has = (name: string): boolean =>
    name === 'splat' ? line.from.endsWith('*') : line.from.includes(`:${name}`);
  const to = names.every(has) ? line.to : '/z';
  return { ...line, to: line.status === '200!' && to.startsWith('https') ? '/z' : to };
});

const VISITORS: readonly Visitor[] = [
  '/',
  '/a',
  '/a/',
  '/b',
  '/b/',
  '/a/b',
  '/a/b/c',
  '/b/q',
  '/b/q/',
  '/c',
  '/c/',
  '/c/d/e',
  '/x',
  '/x/y',
  '/A',
].flatMap((path) => [
  { path, query: '', country: 'FR', cookie: '' },
  { path, query: 'p=1&r=2', country: 'DE', cookie: '' },
  { path, query: '', country: 'FR', cookie: 'beta=1' },
]);

/** Whether the report says that a refusal comes before a redirect, or that a target writes two slashes. */
function isStated(imported: EvaluatedImport, ours: string, theirs: string): boolean {
  const isFirst = imported.edge.entries.some(({ reasons }) =>
    reasons.some((one) => one.includes('refused first')),
  );
  return isFirst && ours === '404' && /^30/.test(theirs);
}

test.each([
  ['Netlify', NETLIFY, true],
  ['Cloudflare Pages', CLOUDFLARE_PAGES, false],
] as const)('files of %s that are generated answer as the documented format', (_, product, ignoresSlash) => {
  let compared = 0;
  const property = fc.property(fc.array(LINE, { minLength: 1, maxLength: 6 }), (written) => {
    const lines = written.map((line) =>
      ignoresSlash
        ? line
        : { ...line, status: line.status.replace(/!|404!/, '').replace('404', ''), condition: '' },
    );
    const text = lines
      .map(({ from, to, status, condition }) => [from, to, status, condition].join(' '))
      .join('\n');
    const imported = importText(text, product);
    expect(countOpened(imported.edge.entries)).toBe(0);
    for (const visitor of VISITORS) {
      const theirs = expected(lines, visitor, ignoresSlash);
      const ours = answered(imported, visitor);
      const url = `https://example.com${visitor.path}${visitor.query === '' ? '' : `?${visitor.query}`}`;
      // The edge skips redirects to the URL of the request.
      if (theirs.endsWith(` ${url}`) || isStated(imported, ours, theirs)) continue;
      expect(ours, `${text}\n${JSON.stringify(visitor)}\n${imported.edge.text}`).toBe(theirs);
      compared++;
    }
  });
  fc.assert(property, { numRuns: 150, seed: 20_261_130 });
  expect(compared).toBeGreaterThan(3_000);
});

describe('lines of Netlify', () => {
  test.each([
    ['comments and blank lines', '# x\n\n/a /b # y', ['exact'], '/a', '301 https://example.com/b'],
    [
      'a URL to another site',
      '/a https://www.example.net 302',
      ['exact'],
      '/a',
      '302 https://www.example.net/',
    ],
    ['a parameter of the query', '/a id=5 /b', ['differs'], '/a?id=5', '301 https://example.com/b?id=5'],
    ['a parameter that is not there', '/a id=5 /b', ['differs'], '/a?id=6', 'forward /a'],
    ['a parameter that the target names', '/a id=:id /b/:id', ['not_carried'], '/a?id=5', 'forward /a'],
    ['a role without another line', '/a/* 200! Role=admin', ['closed'], '/a/b', '403'],
    [
      'a role with another line',
      '/a/* 200! Role=admin\n/a/* /login 302!',
      ['not_carried', 'exact'],
      '/a/b',
      '302 https://example.com/login',
    ],
    ['a single-page application', '/* /index.html 200', ['not_needed'], '/a', 'forward /a'],
    ['a page of errors', '/* /404.html 404', ['not_carried'], '/a', 'forward /a'],
    ['a target with a query', '/a /b?c=d', ['exact'], '/a?x=1', '301 https://example.com/b?c=d'],
    ['a placeholder in the query', '/a/:x /b?c=:x', ['differs'], '/a/1', '301 https://example.com/b?c=1'],
    ['a dollar in the query', '/a /b?c=5$', ['exact'], '/a', '301 https://example.com/b?c=5$'],
    ['… of a path of the site', '/a/:x /b?c=:x 200!', ['not_carried'], '/a/1', 'forward /a/1'],
    [
      'a parameter that is a pattern',
      '/a c=:(a*)* /b 301',
      ['differs'],
      '/a?c=1',
      '301 https://example.com/b?c=1',
    ],
    ['a line without a target', '/a', ['not_carried'], '/a', 'forward /a'],
  ])('%s', (_, text, outcomes, target, answer) => {
    const imported = importText(text);
    expect(imported.edge.entries.map(({ outcome }) => outcome)).toEqual(outcomes);
    const [path = '', query = ''] = target.split('?');
    expect(answered(imported, { path, query, country: 'FR', cookie: '' })).toBe(answer);
  });

  test('another host becomes its origin, with the rest of the path', () => {
    const { decide } = importText(
      '/api/* https://api.example.net:8443/v1/:splat 200!\n/raw/* https://raw.example.net/raw/:splat 200!',
    );
    const api = decide({ target: '/api/x/y?z=1' });
    expect([api.path, api.query, api.origin?.address, api.origin?.port]).toEqual([
      '/v1/x/y',
      'z=1',
      'api.example.net',
      8443,
    ]);
    const raw = decide({ target: '/raw/x' });
    expect([raw.path, raw.origin?.address, raw.origin?.hostHeader]).toEqual([
      '/raw/x',
      'raw.example.net',
      'raw.example.net',
    ]);
  });

  test('a host before the path is the host of the rule', () => {
    const { decide } = importText('https://blog.example.com/* https://www.example.com/blog/:splat 301!');
    expect(decide({ host: 'blog.example.com', target: '/x' }).location).toBe(
      'https://www.example.com/blog/x',
    );
    expect(decide({ target: '/x' }).action).toBe('forward');
  });

  test('two thousand lines are imported, and the last of them answers', () => {
    const text = Array.from({ length: 2_000 }, (_, index) => `/old-${index} /new-${index}`).join('\n');
    const { decide } = importText(text);
    expect(decide({ target: '/old-1999' }).location).toBe('/new-1999');
  });
});

describe('_headers', () => {
  const text =
    '/*\n  X-Frame-Options: DENY\n  X-Cost: 5$\n/assets/*\n  Cache-Control: max-age=60\n  ! X-Frame-Options\n/private/*\n  Basic-Auth: ann:secret\n';

  test('headers of paths become rules, and a password refuses its paths without being shown', () => {
    const imported = importText(text, NETLIFY, '_headers');
    expect(imported.edge.entries.map(({ outcome }) => outcome)).toEqual([
      'exact',
      'exact',
      'exact',
      'differs',
      'differs',
    ]);
    expect(JSON.stringify(imported.edge)).not.toContain('secret');
    expect(imported.decide({ target: '/private/x' }).action).toBe('block');
    const changes = (target: string): string => JSON.stringify(imported.decide({ target }));
    expect(changes('/a')).toContain('DENY');
    expect(changes('/assets/x')).toContain('max-age=60');
    expect(changes('/a')).not.toContain('max-age=60');
  });

  test('a line that is below no path is named', () => {
    const { edge } = importText('  X-A: b\n', CLOUDFLARE_PAGES, '_headers');
    expect(edge.entries).toMatchObject([{ outcome: 'not_carried', reasons: ['it is below no path'] }]);
  });
});
