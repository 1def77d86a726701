/**
 * The nginx importer beside nginx: each configuration of `fixtures/import/nginx` runs in nginx, and the file that the importer
 * writes in the evaluator; where the report claims that a directive was carried over, both decide alike.
 */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CheckedOutcome,
  type CheckedRequest,
  findNginx,
  type RunningNginx,
  runNginx,
} from '../../src/cli/check-nginx/run-nginx.ts';
import type { Decision } from '../../src/engine/evaluator/decision.ts';
import { importNginx } from '../../src/workbench/importers/nginx/import-nginx.ts';
import { parseNginx } from '../../src/workbench/importers/nginx/parse-nginx.ts';
import type { ImportOutcome } from '../../src/workbench/importers/report.ts';
import { type EvaluatedImport, evaluateImport } from '../support/importers/evaluate-import.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { missingProgram, requires } from '../support/requires.ts';

const FOLDER = new URL('../../fixtures/import/nginx/', import.meta.url);

/** What a configuration is asked. */
interface NginxConfiguration {
  readonly file: string;
  readonly hosts: readonly string[];
  /** Beside the paths that are derived from the text of the configuration. */
  readonly paths?: readonly string[];
  readonly ips?: readonly string[];
  /** Requests that a directive decides which is not carried over, or with a stated difference. */
  readonly except?: (request: CheckedRequest) => boolean;
  /** Outcomes of directives that are not `exact` or `not_needed`, by the beginning of their text. */
  readonly outcomes?: Readonly<Record<string, ImportOutcome>>;
  /** Refusals are compared without their status. */
  readonly anyStatus?: boolean;
  /** The upstream has several servers; which is not compared. */
  readonly pool?: readonly string[];
}

