/** The Cloudflare importer: what it claims as carried over decides as Cloudflare's documentation says. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { importCloudflare } from '../../../../../src/workbench/importers/cloudflare/import-cloudflare.ts';
import { parseExpression } from '../../../../../src/workbench/importers/cloudflare/parse-expression.ts';
import { MAX_EXPRESSION_DEPTH } from '../../../../../src/workbench/importers/filter.ts';
import {
  block,
  firewall,
  OPTIONS,
  redirect,
  redirects,
  rewrite,
  ruleset,
} from '../../../../support/importers/cloudflare-documents.ts';
import { checkCase, type ProductCase } from '../../../../support/importers/product-cases.ts';

/** An Access application of the API. */
function access(name: string, fields: object): object {
  return { id: name, aud: 'a', type: 'self_hosted', name, ...fields };
}

const DNS = {
  result: [
    { type: 'A', name: 'example.com', content: '198.51.100.1', proxied: true, zone_name: 'example.com' },
    { type: 'A', name: 'shop.example.com', content: '198.51.100.2', proxied: true, zone_name: 'example.com' },
    {
      type: 'CNAME',
      name: '*.example.com',
      content: 'apps.example.net',
      proxied: true,
      zone_name: 'example.com',
    },
    {
      type: 'MX',
      name: 'example.com',
      content: 'mail.example.com',
      proxied: false,
      zone_name: 'example.com',
    },
  ],
};
const RECORDS = ['exact', 'exact', 'exact'] as const;

