import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { importNginx } from '../../../../../src/workbench/importers/nginx/import-nginx.ts';
import {
  MAX_DEPTH,
  MAX_SOURCE_FILES,
  type NginxDirective,
  parseNginx,
} from '../../../../../src/workbench/importers/nginx/parse-nginx.ts';

const NO_INCLUDES = () => [];
const OPTIONS = { domain: 'example.com', origin: 'origin.invalid' };

function parse(text: string): readonly NginxDirective[] {
  const parsed = parseNginx([{ name: 'n', text }], NO_INCLUDES);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes));
  return parsed.directives;
}

function mistake(text: string): string {
  const parsed = parseNginx([{ name: 'n', text }], NO_INCLUDES);
  if (parsed.ok) return 'no mistake';
  const [{ place, message }] = parsed.mistakes as [{ place: string; message: string }];
  return `${place}: ${message}`;
}

describe('nginx syntax', () => {
  test('words, quotes, escapes and comments are read as nginx reads them', () => {
    const [one, two] = parse(
      `# a ; comment {\nreturn 301 "a b;\\"c" 'd"e' f\\.g h\\\\i ${'${host}'}; x # y\n z;`,
    );
    expect(one!.args).toEqual(['301', 'a b;"c', 'd"e', 'f\\.g', 'h\\i', '${host}']);
    expect(one!.place).toBe('n:2');
    expect([two!.name, ...two!.args]).toEqual(['x', 'z']);
  });

  test('blocks nest, and a brace ends a bare word', () => {
    const [server] = parse('server { location ~ ^/a{ return 403; } }');
    expect(server!.block![0]!.args).toEqual(['~', '^/a']);
    expect(server!.block![0]!.block![0]!.name).toBe('return');
  });

  test.each([
    ['server {\n listen 80;', 'n:1: the block has no `}`'],
    ['server { listen 80 }', 'n:1: `listen` is not ended before `}`'],
    ['listen 80', 'n:1: `listen` is not ended'],
    ['}', 'n:1: this `}` closes no block'],
    [';', 'n:1: unexpected `;`'],
    ['{}', 'n:1: unexpected `{`'],
    ['a "b', 'n:1: the quoted text has no closing `"`'],
    ['\na "b"c;', 'n:2: unexpected `c` after a quoted text'],
    [
      'a { content_by_lua_block { return } }',
      'n:1: `content_by_lua_block` holds Lua, which is not nginx syntax',
    ],
    ['a {'.repeat(MAX_DEPTH + 1), `n:1: blocks and includes are nested more than ${MAX_DEPTH} deep`],
  ])('%j is refused with its place', (text, expected) => {
    expect(mistake(text)).toBe(expected);
  });

  test('included files are read in place, and a file that includes itself is refused', () => {
    const open = (pattern: string) =>
      pattern === 'sites/*'
        ? [
            { name: 'a', text: 'x 1;' },
            { name: 'b', text: 'y 2;' },
          ]
        : [{ name: pattern, text: `include ${pattern};` }];
    const parsed = parseNginx([{ name: 'n', text: 'http { include sites/*; z; }' }], open);
    expect(parsed.ok && parsed.directives[0]!.block!.map(({ name, place }) => `${name} ${place}`)).toEqual([
      'x a:1',
      'y b:1',
      'z n:1',
    ]);
    const circle = parseNginx([{ name: 'n', text: 'include c;' }], open);
    expect(circle.ok ? null : circle.mistakes[0]!.message).toContain('nested more than');
    const wide = parseNginx([{ name: 'n', text: 'include w;' }], () =>
      Array.from({ length: MAX_SOURCE_FILES + 1 }, () => ({ name: 'w', text: '' })),
    );
    expect(wide.ok ? null : wide.mistakes[0]!.message).toContain('files');
  });

  test('an include that cannot be opened is one directive with the reason', () => {
    const parsed = parseNginx([{ name: 'n', text: '\ninclude x; y;' }], () => ({ reason: 'no such file' }));
    expect(parsed).toMatchObject({
      ok: true,
      directives: [{ name: 'include', place: 'n:2', unread: 'no such file' }, { name: 'y' }],
    });
  });
});

