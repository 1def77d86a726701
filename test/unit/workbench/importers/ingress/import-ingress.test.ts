/** The importer of ingress-nginx: what it claims as carried over decides as the controller's documentation says. */
import { expect, test } from 'vitest';
import { importIngress } from '../../../../../src/workbench/importers/ingress/import-ingress.ts';
import { countOpened, type ImportedEdge } from '../../../../../src/workbench/importers/report.ts';
import { evaluateImport } from '../../../../support/importers/evaluate-import.ts';
import { checkCase, type ProductCase } from '../../../../support/importers/product-cases.ts';

const OPTIONS = { domain: null, origin: 'origin.example.net' };

type PathOf = readonly [path: string, type: string, service: string, port?: number | string];

/** An Ingress with the annotations of the controller, without their prefix. */
function ingress(
  host: string,
  paths: readonly PathOf[],
  annotations: Readonly<Record<string, string>> = {},
  more: { readonly name?: string; readonly spec?: object; readonly className?: string } = {},
): object {
  const written = Object.entries(annotations).map(([name, value]) => [
    `nginx.ingress.kubernetes.io/${name}`,
    value,
  ]);
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: more.name ?? 'shop', annotations: Object.fromEntries(written) },
    spec: {
      ingressClassName: more.className ?? 'nginx',
      rules: [
        {
          ...(host === '' ? {} : { host }),
          http: {
            paths: paths.map(([path, pathType, name, port = 80]) => ({
              path,
              pathType,
              backend: {
                service: { name, port: typeof port === 'number' ? { number: port } : { name: port } },
              },
            })),
          },
        },
      ],
      ...more.spec,
    },
  };
}

const ROOT: PathOf = ['/', 'Prefix', 'web'];
const WEB = 'forward http://web.default.svc:80';
const API = 'forward http://api.default.svc:80';
const TLS = { spec: { tls: [{ hosts: ['a.example.com'], secretName: 't' }] } };