const CONFIGURATIONS: readonly NginxConfiguration[] = [
  { file: '01-https-redirect', hosts: ['example.com', 'www.example.com'] },
  { file: '02-certbot', hosts: ['blog.example.org'] },
  {
    file: '03-locations',
    hosts: ['shop.example.com'],
    paths: [
      '/images/a.png',
      '/images/raw/a.png',
      '/a.PNG',
      '/images/x.svg',
      '/images/raw/x.svg',
      '/imagx',
      '/images/logo.png/x',
    ],
  },
  {
    file: '04-api-prefix',
    hosts: ['example.com'],
    paths: ['/api/orders/7', '/v2/a/b', '/legacy/x/y', '/api/v2/x', '/api/a%20b'],
  },
  {
    file: '05-admin-networks',
    hosts: ['intranet.example.com'],
    paths: ['/admin/x', '/a/.git/config', '/public/.env', '/.envx'],
    ips: [
      '203.0.113.66',
      '198.51.100.13',
      '198.51.100.14',
      '198.51.101.1',
      '2001:db8:ff::1',
      '2001:db8:fe::1',
    ],
  },
  {
    file: '06-server-wide-allow',
    hosts: ['staging.example.com', 'a.staging.example.com', 'b.a.staging.example.com'],
    ips: ['192.0.2.1', '192.0.2.127', '192.0.2.128', '2001:db8:1::5', '2001:db8:2::5'],
  },
  {
    file: '07-old-paths',
    hosts: ['www.example.net'],
    paths: [
      '/feed/',
      '/feedx',
      '/bloggers/x',
      '/products/17',
      '/docs/a/b',
      '/shop/x',
      '/help/me',
      '/wiki/Main_Page',
    ],
    except: ({ target }) => /^\/products\/\d+(\?|$)/.test(target),
    outcomes: { 'rewrite ^/products': 'not_carried' },
  },
  {
    file: '08-map-redirects',
    hosts: ['www.example.org', 'example.org', 'm.example.org'],
    paths: ['/ABOUT-US.html', '/news/archive/2010', '/JOBS-12', '/jobs-x', '/News/archive'],
  },
  { file: '09-balanced', hosts: ['app.example.com'], pool: ['10.0.8.1:8080', '10.0.8.2:8080'] },
  {
    file: '10-rate-limits',
    hosts: ['example.com'],
    outcomes: { 'limit_req zone=login': 'differs', 'limit_req zone=api': 'differs' },
  },
  {
    file: '11-many-sites',
    hosts: [
      'example.com',
      'www.example.com',
      'api.example.com',
      'x.example.com',
      'y.x.example.com',
      'a.eu.example.com',
      'a.api.example.com',
    ],
    paths: ['/internal/x'],
  },
  {
    file: '12-catch-all',
    hosts: ['one.example.com', 'two.example.com'],
    // Plain http is redirected first in nginx, as the report says.
    except: ({ scheme, target, host }) =>
      scheme === 'http' && host.startsWith('two') && target.startsWith('/private'),
    outcomes: { 'return 444': 'differs' },
    anyStatus: true,
  },
  {
    file: '13-regex-names',
    hosts: ['acme.apps.example.com', 'status.apps.example.com', 'zebra-2.apps.example.com'],
    paths: ['/metrics/x'],
  },
  {
    file: '14-wordpress',
    hosts: ['press.example.com'],
    paths: [
      '/wp-content/uploads/2020/a.php',
      '/a/Files/x/y.PHP',
      '/style.CSS',
      '/a.js/b',
      '/.htaccess',
      '/a/.b/c.css',
    ],
    ips: ['198.51.100.7', '198.51.100.8'],
    outcomes: { client_max_body_size: 'not_carried', 'expires 30d': 'not_carried' },
  },
  {
    file: '15-static-and-app',
    hosts: ['spa.example.com'],
    paths: ['/graphql/x', '/graphqlx', '/auth/login'],
    except: ({ target }) => !/^\/(?:graphql|auth)/.test(target) || /^\/auth[^/?]/.test(target),
    outcomes: { root: 'not_carried', index: 'not_carried', try_files: 'not_carried' },
  },
  {
    file: '16-host-conditions',
    hosts: ['example.com', 'www.example.com', 'old.example.com', 'eu.example.com'],
    // Plain http becomes https at www, and requests that are redirected first are refused, as the report says.
    // What the User-Agent decides is refused for everybody.
    except: ({ host, target }) => !host.startsWith('old.') || target.startsWith('/eu/'),
    outcomes: {
      'return 301 $scheme://example.com': 'differs',
      'if ($http_user_agent': 'closed',
      'return 403': 'differs',
    },
  },
  {
    file: '17-rewrites-last',
    hosts: ['forum.example.com'],
    paths: ['/t/12', '/t/x', '/u/ada', '/u/ADA', '/search/cats', '/search/', '/search/a/b'],
    except: ({ target }) => /^\/t\/\d+(\?|$)/.test(target),
    outcomes: { 'rewrite ^/t/': 'not_carried' },
  },
  {
    file: '18-blocked-addresses',
    hosts: ['example.com'],
    paths: ['/moved/x'],
    ips: ['203.0.113.20', '203.0.113.21', '2001:db8:bad::1', '2001:db8:bae::1', '192.0.2.99'],
    // `return` in a location comes before access lists, which the edge has first for moved paths of other regions only.
  },
  {
    file: '19-quoting',
    hosts: ['example.com', 'alias.example.com'],
    paths: ['/with%20space/x', '/de/home', '/deu/home', '/no-space/x', '/star*/x', '/starx/x', '/star%2A/'],
  },
  {
    file: '20-priorities',
    hosts: ['example.com'],
    paths: ['/gone/x', '/mixed/old', '/mixed/x', '/set/x', '/secret', '/publicsecret'],
    ips: ['203.0.113.9'],
    except: ({ target, ip }) =>
      target.startsWith('/secret') || (target.startsWith('/mixed/old') && ip === '203.0.113.9'),
    outcomes: {
      'location ~ ^/(?!public)secret': 'closed',
      return: 'differs',
      'deny 203': 'differs',
      proxy_pass: 'differs',
    },
    anyStatus: true,
  },
  {
    file: '41-two-schemes',
    hosts: ['shop.example.com', 'pay.example.com', 'partner.example.com'],
    paths: ['/health', '/health/x', '/api/v1', '/old', '/admin/x'],
    // No server of TLS names the host.
    except: ({ scheme, host }) => scheme === 'https' && host === 'partner.example.com',
    outcomes: { 'server_name partner': 'differs', 'return 404': 'differs' },
    anyStatus: true,
  },
  {
    file: '42-resolved-upstream',
    hosts: ['app.example.com'],
    paths: ['/socket/x?transport=1', '/socket', '/reports/x'],
    except: ({ target }) => target.startsWith('/reports'),
    outcomes: { 'proxy_pass http://$upstream': 'not_carried', 'location /reports/': 'closed' },
  },
];

