/** Actions of Cloudflare with captures, keys of counts, headers and lists of the account. */
import { expect, test } from 'vitest';
import { importCloudflare } from '../../../../../src/workbench/importers/cloudflare/import-cloudflare.ts';
import {
  block,
  firewall,
  OPTIONS,
  redirect,
  redirects,
  ruleset,
} from '../../../../support/importers/cloudflare-documents.ts';
import { checkCase, type ProductCase } from '../../../../support/importers/product-cases.ts';

/** A rate limit of one request for what is counted. */
function limit(characteristics: readonly string[], more: object = {}, expression = 'true'): object {
  const ratelimit = { characteristics, period: 60, requests_per_period: 1, mitigation_timeout: 60, ...more };
  return { action: 'block', expression, ratelimit };
}

/** Rules that change headers. */
function headers(side: 'request' | 'response', changes: object, expression = 'true'): object {
  const phase = side === 'request' ? 'http_request_late_transform' : 'http_response_headers_transform';
  return ruleset(phase, { action: 'rewrite', expression, action_parameters: { headers: changes } });
}

const HOME = 'https://example.com/';

const CASES: readonly ProductCase[] = [
  {
    name: 'counts for a header',
    documents: [ruleset('http_ratelimit', limit(['cf.colo.id', 'http.request.headers["x-key"]']))],
    outcomes: ['differs'],
    decisions: [
      [{ url: HOME, headers: { 'x-key': 'a' } }, 'forward'],
      [{ url: HOME, headers: { 'x-key': 'b' } }, 'forward'],
      [{ url: HOME, headers: { 'x-key': 'a' }, ip: '192.0.2.1' }, '429'],
      [HOME, 'forward'],
      [{ url: HOME, headers: { 'x-key': '' } }, '429'],
    ],
  },
  {
    name: 'counts for an address and a cookie, and for a parameter',
    documents: [
      ruleset(
        'http_ratelimit',
        limit(['ip.src', 'http.request.cookies["sid"]'], {}, 'http.request.uri.path eq "/c"'),
      ),
      ruleset('http_ratelimit', limit(['http.request.uri.args["id"]'], {}, 'http.request.uri.path eq "/q"')),
    ],
    outcomes: ['differs', 'differs'],
    decisions: [
      [{ url: `${HOME}c`, headers: { cookie: 'sid=1' } }, 'forward'],
      [{ url: `${HOME}c`, headers: { cookie: 'sid=2' } }, 'forward'],
      [{ url: `${HOME}c`, headers: { cookie: 'sid=1' }, ip: '192.0.2.1' }, 'forward'],
      [{ url: `${HOME}c`, headers: { cookie: 'sid=1' } }, '429'],
      [`${HOME}q?id=1`, 'forward'],
      [`${HOME}q?id=2`, 'forward'],
      [{ url: `${HOME}q?id=1`, ip: '192.0.2.1' }, '429'],
    ],
  },
  {
    name: 'counts for a country, a network, a path, a fingerprint and one host',
    documents: [
      ruleset(
        'http_ratelimit',
        limit(
          ['ip.src.country', 'ip.src.asnum', 'http.request.uri.path'],
          {},
          'http.request.method eq "PUT"',
        ),
        limit(
          ['cf.bot_management.ja4', 'http.host'],
          {},
          'http.host eq "example.com" and http.request.method eq "POST"',
        ),
      ),
    ],
    outcomes: ['differs', 'differs'],
    decisions: [
      [{ url: HOME, method: 'PUT', country: 'DE', asn: 64496 }, 'forward'],
      [{ url: HOME, method: 'PUT', country: 'DE', asn: 64497 }, 'forward'],
      [{ url: `${HOME}x`, method: 'PUT', country: 'DE', asn: 64496 }, 'forward'],
      [{ url: HOME, method: 'PUT', country: 'DE', asn: 64496, ip: '192.0.2.1' }, '429'],
      [{ url: HOME, method: 'POST', ja4: 't13d1516h2_8daaf6152771_b186095e22b6' }, 'forward'],
      [{ url: HOME, method: 'POST', ja4: 't13d1516h2_8daaf6152771_b186095e22b6' }, '429'],
    ],
  },
  {
    name: 'counts without an equivalent',
    documents: [
      ruleset(
        'http_ratelimit',
        limit(['cf.unique_visitor_id']),
        limit(['http.host', 'ip.src']),
        limit(['cf.colo.id']),
        limit(['constructor']),
        limit(['ip.src', 'ip.src.country', 'ip.src.asnum', 'http.request.uri.path']),
        limit(
          ['ip.src'],
          { counting_expression: 'http.response.code eq 401' },
          'http.request.uri.path eq "/login"',
        ),
        limit(['ip.src'], { counting_expression: 'http.response.code eq 200' }),
        limit(['ip.src'], { counting_expression: 'http.response.code ge 400' }),
      ),
    ],
    outcomes: Array.from({ length: 8 }, () => 'not_carried' as const),
    decisions: [[HOME, 'forward']],
  },
  {
    name: 'counting expressions for the requests of the rule',
    documents: [
      ruleset(
        'http_ratelimit',
        limit(
          ['ip.src'],
          { counting_expression: '(http.request.uri.path eq "/login") and http.response.code in {401 403}' },
          'http.request.uri.path eq "/login"',
        ),
        limit(['ip.src'], { counting_expression: 'http.response.code eq 404' }),
        limit(
          ['ip.src'],
          { counting_expression: '(http.request.uri.path eq "/a")' },
          'http.request.uri.path eq "/a"',
        ),
      ),
    ],
    outcomes: ['differs', 'differs', 'differs'],
    // Without a response nothing counts.
    decisions: [
      [`${HOME}login`, 'forward'],
      [`${HOME}login`, 'forward'],
      [`${HOME}a`, 'forward'],
      [`${HOME}a`, '429'],
    ],
  },
  {
    name: 'redirects with parts of the path',
    documents: [
      redirects(
        redirect('starts_with(http.request.uri.path, "/blog/")', {
          expression:
            'concat("https://blog.example.net", regex_replace(http.request.uri.path, "^/blog/", "/"))',
        }),
        redirect(
          'http.request.uri.path matches "^/p/([0-9]+)/(.*)$"',
          { expression: 'regex_replace(http.request.uri.path, "^/p/([0-9]+)/(.*)$", "/item/${2}?id=${1}")' },
          { status_code: 308 },
        ),
        redirect(
          'http.request.uri.path wildcard "/old/*/x"',
          { expression: 'wildcard_replace(http.request.uri.path, "/old/*/x", "/new/${1}")' },
          { preserve_query_string: true },
        ),
        redirect('http.request.full_uri wildcard "https://example.com/docs/*"', {
          expression:
            'wildcard_replace(http.request.full_uri, "https://example.com/docs/*", "https://docs.example.net/v1/${1}")',
        }),
        redirect('http.request.uri.path eq "/s"', {
          expression: 'concat("https://example.com", substring(http.request.uri.path, 1))',
        }),
        redirect('http.request.uri.path contains "/q/"', {
          expression: 'regex_replace(http.request.uri.path, "/q/", "/r/")',
        }),
      ),
    ],
    outcomes: ['exact', 'exact', 'exact', 'exact', 'not_carried', 'not_carried'],
    decisions: [
      [`${HOME}blog/2024/a%20b`, '301 https://blog.example.net/2024/a%20b'],
      [`${HOME}p/12/a/b?z`, '308 /item/a/b?id=12'],
      [`${HOME}p/x/a`, 'forward'],
      [`${HOME}OLD/1/2/X?q=1`, '301 /new/1/2?q=1'],
      [`${HOME}docs/a?q=1`, '301 https://docs.example.net/v1/a?q=1'],
      ['http://example.com/docs/a', 'forward'],
    ],
  },
  {
    name: 'headers of requests',
    documents: [
      headers('request', {
        'X-Client': { operation: 'set', expression: 'ip.src' },
        'X-Place': { operation: 'set', expression: 'concat(http.host, " ", http.request.method, "$")' },
        'X-Static': { operation: 'add', value: 'a${b}' },
        'X-Gone': { operation: 'remove' },
      }),
    ],
    outcomes: ['exact'],
    decisions: [
      [
        { url: HOME, ip: '192.0.2.1' },
        'request set X-Client: 192.0.2.1, set X-Place: example.com GET$, add X-Static: a${b}, remove X-Gone',
      ],
    ],
  },
  {
    name: 'headers of some requests, some of which a rule cannot change',
    documents: [
      headers(
        'request',
        {
          'X-Country': { operation: 'set', expression: 'ip.src.country' },
          'X-Score': { operation: 'set', expression: 'to_string(cf.threat_score)' },
          Host: { operation: 'set', value: 'x' },
        },
        'any(http.request.headers["x-a"][*] eq "1")',
      ),
      headers('request', { 'X-Score': { operation: 'set', expression: 'cf.bot_management.score' } }),
    ],
    outcomes: ['differs', 'not_carried'],
    decisions: [
      [{ url: HOME, country: 'DE', headers: { 'x-a': '1' } }, 'request set X-Country: DE'],
      [{ url: HOME, country: 'DE' }, 'request '],
    ],
  },
  {
    name: 'headers of responses',
    documents: [
      headers('response', {
        'Strict-Transport-Security': { operation: 'set', value: 'max-age=1' },
        'X-Powered-By': { operation: 'remove' },
        'Set-Cookie': { operation: 'add', value: 'a=b' },
      }),
      headers('response', { 'X-B': { operation: 'set', value: 'b' } }, 'http.response.code eq 200'),
    ],
    outcomes: ['differs', 'not_carried'],
    decisions: [
      [HOME, 'response set Strict-Transport-Security: max-age=1, add Set-Cookie: a=b, remove X-Powered-By'],
    ],
  },
  {
    name: 'lists of the account with their items',
    documents: [
      { name: 'office', kind: 'ip', items: [{ ip: '192.0.2.0/24' }, { ip: '2001:db8::/32' }] },
      { name: 'clouds', kind: 'asn', items: [{ asn: 64496 }, { asn: 64497 }] },
      {
        name: 'names',
        kind: 'hostname',
        items: [
          { hostname: { url_hostname: 'a.example.com' } },
          { hostname: { url_hostname: '*.b.example.com' } },
        ],
      },
      { name: 'odd', kind: 'ip', items: [{ asn: 1 }] },
      {
        name: 'moved',
        kind: 'redirect',
        items: [{ redirect: { source_url: 'example.com/m', target_url: 'https://example.com/n' } }],
      },
      firewall(
        block('starts_with(http.request.uri.path, "/admin") and not ip.src in $office'),
        block('ip.src.asnum in $clouds'),
        block('http.host in $names and http.request.uri.path eq "/h"'),
        block('http.request.uri.path eq "/o" and ip.src in $odd'),
      ),
    ],
    outcomes: ['exact', 'exact', 'exact', 'closed', 'exact'],
    decisions: [
      [{ url: `${HOME}admin`, ip: '192.0.2.9' }, 'forward'],
      [{ url: `${HOME}admin`, ip: '198.51.100.9' }, 'block'],
      [{ url: HOME, asn: 64497 }, 'block'],
      [{ url: HOME, asn: 64498 }, 'forward'],
      [`${HOME}h`, 'forward'],
      [`${HOME}m`, '301 https://example.com/n'],
      [`${HOME}o`, 'block'],
    ],
  },
  {
    name: 'a list of more addresses than one rule takes',
    documents: [
      {
        name: 'many',
        kind: 'ip',
        items: Array.from({ length: 600 }, (_, index) => ({ ip: `10.${index >> 8}.${index & 255}.1` })),
      },
      firewall(block('ip.src in $many'), block('http.request.uri.path eq "/x" and not ip.src in $many')),
    ],
    outcomes: ['exact', 'closed'],
    decisions: [
      [{ url: HOME, ip: '10.2.87.1' }, 'block'],
      [{ url: HOME, ip: '10.2.88.1' }, 'forward'],
      [{ url: `${HOME}x`, ip: '10.9.9.9' }, 'block'],
    ],
  },
  {
    name: 'answers of blocks',
    documents: [
      firewall(
        {
          ...block('http.request.uri.path eq "/gone"'),
          action_parameters: { response: { status_code: 410 } },
        },
        {
          ...block('http.request.uri.path eq "/teapot"'),
          action_parameters: { response: { status_code: 418 } },
        },
      ),
    ],
    outcomes: ['exact', 'differs'],
    decisions: [
      [`${HOME}gone`, 'block 410'],
      [`${HOME}teapot`, 'block 403'],
    ],
  },
];

test('there are 12 configurations', () => {
  expect(CASES.length).toBe(12);
});

test.each(CASES)('$name', (one) => {
  checkCase(one, (files) => importCloudflare(files, OPTIONS));
});

test('a guard with more comparisons than a rule takes refuses its path', () => {
  const names = Array.from({ length: 20 }, (_, index) => `any(http.request.headers["x-${index}"][*] eq "a")`);
  const expression = `http.request.uri.path eq "/x" and ${names.join(' and ')}`;
  const files = [{ name: 'a.json', text: JSON.stringify(firewall(block(expression))) }];
  const result = importCloudflare(files, OPTIONS);
  expect(result.ok && result.entries[0]).toMatchObject({
    outcome: 'closed',
    opened: false,
    becomes: ['drop'],
  });
});