const CASES: readonly ProductCase[] = [
  {
    name: 'a path of type Prefix ends at a slash, Exact is equality, and the longest wins',
    documents: [
      ingress('a.example.com', [
        ROOT,
        ['/api', 'Prefix', 'api'],
        ['/api/v2', 'Exact', 'v2', 8080],
        ['/imp', 'ImplementationSpecific', 'imp'],
      ]),
    ],
    outcomes: Array(8).fill('exact'),
    decisions: [
      ['https://a.example.com/', WEB],
      ['https://a.example.com/api', API],
      ['https://a.example.com/api/x', API],
      ['https://a.example.com/apix', WEB],
      ['https://a.example.com/api/v2', 'forward http://v2.default.svc:8080'],
      ['https://a.example.com/api/v2/', API],
      ['https://a.example.com/implicit', 'forward http://imp.default.svc:80'],
    ],
  },
  {
    name: 'a host without a path for all is answered 404 elsewhere, and a default backend serves it',
    documents: [
      ingress('a.example.com', [['/api', 'Prefix', 'api']]),
      ingress(
        'b.example.com',
        [['/api', 'Prefix', 'api']],
        {},
        {
          name: 'b',
          spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
        },
      ),
    ],
    outcomes: ['exact', 'exact', 'exact', 'exact', 'exact', 'exact', 'exact'],
    decisions: [
      ['https://a.example.com/api', API],
      ['https://a.example.com/x', 'block'],
      ['https://b.example.com/x', WEB],
    ],
  },
  {
    name: 'Services name the addresses of origins, and the numbers of ports with names',
    documents: [
      ingress('a.example.com', [ROOT, ['/api', 'Prefix', 'api', 'http'], ['/ext', 'Prefix', 'ext']]),
      {
        kind: 'List',
        items: [
          {
            kind: 'Service',
            metadata: { name: 'api' },
            spec: { clusterIP: '10.9.8.7', ports: [{ name: 'http', port: 8080 }] },
          },
          {
            kind: 'Service',
            metadata: { name: 'ext' },
            spec: { type: 'ExternalName', externalName: 'x.example.net' },
          },
          { kind: 'Service', metadata: { name: 'web' }, spec: { clusterIP: 'None' } },
        ],
      },
    ],
    outcomes: Array(6).fill('exact'),
    decisions: [
      ['https://a.example.com/', WEB],
      ['https://a.example.com/api/x', 'forward http://10.9.8.7:8080'],
      ['https://a.example.com/ext', 'forward http://x.example.net:80'],
    ],
  },
  {
    name: 'rewrite-target makes the paths of its host regexes without case, and inserts groups',
    documents: [
      ingress('a.example.com', [['/something(/|$)(.*)', 'ImplementationSpecific', 'api']], {
        'rewrite-target': '/$2',
      }),
    ],
    outcomes: ['exact', 'exact', 'exact', 'exact'],
    decisions: [
      ['https://a.example.com/something', 'forward /'],
      ['https://a.example.com/something/', 'forward /'],
      ['https://a.example.com/SOMETHING/new?x=1', 'forward /new?x=1'],
      ['https://a.example.com/somethingelse', 'block'],
    ],
  },
  {
    name: 'use-regex: longer paths are tried first',
    documents: [
      ingress(
        'a.example.com',
        [
          ['/foo/bar/bar', 'ImplementationSpecific', 'one'],
          ['/foo/bar/[A-Z0-9]{3}', 'ImplementationSpecific', 'two'],
          ['/foo', 'ImplementationSpecific', 'web'],
        ],
        { 'use-regex': 'true' },
      ),
    ],
    outcomes: [...Array(6).fill('exact'), 'exact'],
    decisions: [
      ['https://a.example.com/foo/bar/bar', 'forward http://two.default.svc:80'],
      ['https://a.example.com/foo/bar/x', WEB],
      ['https://a.example.com/FOO', WEB],
      ['https://a.example.com/x', 'block'],
    ],
  },
  {
    name: 'hosts with TLS redirect plain http with 308, unless ssl-redirect is false',
    documents: [
      ingress('a.example.com', [ROOT], {}, TLS),
      ingress(
        'b.example.com',
        [ROOT],
        { 'ssl-redirect': 'false' },
        { name: 'b', spec: { tls: [{ hosts: ['b.example.com'] }] } },
      ),
    ],
    outcomes: Array(5).fill('exact'),
    decisions: [
      ['http://a.example.com/x?y=1', '308 https://a.example.com/x?y=1'],
      ['https://a.example.com/x', 'forward'],
      ['http://b.example.com/x', 'forward'],
    ],
  },
  {
    name: 'force-ssl-redirect, without TLS of the host',
    documents: [ingress('a.example.com', [ROOT], { 'force-ssl-redirect': 'true' })],
    outcomes: ['exact', 'exact', 'exact'],
    decisions: [
      ['http://a.example.com/', '308 https://a.example.com/'],
      ['https://a.example.com/', WEB],
    ],
  },
  {
    name: 'redirects of all paths, the temporary one before the permanent one',
    documents: [
      ingress('a.example.com', [ROOT], {
        'permanent-redirect': 'https://b.example.com',
        'permanent-redirect-code': '308',
      }),
      ingress(
        'c.example.com',
        [ROOT],
        { 'permanent-redirect': 'https://b.example.com', 'temporal-redirect': 'https://d.example.com/x' },
        { name: 'c' },
      ),
    ],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['https://a.example.com/x', '308 https://b.example.com'],
      ['https://c.example.com/x', '302 https://d.example.com/x'],
    ],
  },
  {
    name: 'app-root and from-to-www-redirect',
    documents: [ingress('a.example.com', [ROOT], { 'app-root': '/start', 'from-to-www-redirect': 'true' })],
    outcomes: ['exact', 'exact', 'exact', 'differs'],
    decisions: [
      ['https://a.example.com/', '302 /start'],
      ['https://a.example.com/start', 'forward'],
      ['https://www.a.example.com/x?y', '308 https://a.example.com/x?y'],
    ],
  },
  {
    name: 'source ranges: only the listed addresses, and all but the denied ones',
    documents: [
      ingress('a.example.com', [ROOT, ['/admin', 'Prefix', 'api']], {}, { name: 'a' }),
      ingress(
        'b.example.com',
        [ROOT],
        { 'allowlist-source-range': '192.0.2.0/24, 2001:db8::/32', 'denylist-source-range': '192.0.2.9' },
        { name: 'b' },
      ),
      ingress('c.example.com', [ROOT], { 'denylist-source-range': '198.51.100.0/24' }, { name: 'c' }),
    ],
    outcomes: Array(13).fill('exact'),
    decisions: [
      ['https://a.example.com/admin', API],
      [{ url: 'https://b.example.com/', ip: '192.0.2.8' }, 'forward'],
      [{ url: 'https://b.example.com/', ip: '192.0.2.9' }, 'block'],
      [{ url: 'https://b.example.com/', ip: '2001:db8::1' }, 'forward'],
      [{ url: 'https://b.example.com/', ip: '203.0.113.1' }, 'block'],
      [{ url: 'https://c.example.com/', ip: '198.51.100.4' }, 'block'],
      [{ url: 'https://c.example.com/', ip: '203.0.113.1' }, 'forward'],
    ],
  },
  {
    name: 'what asks who the visitor is, is closed',
    documents: [
      ingress(
        'a.example.com',
        [['/basic', 'Prefix', 'web']],
        { 'auth-type': 'basic', 'auth-secret': 's' },
        { name: 'a' },
      ),
      ingress(
        'a.example.com',
        [['/outer', 'Prefix', 'web']],
        { 'auth-url': 'https://auth.example.com/check', 'auth-signin': 'https://auth.example.com/in' },
        { name: 'b' },
      ),
      ingress('a.example.com', [['/jwt', 'Prefix', 'web']], { 'enable-jwt-auth': 'yes' }, { name: 'c' }),
      ingress('a.example.com', [ROOT], {}, { name: 'd' }),
    ],
    outcomes: [
      'closed',
      'exact',
      'exact',
      'closed',
      'exact',
      'exact',
      'closed',
      'exact',
      'exact',
      'exact',
      'exact',
    ],
    decisions: [
      ['https://a.example.com/basic/x', 'block'],
      ['https://a.example.com/outer', 'block'],
      ['https://a.example.com/jwt', 'block'],
      ['https://a.example.com/basics', WEB],
    ],
  },
  {
    name: 'a client certificate closes the host',
    documents: [
      ingress('a.example.com', [ROOT], { 'auth-tls-secret': 'default/ca' }),
      ingress(
        'b.example.com',
        [ROOT],
        { 'auth-tls-secret': 'default/ca', 'auth-tls-verify-client': 'optional' },
        { name: 'b' },
      ),
    ],
    outcomes: ['closed', 'exact', 'exact', 'exact', 'exact'],
    decisions: [
      ['https://a.example.com/', 'block'],
      ['https://b.example.com/', 'forward'],
    ],
  },
  {
    name: 'snippets are nginx text, and one that cannot be read is closed',
    documents: [
      ingress(
        'a.example.com',
        [ROOT],
        { 'server-snippet': 'location /private { deny all; }' },
        { name: 'a' },
      ),
      ingress(
        'b.example.com',
        [ROOT],
        {
          'configuration-snippet':
            'if ($uri ~ "^/old") { return 301 https://b.example.com/new; }\ndeny 192.0.2.9;',
        },
        { name: 'b' },
      ),
      ingress('c.example.com', [ROOT], { 'configuration-snippet': 'if ($x {' }, { name: 'c' }),
    ],
    outcomes: [
      'exact',
      'exact',
      'exact',
      'exact',
      'exact',
      'differs',
      'exact',
      'exact',
      'closed',
      'exact',
      'exact',
    ],
    decisions: [
      ['https://a.example.com/private/x', 'block'],
      ['https://a.example.com/x', 'forward'],
      [{ url: 'https://b.example.com/x', ip: '192.0.2.9' }, 'block'],
      ['https://b.example.com/old', '301 https://b.example.com/new'],
      ['https://c.example.com/', 'block'],
    ],
  },
  {
    name: 'limits count by address, with a burst of five times the rate',
    documents: [
      ingress('a.example.com', [ROOT], {
        'limit-rpm': '2',
        'limit-burst-multiplier': '1',
        'limit-whitelist': '10.0.0.0/8',
      }),
    ],
    outcomes: ['exact', 'differs', 'exact', 'exact'],
    decisions: [...Array(4).fill(['https://a.example.com/', 'forward']), ['https://a.example.com/', '429']],
  },
  {
    name: 'protocols, the Host header, aliases and wildcards of one label',
    documents: [
      ingress(
        'a.example.com',
        [ROOT],
        {
          'backend-protocol': 'HTTPS',
          'upstream-vhost': 'in.example.net',
          'server-alias': 'alias.example.com',
        },
        { name: 'a' },
      ),
      ingress('*.w.example.com', [ROOT], {}, { name: 'w' }),
    ],
    outcomes: Array(4).fill('exact'),
    decisions: [
      ['https://a.example.com/', 'forward https://web.default.svc:80'],
      ['https://alias.example.com/', 'forward https://web.default.svc:80'],
      ['https://x.w.example.com/', WEB],
    ],
  },
  {
    name: 'what has no equivalent is named, and what tunes the controller is not needed',
    documents: [
      ingress('a.example.com', [ROOT], {
        'enable-cors': 'true',
        'cors-allow-origin': 'https://b.example.com',
        'proxy-read-timeout': '60',
        affinity: 'cookie',
        'custom-http-errors': '404,503',
        'custom-headers': 'default/h',
        'some-new-thing': 'x',
        'enable-modsecurity': 'false',
      }),
      ingress('b.example.com', [ROOT], {}, { name: 'other', className: 'traefik' }),
    ],
    outcomes: ['exact', 'exact', ...Array(5).fill('not_carried')],
    decisions: [['https://a.example.com/', WEB]],
  },
];