/** Paths in the text of a configuration, with the neighbours at which matching goes wrong. */
function pathsOf(text: string): readonly string[] {
  const found = new Set<string>(['/', '/a', '/a/b.png?x=1']);
  for (const [path] of text.matchAll(/(?<=[\s^"(=])\/[\w.~/-]*/g)) {
    const bare = path.replace(/\/$/, '');
    for (const one of [
      path,
      bare,
      `${bare}/`,
      `${bare}/x`,
      `${bare}x`,
      bare.toUpperCase(),
      `${path}?q=1&r=2`,
      `/x${path}`,
    ]) {
      // The edge forwards dot segments resolved, as the notes say.
      if (one.startsWith('/') && !/\/\.{1,2}(?:[/?]|$)/.test(one)) found.add(one.replace(/\/{2,}/g, '/'));
    }
  }
  return [...found];
}

/** Runs a configuration in nginx. */
function runText(text: string): Promise<RunningNginx> {
  const parsed = parseNginx([{ name: 'nginx.conf', text }], () => []);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed));
  return runNginx(findNginx()!, parsed.directives);
}

/** The decision in the form of an outcome. */
function outcomeOf(decision: Decision, { scheme, host, target }: CheckedRequest): CheckedOutcome {
  const { action, status, location, origin, path, query } = decision;
  if (action === 'redirect') {
    return {
      kind: 'redirect',
      status: status!,
      url: new URL(location!, `${scheme}://${host}${target}`).href,
    };
  }
  if (action !== 'forward') return { kind: 'answer', status: status! };
  const { address, port, hostHeader } = origin!;
  return {
    kind: 'forward',
    origin: `${address}:${port}`,
    target: query === null || query === '' ? path! : `${path}?${query}`,
    host: hostHeader === '' ? host : hostHeader,
  };
}

/** The default ports of addresses are written or not, and an empty query counts as none, as the notes say. */
function withPort(outcome: CheckedOutcome, { anyStatus, pool }: NginxConfiguration): CheckedOutcome {
  if (outcome.kind === 'answer') return { kind: 'answer', status: anyStatus === true ? 403 : outcome.status };
  if (outcome.kind === 'redirect') return { ...outcome, url: outcome.url.replace(/\?$/, '') };
  if (outcome.kind !== 'forward') return outcome;
  const origin = outcome.origin.replace(/:null$/, ':80').replace(/^([\d.]+)$/, '$1:80');
  return {
    ...outcome,
    origin: pool?.includes(origin) === true ? 'pool' : origin,
    host: outcome.host.replace(/^([\d.]+):80$/, '$1'),
  };
}

/** A new address for each request, so that no limit is reached. */
function* addresses(): Generator<string> {
  for (let number = 0; ; number++) yield `198.18.${(number >> 8) & 255}.${number & 255}`;
}

test('every configuration of the folder is compared', () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.conf'));
  expect(files.sort()).toEqual(CONFIGURATIONS.map(({ file }) => `${file}.conf`));
});

