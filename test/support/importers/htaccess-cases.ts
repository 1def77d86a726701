/** Files of `.htaccess` with the requests that Apache and the imported file are compared by, and a generator of more. */
import fc from 'fast-check';
import type { ImportOutcome } from '../../../src/workbench/importers/report.ts';
import type { ApacheRequest } from './run-apache.ts';

/** What a file is asked, beside the paths that its text names. */
export interface HtaccessCase {
  readonly file: string;
  readonly hosts?: readonly string[];
  readonly paths?: readonly string[];
  /** Paths without a file on the disk. */
  readonly missing?: readonly string[];
  readonly methods?: readonly string[];
  readonly ips?: readonly string[];
  /** Values of headers, each on its own. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Requests for which the report states a difference. */
  readonly except?: (request: ApacheRequest) => boolean;
  /** Outcomes that are not `exact` or `not_needed`, by the start of their text. */
  readonly outcomes?: Readonly<Record<string, ImportOutcome>>;
}

/** The User-Agent of visitors that a case gives no other. */
export const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0';

/** One case for each file of `fixtures/import/htaccess`. */
export const CASES: readonly HtaccessCase[] = [
  {
    file: '01-wordpress',
    paths: [
      '/wp-login.php',
      '/xmlrpc.php',
      '/blog/xmlrpc.php',
      '/wp-config.php',
      '/a/readme.html',
      '/index.php',
      '/Readme.html',
    ],
    missing: ['/hello-world/', '/2020/01/post', '/xmlrpc.phpx'],
  },
  { file: '02-https-www', paths: ['/a/b.html', '/a%20b', '/x.php?a=1&b=2', '/index.html'] },
  {
    file: '03-old-urls',
    paths: [
      ...[
        '/products/shoes/12.html',
        '/products/Shoes/12.html',
        '/old/page.aspx',
        '/with%20space',
        '/with%20space/x',
        '/post/7',
        '/post/7/',
      ],
      ...[
        '/post/x',
        '/tag/a/b?x=1',
        '/search/cats?page=2',
        '/download.php?id=3',
        '/EN/home',
        '/de/home',
        '/fr/home',
        '/docs',
        '/news',
      ],
      ...['/feed?x=1', '/about-us.htmlx', '/about-us.html/x'],
    ],
    except: ({ target }) => /^\/(?:feed\/|thanks(?:[/?]|$))/.test(target),
    outcomes: {
      'Redirect seeother /thanks': 'differs',
      'Redirect gone': 'differs',
      'Redirect 404': 'differs',
      'RedirectPermanent /feed': 'differs',
    },
  },
  {
    file: '04-bad-bots',
    paths: ['/robots.txt', '/a'],
    ips: ['203.0.113.9', '203.0.114.9'],
    headers: [
      ...[
        'Wget/1.21',
        'A Wget',
        'Mozilla AhrefsBot/7',
        'mj12BOT',
        'LibWWW-Perl',
        'Scrapy/2',
        'x SCRAPY',
        'masscan/1',
        'a masscan',
        '',
      ].map((agent) => ['user-agent', agent] as const),
      ...['python-requests/2.31', 'python-requests/3.0', 'Python-Requests/1'].map(
        (agent) => ['user-agent', agent] as const,
      ),
    ],
  },
  {
    file: '05-hotlinking',
    paths: ['/a.jpg', '/a.JPEG', '/a.jpgx', '/b.webp', '/doc.pdf', '/a.png/x'],
    headers: [
      ...[
        'https://example.com/page',
        'http://www.example.com',
        'https://EXAMPLE.com/',
        'https://example.com.evil.test/',
        'https://evil.test/',
      ],
      ...['https://search.example.org/?q=1', 'https://spam-site.test/', 'x'],
    ].map((referer) => ['referer', referer] as const),
  },
  {
    file: '06-admin-addresses',
    paths: [
      '/wp-login.php',
      '/admin.php',
      '/xadmin.php',
      '/status.html',
      '/backoffice',
      '/backoffice/',
      '/backoffice/x',
      '/backofficex',
      '/',
    ],
    ips: [
      ...[
        '203.0.113.7',
        '203.0.113.8',
        '198.51.100.9',
        '198.51.100.127',
        '198.51.100.128',
        '10.1.2.3',
        '10.2.3.4',
        '192.0.2.1',
      ],
      ...['192.0.2.128', '203.0.113.66', '2001:db8:1::5', '2001:db8:2::5'],
    ],
  },
  {
    file: '07-files',
    paths: [
      ...[
        '/.env',
        '/a/.env',
        '/x.env',
        '/x.env.txt',
        '/composer.json',
        '/composer.lock',
        '/mycomposer.json',
        '/package.json',
        '/xpackage.json',
      ],
      ...[
        '/.well-known/security.txt',
        '/.wellx',
        '/a/.git/config',
        '/agit',
        '/vendor/a.php',
        '/xvendor/a',
        '/config/a',
        '/a/config/b',
      ],
      ...['/storage/', '/a.bak', '/a.php~', '/.well-known/.git/x', '/x.SQL'],
    ],
  },
  {
    file: '08-methods',
    paths: ['/static/a.css', '/form.html', '/upload.html', '/a'],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'],
  },
  {
    file: '09-maintenance',
    paths: ['/maintenance.html', '/a.css', '/b.png', '/b.pngx', '/x/maintenance.html'],
    ips: ['203.0.113.7', '203.0.113.70'],
    outcomes: { ErrorDocument: 'differs' },
  },
  {
    file: '10-headers',
    paths: ['/a.css', '/b.js', '/price.html', '/a.html'],
    headers: [
      ['origin', 'https://app.example.com'],
      ['origin', 'https://other.example.com'],
    ],
    outcomes: {
      'Header set X-Content': 'differs',
      'Header always append': 'differs',
      ExpiresActive: 'not_carried',
      ExpiresByType: 'not_carried',
    },
  },
  {
    file: '11-gone',
    paths: [
      '/shop/',
      '/shop/a',
      '/shop',
      '/forum',
      '/forum/x',
      '/forumx',
      '/event-2009.html',
      '/event-2015.html',
      '/event-2016.html',
    ],
  },
  {
    file: '12-query',
    paths: [
      ...[
        '/index.php?page_id=12',
        '/index.php?a=1&page_id=12',
        '/index.php?page_id=123',
        '/index.php?page_id=12&b=1',
        '/?p=7',
        '/?p=8',
      ],
      ...[
        '/draft/a?preview=1',
        '/draft/a?PREVIEW=1',
        '/draft/a?x=1',
        '/tools/x?q=base64_encode(1)',
        '/tools/x',
        '/item.php?id=5',
        '/index.php',
      ],
    ],
    except: ({ target }) => /^\/(?:tools\/|item\.php|draft\/)/.test(target),
    outcomes: {
      'RewriteRule ^index': 'differs',
      'RewriteRule ^$ /seven': 'differs',
      'RewriteRule ^draft/': 'closed',
      'RewriteRule ^tools/': 'closed',
      'RewriteRule ^item': 'not_carried',
    },
  },
  {
    file: '13-flow',
    hosts: ['example.com', 'shop.example.com'],
    paths: [
      ...[
        '/open/a',
        '/closed/a',
        '/closed/page.html',
        '/start',
        '/chain/secret',
        '/chain/x',
        '/secret',
        '/skip/a',
        '/hop/a',
        '/alias',
        '/manual/a',
        '/book/a',
      ],
      ...['/notes.txt', '/a/b.txt'],
    ],
    headers: [
      ['cookie', 'beta=1'],
      ['cookie', 'a=2; beta=1; c=3'],
      ['cookie', 'beta=12'],
      ['cookie', 'xbeta=1'],
    ],
    except: ({ target }) => target.startsWith('/manual'),
    outcomes: {
      'RewriteRule ^manual': 'not_carried',
      'RewriteRule ^alias$': 'not_carried',
      'RewriteRule \\.txt$': 'closed',
    },
  },
  {
    file: '14-expressions',
    hosts: ['example.com', 'staging.example.com'],
    paths: [
      '/reports/a',
      '/reportsx',
      '/debug',
      '/debug/x',
      '/token.html',
      '/team.html',
      '/partner.html',
      '/a',
    ],
    methods: ['GET', 'POST'],
    ips: ['10.1.1.1', '203.0.113.7', '203.0.113.8', '198.51.100.4'],
    headers: [
      ['x-debug', '1'],
      ['x-debug', '2'],
      ['x-token', 'abc'],
      ['x-token', 'abcd'],
    ],
    except: ({ target }) => target.startsWith('/debug/') || target === '/team.html',
    outcomes: { '<Files "team.html">': 'closed', 'Redirect 302 /debug': 'differs' },
  },
];