test.each(CASES)('$name', (one) => {
  checkCase(one, (files) => {
    const imported = importIngress(files, OPTIONS);
    if (imported.ok) expect(countOpened(imported.entries)).toBe(0);
    return imported;
  });
});

test('canaries are chosen by a header and a cookie, and a weight is named', () => {
  const canary = (
    annotations: Readonly<Record<string, string>>,
    name: string,
    paths: readonly PathOf[],
  ): object => ingress('a.example.com', paths, { canary: 'true', ...annotations }, { name });
  const documents = [
    ingress('a.example.com', [ROOT, ['/api', 'Prefix', 'api']]),
    canary({ 'canary-by-header': 'X-Canary', 'canary-by-cookie': 'canary' }, 'one', [
      ['/', 'Prefix', 'next'],
    ]),
    canary({ 'canary-by-header': 'X-Api', 'canary-by-header-value': 'v2', 'canary-weight': '5' }, 'two', [
      ['/api', 'Prefix', 'api2'],
    ]),
    canary({ 'canary-weight': '20' }, 'three', [['/', 'Prefix', 'share']]),
  ];
  const files = documents.map((one, index) => ({ name: `${index}.json`, text: JSON.stringify(one) }));
  const { edge, decide } = evaluateImport(importIngress(files, OPTIONS));
  const originOf = (target: string, headers: Readonly<Record<string, string>> = {}): string | undefined =>
    decide({ host: 'a.example.com', target, headers }).origin?.address;
  expect(originOf('/')).toBe('web.default.svc');
  expect(originOf('/', { 'x-canary': 'always' })).toBe('next.default.svc');
  expect(originOf('/', { 'x-canary': 'never', cookie: 'canary=always' })).toBe('web.default.svc');
  expect(originOf('/', { cookie: 'canary=always' })).toBe('next.default.svc');
  expect(originOf('/api/x', { 'x-canary': 'always' })).toBe('api.default.svc');
  expect(originOf('/api/x', { 'x-api': 'v2' })).toBe('api2.default.svc');
  expect(originOf('/apix', { 'x-api': 'v2' })).toBe('web.default.svc');
  const canaries = edge.entries.filter(({ source }) => source.startsWith('canary:'));
  expect(canaries.map(({ outcome }) => outcome)).toEqual(['exact', 'differs', 'not_carried']);
});

