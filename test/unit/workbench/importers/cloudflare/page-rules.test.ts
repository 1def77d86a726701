/** Page rules of Cloudflare: what the importer claims as carried over decides as Cloudflare's documentation says. */
import { expect, test } from 'vitest';
import { importCloudflare } from '../../../../../src/workbench/importers/cloudflare/import-cloudflare.ts';
import { checkCase, type ProductCase } from '../../../../support/importers/product-cases.ts';

const OPTIONS = { domain: 'example.com', origin: 'origin.example.net' };

/** A page rule as the API answers it; a text is a setting without a value. */
function pageRule(
  url: string,
  priority: number,
  ...actions: readonly (string | readonly [string, unknown])[]
) {
  return {
    id: 'f',
    targets: [{ target: 'url', constraint: { operator: 'matches', value: url } }],
    actions: actions.map((one) => (typeof one === 'string' ? { id: one } : { id: one[0], value: one[1] })),
    priority,
    status: 'active',
  };
}

const forward = (url: string, status_code = 301) => ['forwarding_url', { url, status_code }] as const;

function record(name: string, content: string): object {
  return { type: 'A', name, content, proxied: true, zone_name: 'example.com' };
}

const DNS = {
  result: [
    record('example.com', '198.51.100.1'),
    record('www.example.com', '198.51.100.2'),
    record('blog.example.com', '198.51.100.3'),
  ],
};
const RECORDS = ['exact', 'exact', 'exact'] as const;

