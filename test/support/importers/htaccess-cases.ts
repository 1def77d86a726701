/** Files of `.htaccess` with the requests that Apache and the imported file are compared by. */
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