const CASES: readonly ProductCase[] = [
  {
    name: 'paths that nobody may see',
    documents: [
      firewall(
        block('(http.request.uri.path eq "/xmlrpc.php") or (starts_with(http.request.uri.path, "/.git"))'),
      ),
    ],
    outcomes: ['exact'],
    decisions: [
      ['https://example.com/xmlrpc.php', 'block'],
      ['https://example.com/xmlrpc.php?x=1', 'block'],
      ['https://example.com/.git/config', 'block'],
      ['https://example.com/.github', 'block'],
      ['https://example.com/x/xmlrpc.php', 'forward'],
      ['https://example.com/XMLRPC.php', 'forward'],
    ],
  },
  {
    name: 'an admin area for two networks',
    documents: [
      firewall(
        block('http.request.uri.path contains "/admin" and not ip.src in {192.0.2.0/24 2001:db8::/32}'),
      ),
    ],
    outcomes: ['exact'],
    decisions: [
      [{ url: 'https://example.com/admin', ip: '192.0.2.7' }, 'forward'],
      [{ url: 'https://example.com/x/admin/y', ip: '192.0.3.7' }, 'block'],
      [{ url: 'https://example.com/admin', ip: '2001:db8:1::1' }, 'forward'],
      [{ url: 'https://example.com/admin', ip: '2001:db9::1' }, 'block'],
      [{ url: 'https://example.com/adm', ip: '192.0.3.7' }, 'forward'],
    ],
  },
  {
    name: 'countries, with an exception for one address',
    documents: [
      firewall(
        block('(ip.src.country in {"KP" "RU"} and ip.src ne 203.0.113.5) or ip.geoip.country eq "BY"'),
      ),
    ],
    outcomes: ['exact'],
    decisions: [
      [{ url: 'https://example.com/', country: 'RU' }, 'block'],
      [{ url: 'https://example.com/', country: 'RU', ip: '203.0.113.5' }, 'forward'],
      [{ url: 'https://example.com/', country: 'BY', ip: '203.0.113.5' }, 'block'],
      [{ url: 'https://example.com/', country: 'DE' }, 'forward'],
    ],
  },
  {
    name: 'everyone but some countries, on one host',
    documents: [
      DNS,
      firewall(block('http.host eq "shop.example.com" and not ip.src.country in {"DE" "AT"}')),
    ],
    outcomes: [...RECORDS, 'exact'],
    decisions: [
      [{ url: 'https://shop.example.com/', country: 'FR' }, 'block'],
      [{ url: 'https://shop.example.com/', country: 'AT' }, 'forward'],
      [{ url: 'https://example.com/', country: 'FR' }, 'forward'],
    ],
  },
  {
    name: 'a rule that skips the ones behind it',
    documents: [
      firewall(
        { action: 'skip', expression: 'ip.src in {192.0.2.1}', action_parameters: { ruleset: 'current' } },
        block('starts_with(http.request.uri.path, "/private/")'),
      ),
    ],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://example.com/private/x', ip: '192.0.2.1' }, 'forward'],
      [{ url: 'https://example.com/private/x', ip: '192.0.2.2' }, 'block'],
    ],
  },
  {
    name: 'a skip whose condition has no equivalent',
    documents: [
      firewall(
        {
          action: 'skip',
          expression: 'cf.threat_score lt 5',
          action_parameters: { ruleset: 'current' },
        },
        block('http.request.uri.path eq "/x"'),
      ),
    ],
    outcomes: ['not_carried', 'differs'],
    decisions: [['https://example.com/x', 'block']],
  },
  {
    name: 'challenges and bots',
    documents: [
      firewall(
        { action: 'managed_challenge', expression: 'http.request.uri.path in {"/login" "/signup"}' },
        block('http.user_agent contains "GPTBot"'),
        block('cf.client.bot and http.host eq "example.com"'),
        { action: 'js_challenge', expression: 'ip.src.country eq "CN"' },
        { action: 'log', expression: 'true' },
      ),
    ],
    outcomes: ['differs', 'differs', 'differs', 'differs'],
    decisions: [
      ['https://example.com/login', 'challenge'],
      ['https://example.com/logins', 'forward'],
      [{ url: 'https://example.com/', country: 'CN' }, 'challenge'],
      [{ url: 'https://example.com/', country: 'DE' }, 'forward'],
      [
        {
          url: 'https://example.com/',
          agent: 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)',
        },
        'block',
      ],
      [{ url: 'https://example.com/', agent: 'Mozilla/5.0' }, 'forward'],
      [{ url: 'https://example.com/', agent: 'gptbot' }, 'forward'],
    ],
  },
  {
    name: 'conditions that no filter has',
    documents: [
      firewall(
        block('cf.threat_score gt 10'),
        block('http.request.uri.query contains "union select"'),
        block('ip.src in $bad_ips'),
        block('ip.src.continent eq "AS"'),
        block('cf.verified_bot_category eq "AI Crawler"'),
        block('http.request.method eq "TRACE" xor ssl'),
      ),
    ],
    outcomes: Array.from({ length: 6 }, () => 'not_carried' as const),
    decisions: [['http://example.com/?a=union%20select', 'forward']],
  },
  {
    name: 'regexes and negations',
    documents: [
      firewall(
        block(
          'http.request.uri.path matches "^/user/[0-9]+/(edit|delete)$" and http.request.uri.path ne "/user/1/edit"',
        ),
        block('http.request.uri.path matches "^/(?!ok)"'),
        block('!(starts_with(http.request.uri.path, "/") or http.host eq "a.example.com")'),
      ),
    ],
    outcomes: ['exact', 'not_carried'],
    decisions: [
      ['https://example.com/user/22/edit', 'block'],
      ['https://example.com/user/1/edit', 'forward'],
      ['https://example.com/user/1/delete', 'block'],
      ['https://example.com/user/x/edit', 'forward'],
    ],
  },
  {
    name: 'two tests of one path',
    documents: [
      firewall(
        block('starts_with(http.request.uri.path, "/files/") and ends_with(http.request.uri.path, ".exe")'),
        block('http.request.uri.path contains "/a/" and http.request.uri.path contains "/b/"'),
      ),
    ],
    outcomes: ['exact', 'closed'],
    decisions: [
      ['https://example.com/a/x/b/', 'block'],
      ['https://example.com/b/', 'forward'],
      ['https://example.com/files/x/setup.exe', 'block'],
      ['https://example.com/files/.exe', 'block'],
      ['https://example.com/files.exe', 'forward'],
      ['https://example.com/files/exe', 'forward'],
    ],
  },
  {
    name: 'wildcards, with and without regard to case',
    documents: [
      firewall(
        block('http.request.uri.path wildcard "/WP-*/setup*.php"'),
        block('http.request.uri.path strict wildcard "/Old/*"'),
        block('lower(http.request.uri.path) eq "/secret"'),
        block('http.request.uri.path.extension in {"bak" "sql"}'),
      ),
    ],
    outcomes: ['exact', 'exact', 'exact', 'exact'],
    decisions: [
      ['https://example.com/wp-x/y/setup-1.php', 'block'],
      ['https://example.com/Old/x', 'block'],
      ['https://example.com/old/x', 'forward'],
      ['https://example.com/SeCreT', 'block'],
      ['https://example.com/dump.SQL', 'block'],
      ['https://example.com/sql', 'forward'],
    ],
  },
  {
    name: 'single redirects to a static target',
    documents: [
      redirects(
        redirect(
          'http.request.uri.path eq "/contact-us/"',
          { value: 'https://example.com/contacts/' },
          { status_code: 301, preserve_query_string: true },
        ),
        redirect('http.host eq "old.example.com"', { value: 'https://example.com/' }, { status_code: 302 }),
        redirect('http.request.uri.path eq "/default"', { value: '/elsewhere' }),
      ),
    ],
    outcomes: ['exact', 'exact', 'exact'],
    decisions: [
      ['https://example.com/contact-us/?state=TX', '301 https://example.com/contacts/?state=TX'],
      ['https://example.com/team/', 'forward'],
      ['https://old.example.com/x?y=1', '302 https://example.com/'],
      ['https://example.com/default?a', '301 /elsewhere'],
    ],
  },
  {
    name: 'single redirects that keep the path',
    documents: [
      redirects(
        redirect(
          'http.host eq "www.example.com"',
          { expression: 'concat("https://example.com", http.request.uri.path)' },
          { preserve_query_string: true },
        ),
        redirect(
          'http.host eq "m.example.com"',
          { expression: 'concat("https://example.com/mobile", http.request.uri)' },
          { status_code: 308 },
        ),
        redirect('http.request.full_uri wildcard r"http*://blog.example.com/*"', {
          expression:
            'wildcard_replace(http.request.full_uri, r"http*://blog.example.com/*", r"https://example.com/blog/${2}")',
        }),
        redirect('starts_with(http.request.uri.path, "/u/")', {
          expression: 'regex_replace(http.request.uri.path, "^/u/", "/user/")',
        }),
      ),
    ],
    outcomes: ['exact', 'exact', 'differs', 'exact'],
    decisions: [
      ['https://example.com/u/7?x=1', '301 /user/7'],
      ['https://example.com/u/a%2Fb', '301 /user/a%2Fb'],
      ['https://example.com/us/7', 'forward'],
      ['https://www.example.com/a/b?c=d', '301 https://example.com/a/b?c=d'],
      ['https://m.example.com/a?b', '308 https://example.com/mobile/a?b'],
      ['https://blog.example.com/2020/post?x=1', '301 https://example.com/blog/2020/post?x=1'],
    ],
  },
  {
    name: 'a block behind a redirect',
    documents: [
      redirects(
        redirect('starts_with(http.request.uri.path, "/old/")', { value: 'https://example.com/new' }),
      ),
      firewall(block('ip.src in {203.0.113.0/24}'), block('starts_with(http.request.uri.path, "/hidden/")')),
    ],
    outcomes: ['exact', 'differs', 'exact'],
    decisions: [
      ['https://example.com/old/x', '301 https://example.com/new'],
      ['https://example.com/hidden/x', 'block'],
    ],
  },
  {
    name: 'a bulk redirect list',
    documents: [
      ruleset('http_request_redirect', {
        action: 'redirect',
        expression: 'http.request.full_uri in $moved',
        action_parameters: { from_list: { name: 'moved', key: 'http.request.full_uri' } },
        enabled: false,
      }),
      {
        result: [
          {
            redirect: {
              source_url: 'example.com/a',
              target_url: 'https://example.com/b',
              status_code: 302,
              preserve_query_string: true,
            },
          },
          {
            redirect: {
              source_url: 'old.example.com/',
              target_url: 'https://example.com/',
              include_subdomains: true,
              subpath_matching: true,
              preserve_path_suffix: true,
            },
          },
          {
            redirect: {
              source_url: 'example.com/docs',
              target_url: 'https://docs.example.net/',
              subpath_matching: true,
              preserve_path_suffix: false,
            },
          },
          {
            redirect: {
              source_url: 'example.com/img',
              target_url: 'https://img.example.net/',
              subpath_matching: true,
            },
          },
          { redirect: { source_url: 'https://example.com/tls', target_url: 'https://example.com/x' } },
        ],
      },
    ],
    outcomes: ['exact', 'exact', 'exact', 'not_carried', 'exact'],
    decisions: [
      ['https://example.com/a?x=1', '302 https://example.com/b?x=1'],
      ['https://example.com/a/', 'forward'],
      ['https://old.example.com/p/q?x', '301 https://example.com/p/q'],
      ['https://example.com/docs/x', '301 https://docs.example.net/'],
      ['https://example.com/docs', '301 https://docs.example.net/'],
      ['https://example.com/docsx', 'forward'],
      ['https://example.com/tls', '301 https://example.com/x'],
      ['http://example.com/tls', 'forward'],
    ],
  },
  {
    name: 'URL rewrites',
    documents: [
      ruleset(
        'http_request_transform',
        rewrite('http.request.uri.path eq "/news"', {
          path: { value: '/blog/index' },
          query: { value: 'from=news' },
        }),
        rewrite('starts_with(http.request.uri.path, "/api/")', {
          path: { expression: 'regex_replace(http.request.uri.path, "^/api/", "/v2/")' },
        }),
        rewrite('http.request.uri.path wildcard "/shop/*"', {
          path: { expression: 'wildcard_replace(http.request.uri.path, r"/shop/*", r"/store/${1}")' },
        }),
        rewrite('http.host eq "app.example.com"', {
          path: { expression: 'concat("/app", http.request.uri.path)' },
        }),
        rewrite('http.request.uri.path eq "/clean"', { query: { value: '' } }),
        rewrite('true', { path: { expression: 'lower(http.request.uri.path)' } }),
      ),
    ],
    outcomes: ['exact', 'exact', 'differs', 'differs', 'differs', 'not_carried'],
    decisions: [
      ['https://example.com/news?x=1', 'forward /blog/index?from=news'],
      ['https://example.com/api/a/b?x=1', 'forward /v2/a/b?x=1'],
      ['https://example.com/Shop/x', 'forward /store/x'],
      ['https://app.example.com/y', 'forward /app/y'],
      ['https://example.com/clean?a=b', 'forward /clean'],
    ],
  },
  {
    name: 'a block behind a rewrite',
    documents: [
      ruleset(
        'http_request_transform',
        rewrite('http.request.uri.path eq "/in"', { path: { value: '/out' } }),
      ),
      firewall(
        block('http.request.uri.path eq "/out"'),
        block('http.request.uri.path eq "/other"'),
        block('http.request.uri.path eq "/in"'),
      ),
    ],
    outcomes: ['exact', 'differs', 'exact', 'differs'],
    decisions: [
      ['https://example.com/other', 'block'],
      ['https://example.com/out', 'block'],
    ],
  },
  {
    name: 'rate limits',
    documents: [
      ruleset(
        'http_ratelimit',
        {
          action: 'block',
          expression: 'http.request.uri.path eq "/login"',
          ratelimit: {
            characteristics: ['cf.colo.id', 'ip.src'],
            period: 60,
            requests_per_period: 2,
            mitigation_timeout: 600,
          },
        },
        {
          action: 'managed_challenge',
          expression: 'starts_with(http.request.uri.path, "/api/")',
          ratelimit: {
            characteristics: ['ip.src'],
            period: 10,
            requests_per_period: 1,
            mitigation_timeout: 0,
          },
        },
        {
          action: 'block',
          expression: 'true',
          ratelimit: {
            characteristics: ['http.request.headers["x-key"]'],
            period: 10,
            requests_per_period: 10,
          },
        },
      ),
    ],
    outcomes: ['differs', 'differs', 'differs'],
    decisions: [
      ['https://example.com/login', 'forward'],
      ['https://example.com/login', 'forward'],
      ['https://example.com/login', '429'],
      [{ url: 'https://example.com/login', ip: '192.0.2.9' }, 'forward'],
      ['https://example.com/api/x', 'forward'],
      ['https://example.com/api/y', 'challenge'],
    ],
  },
  {
    name: 'cache rules, of which the last one wins',
    documents: [
      ruleset(
        'http_request_cache_settings',
        {
          action: 'set_cache_settings',
          expression: 'starts_with(http.request.uri.path, "/static/")',
          action_parameters: {
            cache: true,
            edge_ttl: { mode: 'override_origin', default: 86400 },
            browser_ttl: { mode: 'override_origin', default: 3600 },
          },
        },
        {
          action: 'set_cache_settings',
          expression: 'starts_with(http.request.uri.path, "/static/live/")',
          action_parameters: { cache: false },
        },
        {
          action: 'set_cache_settings',
          expression: 'http.cookie contains "session"',
          action_parameters: { cache: false },
        },
      ),
    ],
    outcomes: ['differs', 'exact', 'exact'],
    decisions: [
      ['https://example.com/static/a.css', 'cache force 86400'],
      ['https://example.com/static/live/a', 'cache bypass'],
      [{ url: 'https://example.com/static/a.css', headers: { cookie: 'session=1' } }, 'cache bypass'],
      ['https://example.com/', 'cache none'],
    ],
  },
  {
    name: 'origin rules beside DNS records and phases without an equivalent',
    documents: [
      DNS,
      ruleset(
        'http_request_origin',
        {
          action: 'route',
          expression: 'starts_with(http.request.uri.path, "/api/")',
          action_parameters: {
            origin: { host: 'api.example.net', port: 8443 },
            host_header: 'api.example.net',
          },
        },
        {
          action: 'route',
          expression: 'http.host eq "x.example.com"',
          action_parameters: { origin: { port: 8080 } },
        },
      ),
      ruleset('http_response_headers_transform', { action: 'rewrite', expression: 'true' }),
      ruleset(
        'http_request_firewall_managed',
        { action: 'execute', expression: 'true' },
        { action: 'execute', expression: 'true', enabled: false },
      ),
      firewall({
        ...block('http.host eq "shop.example.com"'),
        action_parameters: { response: { status_code: 429, content: 'x', content_type: 'text/plain' } },
      }),
    ],
    outcomes: [...RECORDS, 'differs', 'not_carried', 'differs', 'not_carried', 'not_carried'],
    decisions: [
      ['https://example.com/api/x', 'forward https://api.example.net:8443'],
      ['https://example.com/x', 'forward https://198.51.100.1:443'],
      ['http://a.example.com/x', 'forward http://apps.example.net:80'],
      ['https://shop.example.com/', '429'],
    ],
  },
  {
    name: 'conditions without a filter on paths that are guarded',
    documents: [
      DNS,
      firewall(
        block('starts_with(http.request.uri.path, "/admin") and not ip.src in $office'),
        block('http.request.uri.path eq "/xmlrpc.php" and http.request.method eq "POST"'),
        block(
          '(http.request.uri.path eq "/a" and cf.threat_score gt 5) or (http.user_agent contains "evil")',
        ),
        block('(http.request.uri.path eq "/b") or (http.request.uri.path eq "/c" and not cf.client.bot)'),
        block('any(http.request.headers["x-key"][*] eq "bad") and http.request.uri.path eq "/k"'),
        block('http.host eq "shop.example.com" and not cf.tls_client_auth.cert_verified'),
        block('http.host eq "shop.example.com" and cf.tls_client_auth.cert_verified eq false'),
        block('http.host eq "shop.example.com" and not cf.tls_client_auth.cert_verified eq false'),
        block('ip.src.country eq "RU" and not cf.client.bot'),
        block('ip.src.country eq "CN" and cf.threat_score gt 5'),
        {
          action: 'managed_challenge',
          expression: 'http.request.uri.path eq "/login" and cf.threat_score gt 5',
        },
        { action: 'js_challenge', expression: 'ip.src.country in {"CN"}' },
      ),
    ],
    outcomes: [
      ...RECORDS,
      'closed',
      'exact',
      'closed',
      'differs',
      'exact',
      'closed',
      'closed',
      'not_carried',
      'differs',
      'not_carried',
      'closed',
      'differs',
    ],
    decisions: [
      ['https://example.com/admin/x', 'block'],
      [{ url: 'https://example.com/xmlrpc.php', method: 'POST' }, 'block'],
      ['https://example.com/xmlrpc.php', 'forward'],
      ['https://example.com/a', 'block'],
      ['https://example.com/b', 'block'],
      ['https://example.com/c', 'block'],
      [{ url: 'https://example.com/k', headers: { 'x-key': ['good', 'bad'] } }, 'block'],
      ['https://example.com/k', 'forward'],
      ['https://shop.example.com/', 'block'],
      ['https://a.example.com/', 'forward'],
      [{ url: 'https://example.com/', country: 'RU' }, 'block'],
      [{ url: 'https://example.com/', country: 'CN' }, 'challenge'],
      [{ url: 'https://example.com/', agent: 'evil' }, 'block'],
      ['https://example.com/login', 'challenge'],
      ['https://example.com/', 'forward'],
    ],
  },
  {
    name: 'an allow-list that guards the whole domain',
    documents: [firewall(block('not ip.src in $office'))],
    outcomes: ['closed'],
    decisions: [['https://example.com/', 'block']],
  },
  {
    name: 'Access applications, lockdowns, IP access rules and older firewall rules',
    documents: [
      DNS,
      [
        access('admin', {
          domain: 'example.com/admin',
          policies: [{ decision: 'allow', include: [{ email: {} }] }],
        }),
        access('webhook', {
          domain: 'example.com/admin/hook',
          policies: [{ decision: 'bypass', include: [{ everyone: {} }] }],
        }),
        access('wild', { domain: 'example.com/wild*/x', self_hosted_domains: ['example.com/wild*/x'] }),
        access('host', { domain: 'shop.example.com' }),
        access('elsewhere', { domain: 'app.example.org' }),
        access('saas', { type: 'saas', domain: '' }),
      ],
      {
        result: [
          {
            urls: ['example.com/lock/*', '*.example.com/own'],
            configurations: [
              { target: 'ip', value: '192.0.2.1' },
              { target: 'ip_range', value: '198.51.100.0/24' },
            ],
            paused: false,
          },
          { urls: ['example.com/paused/*'], configurations: [], paused: true },
        ],
      },
      [
        { mode: 'block', configuration: { target: 'ip', value: '203.0.113.9' } },
        { mode: 'block', configuration: { target: 'country', value: 'KP' } },
        { mode: 'block', configuration: { target: 'asn', value: 'AS64496' } },
        { mode: 'whitelist', configuration: { target: 'ip', value: '192.0.2.1' } },
      ],
      [
        {
          action: 'block',
          priority: 2,
          paused: false,
          filter: { expression: 'http.request.uri.path eq "/old"' },
        },
        { action: 'allow', priority: 1, paused: false, filter: { expression: 'ip.src eq 192.0.2.77' } },
        {
          action: 'block',
          paused: false,
          filter: { expression: 'http.request.uri.path eq "/p"', paused: true },
        },
      ],
    ],
    outcomes: [
      ...RECORDS,
      'exact',
      'exact',
      'exact',
      'not_carried',
      'exact',
      'exact',
      'exact',
      'closed',
      'closed',
      'closed',
    ],
    decisions: [
      ['https://example.com/admin', 'block'],
      ['https://example.com/admin/x', 'block'],
      ['https://example.com/administrator', 'forward'],
      ['https://example.com/admin/hook', 'forward'],
      ['https://example.com/wild1/x', 'block'],
      ['https://example.com/wild1/x/y', 'block'],
      ['https://shop.example.com/', 'block'],
      [{ url: 'https://example.com/lock/a', ip: '192.0.2.9' }, 'block'],
      [{ url: 'https://example.com/lock/a', ip: '192.0.2.1' }, 'forward'],
      [{ url: 'https://example.com/lock/a', ip: '198.51.100.3' }, 'forward'],
      [{ url: 'https://a.example.com/own', ip: '192.0.2.9' }, 'block'],
      ['https://example.com/paused/', 'forward'],
      [{ url: 'https://example.com/', ip: '203.0.113.9' }, 'block'],
      [{ url: 'https://example.com/', country: 'KP' }, 'block'],
      [{ url: 'https://example.com/', asn: 64496 }, 'block'],
      [{ url: 'https://example.com/', asn: 64497 }, 'forward'],
      ['https://example.com/old', 'block'],
      [{ url: 'https://example.com/old', ip: '192.0.2.77' }, 'forward'],
      ['https://example.com/p', 'forward'],
    ],
  },
];