const CASES: readonly ProductCase[] = [
  {
    name: 'the apex forwards to www with the path and the query',
    documents: [DNS, pageRule('example.com/*', 1, forward('https://www.example.com/$1'))],
    outcomes: [...RECORDS, 'exact'],
    decisions: [
      [
        'https://example.com/some-particular-page.html',
        '301 https://www.example.com/some-particular-page.html',
      ],
      ['http://example.com/', '301 https://www.example.com/'],
      ['https://example.com/a?b=c', '301 https://www.example.com/a?b=c'],
      ['https://www.example.com/a', 'forward'],
      ['https://blog.example.com/a', 'forward'],
    ],
  },
  {
    name: 'a URL without a path is that of the root, and a target without a star loses the rest',
    documents: [DNS, pageRule('blog.example.com', 1, forward('https://example.com/news', 302))],
    outcomes: [...RECORDS, 'differs'],
    decisions: [
      ['https://blog.example.com/', '302 https://example.com/news'],
      ['https://blog.example.com/a', 'forward'],
    ],
  },
  {
    name: 'a star before the host is any subdomain and none',
    documents: [DNS, pageRule('*example.com/products', 1, forward('https://shop.example.net/products'))],
    outcomes: [...RECORDS, 'differs'],
    decisions: [
      ['https://example.com/products', '301 https://shop.example.net/products'],
      ['https://www.example.com/products', '301 https://shop.example.net/products'],
      ['https://www.example.com/blog/products', 'forward'],
    ],
  },
  {
    name: '*.example.com is subdomains alone',
    documents: [DNS, pageRule('*.example.com/*', 1, forward('https://example.net/$2'))],
    outcomes: [...RECORDS, 'exact'],
    decisions: [
      ['https://www.example.com/a', '301 https://example.net/a'],
      ['https://example.com/a', 'forward'],
    ],
  },
  {
    name: 'a star inside a path is any text, and a pattern ignores case',
    documents: [DNS, pageRule('example.com/t*st', 1, ['cache_level', 'bypass'])],
    outcomes: [...RECORDS, 'differs'],
    decisions: [
      ['https://example.com/test', 'cache bypass'],
      ['https://example.com/toast', 'cache bypass'],
      ['https://example.com/TRUST', 'cache bypass'],
      ['https://example.com/tst', 'cache bypass'],
      ['https://example.com/tes', 'cache none'],
    ],
  },
  {
    name: 'foo/* is not foo, and foo* is',
    documents: [
      DNS,
      pageRule('example.com/foo/*', 2, forward('https://example.net/')),
      pageRule('example.com/bar*', 1, forward('https://example.net/')),
    ],
    outcomes: [...RECORDS, 'exact', 'exact'],
    decisions: [
      ['https://example.com/foo', 'forward'],
      ['https://example.com/foo/x', '301 https://example.net/'],
      ['https://example.com/bar', '301 https://example.net/'],
      ['https://example.com/barx', '301 https://example.net/'],
    ],
  },
  {
    name: 'a target with the part of the path before the star keeps the path, others have captures',
    documents: [
      DNS,
      pageRule('example.com/docs/*', 4, forward('https://docs.example.net/docs/$1')),
      pageRule('example.com/old/*', 3, forward('https://example.net/new/$1')),
      pageRule('*.example.com/x/*', 2, forward('https://example.net/$1/$2')),
      pageRule('example.com/n*', 1, forward('https://example.net/n$2')),
    ],
    outcomes: [...RECORDS, 'differs', 'not_carried', 'not_carried', 'not_carried'],
    decisions: [
      ['https://example.com/docs/a?b', '301 https://docs.example.net/docs/a?b'],
      ['https://example.com/old/a', 'forward'],
    ],
  },
  {
    name: 'the highest priority that matches acts alone',
    documents: [
      DNS,
      pageRule('example.com/*', 1, forward('https://www.example.com/$1')),
      pageRule('example.com/images/special/*', 3, ['cache_level', 'bypass']),
      pageRule('example.com/images/*', 2, ['cache_level', 'cache_everything'], ['edge_cache_ttl', 7200]),
    ],
    outcomes: [...RECORDS, 'exact', 'exact', 'exact'],
    decisions: [
      ['https://example.com/images/special/a', 'cache bypass'],
      ['https://example.com/images/a', 'cache force 7200'],
      ['https://example.com/IMAGES/a', 'cache force 7200'],
      ['https://example.com/a', '301 https://www.example.com/a'],
    ],
  },
  {
    name: 'a rule whose setting has no rule still wins over those behind it',
    documents: [
      DNS,
      pageRule('example.com/app/*', 2, ['rocket_loader', 'on']),
      pageRule('*example.com/*', 1, ['cache_level', 'cache_everything'], ['edge_cache_ttl', 60]),
    ],
    outcomes: [...RECORDS, 'not_carried', 'exact'],
    decisions: [
      ['https://example.com/app/a', 'cache none'],
      ['https://example.com/a', 'cache force 60'],
      ['https://www.example.com/app/a', 'cache force 60'],
    ],
  },
  {
    name: 'https always, for each host with a record',
    documents: [DNS, pageRule('http://*example.com/*', 1, 'always_use_https')],
    outcomes: [...RECORDS, 'exact'],
    decisions: [
      ['http://example.com/a?b', '301 https://example.com/a?b'],
      ['http://blog.example.com/', '301 https://blog.example.com/'],
      ['https://example.com/a', 'forward'],
    ],
  },
  {
    name: 'https always of a wildcard record is not carried over, and others act on https behind one of plain http',
    documents: [
      [record('example.com', '198.51.100.1'), record('*.example.com', '198.51.100.2')],
      pageRule('http://*.example.com/*', 3, 'always_use_https'),
      pageRule('http://example.com/*', 2, forward('https://example.com/$1')),
      pageRule('example.com/*', 1, forward('https://example.net/$1')),
    ],
    outcomes: ['exact', 'exact', 'not_carried', 'exact', 'exact'],
    decisions: [
      ['http://example.com/a', '301 https://example.com/a'],
      ['https://example.com/a', '301 https://example.net/a'],
      ['http://www.example.com/a', 'forward'],
    ],
  },
  {
    name: 'what stores pages by cookie, device or file type is not carried over',
    documents: [
      DNS,
      pageRule(
        'example.com/a/*',
        6,
        ['cache_level', 'cache_everything'],
        ['bypass_cache_on_cookie', 'wordpress_.*'],
      ),
      pageRule('example.com/b/*', 5, ['cache_level', 'cache_everything'], ['cache_by_device_type', 'on']),
      pageRule('example.com/c/*', 4, ['edge_cache_ttl', 7200]),
      pageRule('example.com/d/*', 3, ['cache_level', 'basic']),
      pageRule('example.com/e/*', 2, ['cache_level', 'simplified']),
      pageRule('example.com/f/*', 1, ['cache_level', 'aggressive']),
    ],
    outcomes: [...RECORDS, 'not_carried', 'not_carried', 'not_carried', 'not_carried', 'not_carried'],
    decisions: [
      ['https://example.com/a/x', 'cache none'],
      ['https://example.com/c/x', 'cache none'],
    ],
  },
  {
    name: 'everything is cached as the origin says without a time, and a bypass needs no more',
    documents: [
      DNS,
      pageRule('example.com/a/*', 2, ['cache_level', 'cache_everything'], ['browser_cache_ttl', 3600]),
      pageRule('example.com/b/*', 1, ['cache_level', 'bypass'], ['bypass_cache_on_cookie', 'x=.*']),
    ],
    outcomes: [...RECORDS, 'differs', 'exact'],
    decisions: [
      ['https://example.com/a/x', 'cache standard'],
      ['https://example.com/b/x', 'cache bypass'],
    ],
  },
  {
    name: 'another origin, and another Host header for the origin of the record',
    documents: [
      DNS,
      pageRule('example.com/api/*', 3, ['resolve_override', 'api.example.net']),
      pageRule('blog.example.com/*', 2, ['host_header_override', 'b.example.net']),
      pageRule('*example.com/*', 1, ['host_header_override', 'c.example.net']),
    ],
    outcomes: [...RECORDS, 'differs', 'differs', 'not_carried'],
    decisions: [
      ['https://example.com/api/x', 'forward https://api.example.net:443'],
      ['https://blog.example.com/x', 'forward https://198.51.100.3:443'],
    ],
  },
  {
    name: 'under attack, every visitor is challenged, on more requests where the URL has no filter',
    documents: [
      DNS,
      pageRule('example.com/free/*', 4, ['cache_level', 'bypass']),
      pageRule('example.com/*', 3, ['security_level', 'under_attack']),
      pageRule('www.example.com:8443/x', 2, ['security_level', 'under_attack']),
      pageRule('blog.example.com/*', 1, ['security_level', 'high']),
    ],
    outcomes: [...RECORDS, 'exact', 'differs', 'closed', 'not_carried'],
    decisions: [
      ['https://example.com/a', 'challenge'],
      ['https://example.com/free/a', 'forward'],
      ['https://www.example.com/a', 'challenge'],
      ['https://blog.example.com/a', 'forward'],
    ],
  },
  {
    name: 'URLs of ports, queries and plain http',
    documents: [
      DNS,
      pageRule('example.com:8080/*', 4, ['cache_level', 'bypass']),
      pageRule('example.com/q?a=*', 3, ['cache_level', 'bypass']),
      pageRule('http://example.com/p/*', 2, ['cache_level', 'bypass']),
      pageRule('https://example.com/s/*', 1, ['cache_level', 'bypass']),
      { ...pageRule('example.com/*', 9, ['cache_level', 'bypass']), status: 'disabled' },
    ],
    outcomes: [...RECORDS, 'not_carried', 'not_carried', 'not_carried', 'differs'],
    decisions: [
      ['https://example.com/p/a', 'cache none'],
      ['https://example.com/s/a', 'cache bypass'],
      ['https://example.com/a', 'cache none'],
    ],
  },
  {
    name: 'settings that are off or turn something off are not needed',
    documents: [
      DNS,
      pageRule(
        'example.com/*',
        1,
        'disable_apps',
        'disable_performance',
        ['mirage', 'off'],
        ['waf', 'off'],
        'disable_security',
      ),
    ],
    outcomes: [...RECORDS, 'not_carried'],
    decisions: [['https://example.com/a', 'forward']],
  },
];

test('there are 17 configurations', () => {
  expect(CASES.length).toBe(17);
});

test.each(CASES)('$name', (one) => {
  checkCase(one, (files) => importCloudflare(files, OPTIONS));
});

test('page rules alone name the hosts of the file', () => {
  const text = JSON.stringify(pageRule('shop.example.com/*', 1, forward('https://example.net/$1')));
  const edge = importCloudflare([{ name: 'p.json', text }], { ...OPTIONS, domain: null });
  expect(edge).toMatchObject({ ok: true, domain: 'example.com' });
});

test('many page rules compare paths with case, and say so', () => {
  const rules = Array.from({ length: 40 }, (_, index) =>
    pageRule(`example.com/p${index}/*`, index, ['cache_level', 'bypass']),
  );
  const edge = importCloudflare([{ name: 'p.json', text: JSON.stringify({ result: rules }) }], OPTIONS);
  if (!edge.ok) throw new Error(JSON.stringify(edge));
  expect(edge.entries.map(({ outcome }) => outcome)).toEqual(rules.map(() => 'differs'));
  expect(edge.text).not.toContain('regex');
});