/** The visitors of generated files. */
export const VISITORS: HtaccessCase = {
  file: '',
  methods: ['POST'],
  ips: ['203.0.113.7'],
  headers: [['user-agent', 'EvilBot/1']],
};

/** Files of a few directives, whose paths and conditions meet often. */
export const GENERATED = fc
  .array(
    fc.oneof(
      fc
        .record({
          conditions: fc.array(
            fc.tuple(
              fc.constantFrom(
                ...[
                  '%{HTTPS} off',
                  '%{HTTP_HOST} ^www\\. [NC]',
                  '%{HTTP_HOST} !^example',
                  '%{REQUEST_URI} ^/a',
                  '%{REQUEST_URI} !b$',
                ],
                ...[
                  '%{HTTP_USER_AGENT} evil [NC]',
                  '%{HTTP_USER_AGENT} !bot [NC]',
                  '%{REQUEST_METHOD} POST',
                  '%{REQUEST_METHOD} !^GET$',
                ],
                ...[
                  '%{REMOTE_ADDR} ^203\\.',
                  '%{REMOTE_ADDR} !=203.0.113.7',
                  '%{REQUEST_FILENAME} !-f',
                  '%{QUERY_STRING} (^|&)q=1',
                ],
              ),
              fc.boolean(),
            ),
            { maxLength: 3 },
          ),
          pattern: fc.constantFrom(
            '^',
            '^(.*)$',
            '.',
            '^a$',
            '^a/',
            '^a/(.*)$',
            'b$',
            '(^|/)b',
            '!^a',
            '^(a|b)/?$',
            '^b',
            'A',
            '^$',
            '\\.php$',
          ),
          action: fc.constantFrom(
            ...[
              '- [F]',
              '- [G]',
              '- [L]',
              '- [C]',
              '- [S=1]',
              '- [R=404]',
              '/c.txt [R=301,L]',
              'https://www.example.com/$1 [R=302,L]',
            ],
            ...[
              'https://%{HTTP_HOST}%{REQUEST_URI} [R=301,L]',
              '/b/$1 [R,L,NC]',
              '/b [L]',
              '/a/b',
              '- [F,NC]',
              '/c.txt? [R,L]',
              '- [E=mark:1]',
            ],
          ),
        })
        .map(({ conditions, pattern, action }) =>
          [
            ...conditions.map(([one, isOr], index) => {
              const flags = isOr && index < conditions.length - 1 ? ['OR'] : [];
              const own = one.endsWith(' [NC]') ? ['NC', ...flags] : flags;
              const test = one.replace(' [NC]', '');
              return `RewriteCond ${test}${own.length === 0 ? '' : ` [${own.join(',')}]`}`;
            }),
            `RewriteRule ${pattern} ${action}`,
          ].join('\n'),
        ),
      fc.constantFrom(
        ...[
          'Redirect 301 /a /b',
          'Redirect /a/ /c/',
          'Redirect gone /b',
          'RedirectMatch 302 ^/(a+)$ /x/$1',
          'RedirectMatch 404 b$',
        ],
        ...[
          'Redirect 301 /b https://www.example.com/b',
          'SetEnvIfNoCase User-Agent evil bad',
          'SetEnvIf Request_URI ^/a bad',
        ],
        ...[
          'SetEnvIf Remote_Addr ^203 !bad',
          'Order allow,deny\nAllow from all\nDeny from env=bad',
          'Require not env bad',
          'Require ip 203.0.113.7',
        ],
        ...[
          'Require all denied',
          'Require all granted',
          'Require env bad',
          'Order deny,allow\nDeny from all\nAllow from 203.0.113 env=bad',
          'Satisfy Any',
        ],
      ),
      fc
        .tuple(
          fc.constantFrom(
            ...[
              'Files "b"',
              'FilesMatch "^a"',
              'FilesMatch "\\.(php|txt)$"',
              'Files ".x"',
              'Files "*"',
              'FilesMatch "^(a|b)$"',
            ],
            ...[
              'If "%{REQUEST_URI} =~ /a/"',
              `If "%{HTTP_HOST} == 'www.example.com' || -R '203.0.113.0/24'"`,
              'Limit POST',
              'LimitExcept GET',
            ],
          ),
          fc.constantFrom(
            ...[
              'Require all denied',
              'Require all granted',
              'Require ip 203.0.113.0/24',
              'Require method POST',
              'Require not ip 203.0.113.7',
            ],
            ...[
              'Order deny,allow\nDeny from all',
              'Order allow,deny\nAllow from all\nSatisfy any',
              'Require env bad',
              'Deny from 203.0.113.7',
            ],
          ),
        )
        .map(([section, body]) => {
          const inner = body.startsWith('Require not')
            ? `<RequireAll>\nRequire all granted\n${body}\n</RequireAll>`
            : body;
          return `<${section}>\n${inner}\n</${section.split(' ')[0]}>`;
        }),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((lines) => {
    const own = lines.map((line) =>
      line.startsWith('Require not') ? `<RequireAll>\nRequire all granted\n${line}\n</RequireAll>` : line,
    );
    return `RewriteEngine On\n${own.join('\n')}\n`;
  });

