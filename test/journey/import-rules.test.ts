/** `edgeplan import <product>` over the built command line: files, reports and exit codes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findNginx } from '../../src/cli/check-nginx/run-nginx.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
beforeAll(builtCli, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

function file(name: string, text: string): string {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text);
  return name;
}

const SITE =
  'server {\n  server_name example.com;\n  location / { proxy_pass http://192.0.2.1:8080; proxy_set_header Host $host; }\n';

describe('files outside the folder', () => {
  const secret = join(mkdtempSync(join(tmpdir(), 'edgeplan-outside-')), 'secret');
  writeFileSync(secret, 'root:x:0:0:secret\n');
  afterAll(() => rmSync(join(secret, '..'), { recursive: true }));

  function link(name: string, target = secret): string {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    symlinkSync(target, join(folder, name));
    return name;
  }

  test.each([
    ['an absolute include', 'o1', `include ${secret};`],
    ['an include with dots', 'o2', `include ../../../../../../../../../..${secret};`],
    ['an include through a link', 'o3', 'include linked;'],
    ['a mask through a linked folder', 'o4', 'include linked.d/*;'],
    ['an include below /etc/nginx with dots', 'o5', `include /etc/nginx/../../../../../../../..${secret};`],
  ])('%s is not read and is one entry', async (_, name, include) => {
    link(`${name}/linked`);
    link(`${name}/linked.d`, join(secret, '..'));
    const conf = file(`${name}/nginx.conf`, `${SITE}}\n${include}\n`);
    const { code, out, err } = await run('import', 'nginx', conf);
    expect(code).toBe(1);
    expect(err).toMatch(/not carried over: include .*\n {2}`.*` is outside the folder of the configuration/);
    expect(out + err).not.toContain('root:x');
    const allowed = await run('import', 'nginx', conf, '--allow-outside');
    expect([allowed.code, allowed.err]).toEqual([3, expect.stringContaining('root:x')]);
  });

  test.each([
    ['an nginx configuration', ['import', 'nginx', 'l/a.conf'], 'l/a.conf'],
    ['an export', ['import', 'cloudflare', 'l/a.json'], 'l/a.json'],
    ['an edge file', ['lint', '-f', 'l1/edge.yaml'], 'l1/edge.yaml'],
    ['an edge file of a tree', ['lint', '-f', 'l2'], 'l2/edge.yaml'],
    ['an edge file to format', ['fmt', 'l3/edge.yaml'], 'l3/edge.yaml'],
  ])('%s that is a link to one is not read', async (_, args, name) => {
    link(name);
    const { code, out, err } = await run(...args);
    expect(code).toBe(3);
    expect(err).toContain('is a link to a file outside');
    expect(out + err).not.toContain('root:x');
  });

  test.each([
    ['a part', 'p1', 'edge.d/a.yaml', ['lint', '-f', 'p1']],
    ['a part to format', 'p2', 'edge.d/a.yaml', ['fmt', '-f', 'p2/edge.yaml']],
    ['a test file', 'p3', 'edge.test.yaml', ['test', '-f', 'p3/edge.yaml']],
    ['a test file to format', 'p4', 'edge.test.yaml', ['fmt', 'p4']],
  ])('%s of a domain that is a link to one is not read', async (_, name, linked, args) => {
    file(`${name}/edge.yaml`, 'domain: example.com\nrecords: []\nrules: []\n');
    link(`${name}/${linked}`);
    const { code, out, err } = await run(...args);
    expect(code).toBe(3);
    expect(err).toContain('is a link to a file outside');
    expect(out + err).not.toContain('root:x');
  });

  test('a part below a linked folder is not read', async () => {
    writeFileSync(join(secret, '..', 'x.yaml'), 'root:x:0:0\n');
    file('p5/edge.yaml', 'domain: example.com\n');
    link('p5/edge.d', join(secret, '..'));
    const { code, err } = await run('lint', '-f', 'p5');
    expect([code, err]).toEqual([3, expect.not.stringContaining('root:x')]);
  });

  test('a link inside the folder is read', async () => {
    file('in/nginx.conf', 'http { include sites-enabled/*; }\n');
    file('in/sites-available/shop', `${SITE}}\n`);
    link('in/sites-enabled/shop', '../sites-available/shop');
    expect((await run('import', 'nginx', 'in/nginx.conf')).code).toBe(0);
    expect((await run('import', 'nginx', 'in/sites-enabled/shop')).code).toBe(0);
  });
});

describe('the folder of an nginx configuration', () => {
  test('includes of a site are below the folder of nginx.conf, and a missing one is one entry', async () => {
    file('etc/nginx.conf', 'http { include sites/*; }\n');
    file('etc/snippets/x.conf', 'location = /x { return 403; }\n');
    const site = file(
      'etc/sites/shop',
      `${SITE}include snippets/x.conf;\ninclude /etc/nginx/snippets/x2.conf;\ninclude snippets/tls.conf;\n}\n`,
    );
    file('etc/snippets/x2.conf', 'location = /x2 { return 403; }\n');
    const { code, out, err } = await run('import', 'nginx', site);
    expect(code).toBe(1);
    expect(out).toContain('path_includes: [/x]');
    expect(out).toContain('path_includes: [/x2]');
    expect(err).toContain('not carried over: include snippets/tls.conf\n');
    expect(err).toContain(', 1 not carried over,');
  });

  test('--root stands for /etc/nginx', async () => {
    file('copy/snippets/x.conf', 'location = /x { return 403; }\n');
    const site = file('elsewhere/shop', `${SITE}include /etc/nginx/snippets/x.conf;\n}\n`);
    expect((await run('import', 'nginx', site)).code).toBe(1);
    const { code, out } = await run('import', 'nginx', site, '--root', 'copy');
    expect([code, out]).toEqual([0, expect.stringContaining('path_includes: [/x]')]);
  });
});

describe('import nginx', () => {
  test('prints an edge file on stdout and the report on stderr', async () => {
    const { code, out, err } = await run(
      'import',
      'nginx',
      file('a.conf', `${SITE}  location = /x { return 403; }\n}\n`),
    );
    expect(code).toBe(0);
    expect(out).toContain('domain: example.com\n');
    expect(out).toContain('  # a.conf:4: return 403\n  - type: drop\n');
    expect(err).toContain('a.conf:4: carried over: return 403\n');
    expect(err).toMatch(
      /\n3 carried over, 0 with a difference, 0 not carried over, 1 not needed\nopened paths: 0\n$/,
    );
    file('edge.yaml', out);
    expect((await run('simulate', 'https://example.com/x')).out).toContain('403');
  });

  test('ends with 1 when something is not carried over, and says what and why', async () => {
    const { code, out, err } = await run(
      'import',
      'nginx',
      file('b.conf', `${SITE}  gzip on;\n}\n`),
      '-o',
      'b.yaml',
    );
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('b.conf:4: not carried over: gzip on\n  the edge does not compress\n');
    expect(readFileSync(join(folder, 'b.yaml'), 'utf8')).toContain('domain: example.com');
  });

  test('settings that edgeplan lacks are one line a kind, and those of nginx itself are left out', async () => {
    const tuning = [
      'fastcgi_param A b;',
      'gzip_types text/css;',
      'http3 on;',
      'etag off;',
      'keepalive_min_timeout 1;',
      'open_log_file_cache off;',
      'client_header_buffer_size 1k;',
      'proxy_max_temp_file_size 0;',
    ];
    const settings = Array.from(
      { length: 9 },
      (_, index) => `  location /${index} {
    limit_rate ${index}k;
    proxy_pass http://192.0.2.1:8080;
    proxy_set_header Host $host;
  }`,
    );
    const conf = file('kinds.conf', [`${SITE}  ${tuning.join(' ')}`, ...settings, '}\n'].join('\n'));
    const { err } = await run('import', 'nginx', conf, '-o', 'kinds.yaml');
    expect(err).toContain(
      'not carried over: 9 × limit_rate: kinds.conf:6, kinds.conf:11, kinds.conf:16, kinds.conf:21, kinds.conf:26, kinds.conf:31 and 3 more\n  no rule limits the rate of octets\n',
    );
    expect(err.match(/not carried over: /g)).toHaveLength(1);
    expect(err).toContain(' 9 not carried over, ');
    const { out } = await run('import', 'nginx', conf, '--json');
    const { entries } = JSON.parse(out) as {
      entries: { kind: string | null; outcome: string; source: string }[];
    };
    expect(
      entries.filter(({ kind, outcome }) => kind === 'limit_rate' && outcome === 'not_carried'),
    ).toHaveLength(9);
    for (const line of tuning)
      expect(entries.find(({ source }) => `${source};` === line)?.outcome, line).toBe('not_needed');
  });

  test.skipIf(findNginx() === null)('--check prints what nginx does otherwise, and ends with 1', async () => {
    const guarded = file('k.conf', `${SITE}  location /in { auth_basic x; auth_basic_user_file f; }\n}\n`);
    const { code, out, err } = await run('import', 'nginx', guarded, '--check');
    expect(code).toBe(1);
    expect(out).toContain('no rule asks for a password');
    expect(err).toMatch(/check: other: GET http:\/\/example.com\/in from .*: nginx 401, edge 403\n/);
    expect(err).toMatch(
      /check: \d+ requests compared, \d+ differ: 0 opened, 0 lost redirects, 0 closed, \d+ other\n$/,
    );
  });

  test('prints the report and the file as one JSON object', async () => {
    const { code, out } = await run('import', 'nginx', 'b.conf', '--json');
    const { format, domain, counts, entries, edge } = JSON.parse(out);
    expect([code, format, domain, counts.not_carried]).toEqual([
      1,
      'edgeplan.imported-rules/v1',
      'example.com',
      1,
    ]);
    expect(entries.at(-1)).toEqual({
      place: 'b.conf:4',
      source: 'gzip on',
      outcome: 'not_carried',
      reasons: ['the edge does not compress'],
      becomes: [],
      opened: false,
      kind: 'gzip',
    });
    expect(edge).toContain('domain: example.com');
  });

  test('includes are read relative to the first file, by masks in the order of their names', async () => {
    file('conf/nginx.conf', 'http { include sites/[ab]*.conf; include sites/z*.conf; }');
    file('conf/sites/b.conf', `${SITE}}`);
    file(
      'conf/sites/a.conf',
      'server { server_name a.example.com; return 301 https://example.com$request_uri; }',
    );
    file('conf/sites/c.conf', 'not read');
    const { code, err } = await run('import', 'nginx', 'conf/nginx.conf', '-o', 'c.yaml');
    expect(code).toBe(0);
    expect(err).toContain('sites/a.conf:1: carried over');
    expect(err.indexOf('sites/a.conf')).toBeLessThan(err.indexOf('sites/b.conf'));
  });

  test.each([
    [['import', 'nginx', 'no-such.conf'], 3, /`no-such.conf`/],
    [['import', 'nginx', '.'], 3, /directory|folder/],
    [['import', 'nginx', 'broken.conf'], 3, /broken.conf:1: the block has no `}`/],
    [['import', 'nginx', 'nameless.conf'], 3, /names a host of a domain\n.*--domain example.com/],
    [['import', 'nginx', 'empty.conf'], 3, /has no `server`/],
    [['import', 'nginx', 'binary.conf'], 3, /is not UTF-8 text/],
    [['import', 'nginx', 'including.conf'], 3, /has no `server`\n.*`no.conf` cannot be included/],
    [['import', 'nginx', 'a.conf', '--domain', 'a b'], 3, /`a b` is no domain name/],
    [['import', 'cloudflare', 'a.conf'], 3, /a.conf is no JSON: .*\n.*export the rules|a.conf: is no JSON/],
    [
      ['import', 'cloudflare', 'other.json'],
      3,
      /other.json: has no ruleset, no redirect list and no DNS records/,
    ],
    [
      ['import', 'bunny', 'other.json'],
      3,
      /other.json: has no pull zone and no edge rules\n.*GET \/pullzone/,
    ],
    [['import', 'fastly', 'other.json'], 3, /other.json: has no version of a service\n.*GET \/service/],
    [['import', 'nginx'], 2, /missing required argument 'file'/],
    [['import', 'apache', 'a.conf'], 2, /apache/],
    [['import', 'example.com', '--zone', 'x'], 2, /example.com/],
  ])('%j ends with %d', async (args, expected, message) => {
    file('broken.conf', 'server { listen 80;');
    file('nameless.conf', 'server { listen 80; return 403; }');
    file('empty.conf', '# nothing\n');
    file('other.json', '{"a": 1}');
    file('including.conf', 'include no.conf;');
    writeFileSync(join(folder, 'binary.conf'), Buffer.from([0xff, 0xfe, 0x80]));
    const { code, out, err } = await run(...args);
    expect([code, out]).toEqual([expected, '']);
    expect(err).toMatch(message);
  });

  test('a ruleset of Cloudflare becomes an edge file that simulate reads', async () => {
    const rules = [{ action: 'block', expression: 'http.request.uri.path eq "/x"', description: 'closed' }];
    const name = file('cf.json', JSON.stringify({ phase: 'http_request_firewall_custom', rules }));
    const { code, err } = await run('import', 'cloudflare', name, '--domain', 'example.com', '-o', 'cf.yaml');
    expect(code).toBe(0);
    expect(err).toContain(
      'cf.json: http_request_firewall_custom.rules[0] (closed): carried over: block if http.request.uri.path eq "/x"\n',
    );
    expect((await run('simulate', '-f', 'cf.yaml', 'https://example.com/x')).out).toContain('403');
  });

  test('hosts of another domain are reported, and --domain chooses theirs', async () => {
    const two = file('two.conf', `${SITE}}\nserver { server_name a.example.org; return 403; }`);
    const first = await run('import', 'nginx', two);
    expect(first.code).toBe(1);
    expect(first.err).toContain('not carried over: server {…}\n  `a.example.org`: not of `example.com`');
    const second = await run('import', 'nginx', two, '--domain', 'example.org');
    expect(second.out).toContain('domain: example.org\n');
  });

  test.each([
    ['a name', 'old.example.org', 'return 301 https://example.net/;'],
    ['a wildcard', '*.example.org', 'return 301 https://example.net/;'],
    ['a regex', '~^(.+)\\.example\\.org$', 'return 301 https://example.net/;'],
    ['an address', '192.0.2.7', 'location / { return 403; }'],
  ])('a server with %s of another domain leaves no rule, and lint finds none', async (_, name, content) => {
    const conf = file('foreign.conf', `server { server_name ${name}; ${content} }`);
    const { code, err } = await run('import', 'nginx', conf, '--domain', 'example.com', '-o', 'foreign.yaml');
    expect(code).toBe(1);
    expect(err).toContain(`foreign.conf:1: not carried over: server {…}\n  \`${name}\`: not of`);
    expect(await run('lint', '-f', 'foreign.yaml')).toMatchObject({
      code: 0,
      err: expect.stringContaining('0 rules'),
    });
  });

  test('names of another domain beside others are taken out of the rules of their server', async () => {
    const conf = file('both.conf', 'server { server_name example.com a.example.org; return 403; }');
    const { err } = await run('import', 'nginx', conf, '--domain', 'example.com', '-o', 'both.yaml');
    expect(err).toContain('server_name example.com a.example.org\n  `a.example.org`: not of `example.com`');
    expect((await run('lint', '-f', 'both.yaml')).code).toBe(0);
    expect(readFileSync(join(folder, 'both.yaml'), 'utf8')).not.toMatch(/^[^#]*a\.example\.org/m);
  });

  test('text of the source cannot end a comment or rewrite the terminal', async () => {
    const hostile = file('h.conf', `${SITE}  location = "/x\u2028y: \u001b[2J" { return 403; }\n}\n`);
    const { out, err } = await run('import', 'nginx', hostile);
    expect(err + out).not.toContain('\u001b');
  });
});