test('there are 23 configurations', () => {
  expect(CASES.length).toBe(23);
});

test.each(CASES)('$name', (one) => {
  checkCase(one, (files) => importCloudflare(files, OPTIONS));
});

describe('expressions', () => {
  test.each([
    ['http.host eq', 'the expression ends too early'],
    ['(http.host eq "a"', 'the expression ends too early'],
    ['http.host eq "a', 'the text at character 14 has no end'],
    ['http.host eq "a" http.host', 'unexpected `http.host` at character 18'],
    ['a in {"x"', 'the expression ends too early'],
    ['a ; b', 'unexpected `;` at character 3'],
    ['', 'the expression ends too early'],
    [
      `${'('.repeat(MAX_EXPRESSION_DEPTH + 2)}a`,
      `the expression is nested more than ${MAX_EXPRESSION_DEPTH} deep`,
    ],
    [`${'not '.repeat(5_000)}a`, `the expression is nested more than ${MAX_EXPRESSION_DEPTH} deep`],
    ['strict a', 'unexpected `a` at character 8'],
    ['a strict b', 'unexpected `b` at character 10'],
  ])('%j is refused', (text, reason) => {
    expect(parseExpression(text)).toEqual({ ok: false, reason });
  });

  test('`not` binds tighter than `and`, and `and` tighter than `or`', () => {
    const parsed = parseExpression('not a and b or c');
    expect(parsed.ok && parsed.value.kind).toBe('or');
    expect(parsed.ok && parsed.value.kind === 'or' && parsed.value.of[0]!.kind).toBe('and');
  });

  test('a report names the part of an expression that has no equivalent', () => {
    const expression = 'http.host eq "a.example.com" and (cf.bot_management.score lt 30 or ssl)';
    const result = importCloudflare(
      [{ name: 'x', text: JSON.stringify(firewall(block(expression))) }],
      OPTIONS,
    );
    expect(result.ok && result.entries[0]!.reasons).toEqual([
      '`cf.bot_management.score lt 30` compares with a value that is no text',
    ]);
  });
});