test('several YAML documents are read, and the places name the annotation', () => {
  const text = `# two objects
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: one
  namespace: team
  annotations:
    nginx.ingress.kubernetes.io/denylist-source-range: 192.0.2.9
spec:
  rules: [{ host: a.example.com, http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 80 } } } }] } }]
---
kind: Service
metadata: { name: web, namespace: team }
spec: { clusterIP: 10.0.0.7 }
`;
  const { edge, decide } = evaluateImport(importIngress([{ name: 'i.yaml', text }], OPTIONS));
  expect(edge.entries.find(({ source }) => source === 'deny 192.0.2.9')?.place).toBe(
    'i.yaml: team/one denylist-source-range',
  );
  expect(decide({ host: 'a.example.com' }).origin?.address).toBe('10.0.0.7');
});

test.each([
  ['kind: Service\n', 'has no Ingress'],
  ['kind: [\n', 'is no YAML'],
  ['{}', 'has no Ingress'],
  ['- 1\n- 2\n', 'has no Ingress'],
  ['a: &a [*a, *a]\n', ''],
  [`kind: Ingress\nspec: ${'['.repeat(20_000)}`, ''],
  ['kind: Ingress\nmetadata: 7\nspec: { rules: [7, { http: { paths: [null, {}] } }] }\n', 'no `server`'],
])('%j is refused with a message', (text, message) => {
  const imported = importIngress([{ name: 'i.yaml', text }], OPTIONS);
  const found = imported.ok ? '' : imported.mistakes[0]!.message;
  expect(imported.ok).toBe(false);
  expect(found).toContain(message);
});

test('rules without a host need the domain, and serve all its hosts', () => {
  const files = [{ name: 'i.json', text: JSON.stringify(ingress('', [['/x', 'Prefix', 'web']])) }];
  expect(importIngress(files, OPTIONS)).toMatchObject({
    ok: false,
    mistakes: [{ remedy: expect.stringContaining('--domain') }],
  });
  const { decide } = evaluateImport(
    importIngress(files, { ...OPTIONS, domain: 'example.com' }) as ImportedEdge,
  );
  expect(decide({ host: 'any.example.com', target: '/x/y' }).action).toBe('forward');
  expect(decide({ host: 'any.example.com', target: '/y' }).action).toBe('block');
});