describe('any text', () => {
  const word = fc.constantFrom(
    ...'server location http upstream map if return rewrite set break allow deny limit_req proxy_pass server_name listen include default hostnames = ~ ~* ^~ / /a/ ^/(.*)$ (($ $host $uri $1 301 302 403 444 last break permanent 10.0.0.0/8 all ::1 http://a/ https://$host$request_uri *.example.com ~^(.+)\\.example\\.com$ example.com www.* 80 443 ssl ($host ($x) zone=a burst=x rate=1r/s'.split(
      ' ',
    ),
    '"',
    "'",
    '\\',
    '#',
    '\n',
    '{',
    '}',
    ';',
    '${',
    '[',
    '\u0000',
    'ä',
  );
  const text = fc.array(word, { maxLength: 60 }).map((words) => words.join(' '));

  test('is translated or refused, and nothing is thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          text.map((body) => `server { server_name example.com; ${body} }`),
          fc.string(),
        ),
        (source) => {
          const result = importNginx([{ name: 'n', text: source }], NO_INCLUDES, OPTIONS);
          if (!result.ok) expect(result.mistakes.length).toBeGreaterThan(0);
          else expect(result.text).toContain('domain: example.com');
        },
      ),
      { numRuns: 1_500 },
    );
  });

  const statement = fc.constantFrom(
    'return 301 https://$host$request_uri;',
    'return 403;',
    'return 302 /x;',
    'deny 10.0.0.0/8;',
    'allow all;',
    'deny all;',
    'rewrite ^/a/(.*)$ /b/$1 last;',
    'rewrite ^/a/(.*)$ /b/$1? break;',
    'rewrite (a)(b) /$2 redirect;',
    'proxy_pass http://10.0.0.1/x/;',
    'proxy_pass http://up;',
    'proxy_pass http://$x;',
    'if ($host = a.example.com) { return 301 /q; }',
    'if ($m) { return 301 $m; }',
    'if ($uri ~ (a+)+$) { return 403; }',
    'limit_req zone=z burst=5;',
    'set $x 1;',
    'try_files $uri =404;',
    'internal;',
    'satisfy any;',
  );
  const location = fc.tuple(
    fc.constantFrom('/', '/a/', '= /a', '^~ /a/b/', '~ \\.php$', '~* ^/(x|y)', '~ (?!a)', '@n', '/a b/'),
    fc.array(statement, { maxLength: 4 }),
  );
  const server = fc.tuple(
    fc.constantFrom('example.com', 'a.example.com *.example.com', '~^(.+)\\.example\\.com$', '_', 'www.*'),
    fc.constantFrom('80', '443 ssl', '8080 default_server'),
    fc.array(statement, { maxLength: 3 }),
    fc.array(location, { maxLength: 4 }),
  );

  test('of well-formed servers gives a file that compiles', () => {
    fc.assert(
      fc.property(fc.array(server, { minLength: 1, maxLength: 4 }), (servers) => {
        const blocks = servers.map(([name, listen, own, locations]) => {
          const inner = locations.map(
            ([where, body]) =>
              `location ${where.includes(' b') ? `"${where}"` : where} { ${body.join(' ')} }`,
          );
          return `server { server_name ${name}; listen ${listen}; ${own.join(' ')} ${inner.join(' ')} }`;
        });
        const source = `upstream up { server 10.0.0.1; server 10.0.0.2 down; } map $uri $m { /a /b; ~^/c /d; } limit_req_zone $binary_remote_addr zone=z:1m rate=5r/s;\n${blocks.join('\n')}`;
        const result = importNginx([{ name: 'n', text: source }], NO_INCLUDES, OPTIONS);
        if (!result.ok) throw new Error(`${source}\n${JSON.stringify(result.mistakes)}`);
        const lines = source.split(';').length;
        expect(result.entries.length).toBeLessThan(lines * 2);
      }),
      { numRuns: 200 },
    );
  });
});