describe('nginx', requires(missingProgram('nginx'), OPENSSL_MISSING), () => {
  describe.each(CONFIGURATIONS)('$file', (configuration) => {
    const text = readFileSync(new URL(`${configuration.file}.conf`, FOLDER), 'utf8');
    let source: RunningNginx;
    let imported: EvaluatedImport;

    beforeAll(async () => {
      source = await runText(text);
      const files = [{ name: `${configuration.file}.conf`, text }];
      const options = { domain: null, origin: 'origin.invalid' };
      imported = evaluateImport(importNginx(files, () => [], options));
    });
    afterAll(() => source?.stop());

    test('the report names what is not carried over and what differs, and nothing else', () => {
      const { outcomes = {} } = configuration;
      const expected = Object.entries(outcomes);
      for (const { source: line, outcome } of imported.edge.entries) {
        if (outcome === 'exact' || outcome === 'not_needed') continue;
        expect(
          expected.some(([start, is]) => line.startsWith(start) && is === outcome),
          line,
        ).toBe(true);
      }
      for (const [start, is] of expected) {
        const found = imported.edge.entries.some(
          ({ source: line, outcome }) => line.startsWith(start) && outcome === is,
        );
        expect(found, start).toBe(true);
      }
    });

    test('nginx and the imported file decide alike', async () => {
      const paths = new Set([...pathsOf(text), ...(configuration.paths ?? [])]);
      const ips = addresses();
      let compared = 0;
      for (const scheme of ['http', 'https'] as const) {
        for (const host of configuration.hosts) {
          for (const target of paths) {
            for (const ip of [ips.next().value as string, ...(configuration.ips ?? [])]) {
              const request = { scheme, method: 'GET', host, target, ip };
              if (configuration.except?.(request) === true) continue;
              const theirs = await source.ask(request);
              if (theirs === null) continue;
              const ours = outcomeOf(imported.decide(request), request);
              expect(withPort(ours, configuration), JSON.stringify(request)).toEqual(
                withPort(theirs, configuration),
              );
              compared++;
            }
          }
        }
      }
      expect(compared).toBeGreaterThanOrEqual(10);
    });
  });

  test('locations that are generated choose the same origin in nginx and in the imported file', async () => {
    const word = fc.stringMatching(/^[ab/]{1,4}$/).map((text) => `/${text}`.replace(/\/{2,}/g, '/'));
    const location = fc.oneof(
      word.map((path) => `= ${path}`),
      word,
      word.map((path) => `^~ ${path}`),
      word.map((path) => `~ ${path}$`),
      fc.constantFrom('~ ^/a/', '~* B', '~ a+b', '~ ^/[ab]/?$', '/'),
    );
    const action = fc.constantFrom('pass', 'pass', 'pass', 'deny all;', 'return 403;', 'return 302 /x;');
    const configuration = fc.uniqueArray(fc.tuple(location, action), {
      selector: ([one]) => one.replace('^~ ', ''),
      maxLength: 7,
    });
    const configurations = fc.sample(configuration, { numRuns: 60, seed: 20_261_126 });
    const targets = fc.sample(fc.stringMatching(/^[ab/]{0,5}$/), { numRuns: 60, seed: 1 });
    const paths = new Set(targets.map((text) => `/${text}`.replace(/\/{2,}/g, '/')));
    let compared = 0;
    for (const locations of configurations) {
      const blocks = locations.map(([where, what], index) => {
        const pass = `proxy_pass http://10.1.0.${index + 1}:80; proxy_set_header Host $host;`;
        return `location ${where} { ${what === 'pass' ? pass : what} }`;
      });
      const text = `server { listen 80; server_name example.com;\n${blocks.join('\n')}\n}`;
      const source = await runText(text);
      try {
        const options = { domain: null, origin: 'origin.invalid' };
        const imported = evaluateImport(importNginx([{ name: 'x', text }], () => [], options));
        if (imported.edge.entries.some(({ outcome }) => outcome !== 'exact' && outcome !== 'not_needed'))
          continue;
        for (const target of paths) {
          const request: CheckedRequest = {
            scheme: 'http',
            method: 'GET',
            host: 'example.com',
            target,
            ip: '192.0.2.1',
          };
          const theirs = await source.ask(request);
          // Paths of no location: nginx looks for a file.
          if (theirs === null || (theirs.kind === 'answer' && theirs.status === 404)) continue;
          const ours = outcomeOf(imported.decide(request), request);
          const plain = { file: '', hosts: [] };
          expect(withPort(ours, plain), `${text} ${target}`).toEqual(withPort(theirs, plain));
          compared++;
        }
      } finally {
        await source.stop();
      }
    }
    expect(compared).toBeGreaterThan(500);
  });

  test('the burst that nginx lets through passes the imported limit, and a flood passes neither', async () => {
    const text = readFileSync(new URL('10-rate-limits.conf', FOLDER), 'utf8');
    const source = await runText(text);
    try {
      const options = { domain: null, origin: 'origin.invalid' };
      const imported = evaluateImport(importNginx([{ name: 'x', text }], () => [], options));
      const request: CheckedRequest = {
        scheme: 'http',
        method: 'GET',
        host: 'example.com',
        target: '/login',
        ip: '192.0.2.77',
      };
      for (let sent = 1; sent <= 12; sent++) {
        const theirs = await source.ask(request);
        const ours = outcomeOf(imported.decide(request), request);
        if (sent <= 5) expect([theirs?.kind, ours.kind]).toEqual(['forward', 'forward']);
        if (sent > 9)
          expect([theirs, ours]).toMatchObject([
            { kind: 'answer', status: 429 },
            { kind: 'answer', status: 429 },
          ]);
      }
    } finally {
      await source.stop();
    }
  });
});