describe('guards', () => {
  const entryOf = (...documents: readonly object[]) => {
    const files = documents.map((one, index) => ({ name: `${index}.json`, text: JSON.stringify(one) }));
    const result = importCloudflare(files, OPTIONS);
    if (!result.ok) throw new Error('refused');
    return { entry: result.entries.at(-1)!, text: result.text };
  };

  test('the file names the reason above a rule that is stricter than its source', () => {
    const { entry, text } = entryOf(
      firewall(block('http.request.uri.path eq "/a" and not ip.src in $office')),
    );
    expect(entry).toMatchObject({ outcome: 'closed', opened: false, becomes: ['drop'] });
    expect(text).toContain('names a list of the account, whose entries are not in the file');
    expect(text).toContain('all that it guards is refused, until a rule is written by hand');
  });

  test('an allow-list of the whole domain is said to refuse every request', () => {
    const { entry } = entryOf(firewall(block('not ip.src in $office')));
    expect(entry.reasons.at(-1)).toContain('it guards the whole domain: every request is refused');
  });

  test.each(['block', 'managed_challenge'])(
    'a rule with %s whose expression cannot be read counts as an opened path',
    (action) => {
      const { entry } = entryOf(firewall({ action, expression: 'http.request.uri.path eq' }));
      expect(entry).toMatchObject({ outcome: 'not_carried', opened: true });
    },
  );

  test('a rule that refuses visitors on every path counts as no opened path', () => {
    const { entry } = entryOf(firewall(block('cf.threat_score gt 50')));
    expect(entry).toMatchObject({ outcome: 'not_carried', opened: false });
  });
});

describe('any input', () => {
  const word = fc.constantFrom(
    ...'http.host http.request.uri.path http.request.full_uri ip.src ip.src.country cf.client.bot http.user_agent ssl eq ne in contains matches wildcard strict and or xor not ( ) { } "a" "/x" r"y*" r#"z"# 10.0.0.0/8 10.0.0.1..10.0.0.9 $list starts_with( ends_with( lower( concat( , "DE" 1 true'.split(
      ' ',
    ),
    '"',
    '[',
    '\\',
    '#',
    '\u0000',
  );
  const expression = fc.array(word, { maxLength: 40 }).map((words) => words.join(' '));
  const phase = fc.constantFrom(
    'http_request_firewall_custom',
    'http_request_dynamic_redirect',
    'http_request_transform',
    'http_ratelimit',
    'http_request_cache_settings',
    'http_request_origin',
    'http_request_redirect',
    'x',
  );
  const rule = fc.record({
    action: fc.constantFrom(
      'block',
      'skip',
      'redirect',
      'rewrite',
      'route',
      'set_cache_settings',
      'managed_challenge',
      'x',
    ),
    expression,
    action_parameters: fc.oneof(
      fc.anything(),
      fc.record({ from_value: fc.record({ target_url: fc.record({ expression }) }) }),
      fc.record({ uri: fc.record({ path: fc.record({ expression }) }) }),
    ),
    ratelimit: fc.anything(),
  });

  test('is translated or refused, and nothing is thrown', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(phase, fc.array(rule, { maxLength: 4 })), { maxLength: 3 }),
        (rulesets) => {
          const files = rulesets.map(([name, rules], index) => ({
            name: `${index}`,
            text: JSON.stringify(ruleset(name, ...rules)),
          }));
          const result = importCloudflare(files, OPTIONS);
          if (result.ok)
            expect(result.entries.length).toBeGreaterThanOrEqual(
              rulesets.flatMap(([, rules]) => rules).length,
            );
          else expect(result.mistakes.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 400 },
    );
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        importCloudflare([{ name: 'x', text }], OPTIONS);
      }),
      { numRuns: 300 },
    );
  });

  test('an expression of many alternatives is refused and not expanded', () => {
    const pair = (index: number): string =>
      `(http.host eq "a${index}.example.com" or ip.src in {10.0.0.${index}})`;
    const wide = Array.from({ length: 60 }, (_, index) => pair(index)).join(' and ');
    const result = importCloudflare([{ name: 'x', text: JSON.stringify(firewall(block(wide))) }], OPTIONS);
    expect(result.ok && result.entries[0]!.outcome).not.toBe('exact');
  });
});
