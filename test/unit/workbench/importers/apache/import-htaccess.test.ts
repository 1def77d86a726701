/** The importer of `.htaccess`: what no Apache is asked in the journey. Folders, virtual hosts, headers, mistakes. */
import { describe, expect, test } from 'vitest';
import { importHtaccess } from '../../../../../src/workbench/importers/apache/import-htaccess.ts';
import { type EvaluatedImport, evaluateImport } from '../../../../support/importers/evaluate-import.ts';

const OPTIONS = { domain: 'example.com', origin: 'origin.invalid' };

function importFiles(
  files: Readonly<Record<string, string>>,
  domain: string | null = 'example.com',
): EvaluatedImport {
  const sources = Object.entries(files).map(([name, text]) => ({ name, text }));
  return evaluateImport(importHtaccess(sources, { ...OPTIONS, domain }));
}

function importText(text: string): EvaluatedImport {
  return importFiles({ '.htaccess': text });
}

describe('mistakes', () => {
  test.each([
    ['a section that is not closed', '<Files x>\nDeny from all\n', '.htaccess:1', '`<files>` is not closed'],
    ['a closing tag without a section', '\n</If>\n', '.htaccess:2', 'closes no section'],
    ['a section of another name', '<Files x>\n</If>\n', '.htaccess:2', '`<files>` is open'],
    ['a section without its mark', '<Files x\n', '.htaccess:1', 'has no `>` at its end'],
  ])('%s is refused with its place', (_, text, place, message) => {
    const refused = importHtaccess([{ name: '.htaccess', text }], OPTIONS);
    expect(refused).toMatchObject({
      ok: false,
      mistakes: [{ place, message: expect.stringContaining(message) }],
    });
  });

  test('a file without a domain is refused with a remedy', () => {
    const refused = importHtaccess([{ name: '.htaccess', text: 'Redirect /a /b\n' }], {
      ...OPTIONS,
      domain: null,
    });
    expect(refused).toMatchObject({
      ok: false,
      mistakes: [{ remedy: 'name the domain: --domain example.com' }],
    });
  });

  test.each([
    ['RewriteRule'],
    ['RewriteEngine on\nRewriteCond\nRewriteRule ( - [F]'],
    ['RewriteEngine on\nRewriteRule ^a /b [R=999]'],
    ['Redirect'],
    ['RedirectMatch ( /b'],
    ['SetEnvIf'],
    ['Header'],
    ['<If>\nDeny from all\n</If>'],
    ['<If "((((">\nRequire all denied\n</If>'],
    ['Require'],
    ['Order\nAllow\nDeny'],
    ['<Limit>\nDeny from all\n</Limit>'],
    ['ErrorDocument 999 "x"'],
    ['<FilesMatch "(">\nRequire all denied\n</FilesMatch>'],
    ['<Foo bar>\n</Foo>'],
    [`RewriteEngine on\n${'RewriteRule ^(a|b|c)(d|e|f)(g|h|i)$ - [S=1]\n'.repeat(40)}RewriteRule ^x - [F]`],
  ])('%j is imported without a fault', (text) => {
    expect(importText(text).edge.entries.length).toBeGreaterThan(0);
  });
});

describe('folders', () => {
  const files = {
    'public/.htaccess': 'Require all granted\nRewriteEngine On\nRewriteRule ^old$ /new [R=301,L]\n',
    'public/admin/.htaccess':
      'Require ip 203.0.113.7\nRewriteEngine On\nRewriteRule ^old$ /admin/new [R=301,L]\n',
    'public/files/.htaccess': '<FilesMatch "\\.php$">\nRequire all denied\n</FilesMatch>\n',
  };

  test('a file below the first is for its folder', () => {
    const { decide } = importFiles(files);
    expect(decide({ target: '/old' }).location).toBe('/new');
    expect(decide({ target: '/admin' }).action).toBe('block');
    expect(decide({ target: '/admin/x' }).action).toBe('block');
    expect(decide({ target: '/admin/old', ip: '203.0.113.7' }).location).toBe('/admin/new');
    expect(decide({ target: '/administrator' }).action).toBe('forward');
  });

  test('a script is refused with a path behind it, and elsewhere it is not', () => {
    const { decide } = importFiles(files);
    expect(decide({ target: '/files/a/x.php' }).action).toBe('block');
    expect(decide({ target: '/files/x.php/more' }).action).toBe('block');
    expect(decide({ target: '/files/x.txt' }).action).toBe('forward');
    expect(decide({ target: '/x.php' }).action).toBe('forward');
  });
});

test('a virtual host names the records, the origin and its folder', () => {
  const text = `<VirtualHost *:80>
  ServerName shop.example.com
  ServerAlias www.shop.example.com
  DocumentRoot /var/www
  ProxyPass /api http://10.0.0.5:8080/api
  ProxyPass / http://10.0.0.4/
  <Location /private>
    Require all denied
  </Location>
  <Directory /var/www/internal>
    Require all denied
  </Directory>
</VirtualHost>
`;
  const { decide, edge } = importFiles({ 'site.conf': text }, null);
  expect(edge.domain).toBe('example.com');
  const host = 'shop.example.com';
  expect(decide({ host, target: '/a' }).origin).toMatchObject({ address: '10.0.0.4' });
  expect(decide({ host: `www.${host}`, target: '/api/x' }).origin).toMatchObject({
    address: '10.0.0.5',
    port: 8080,
  });
  expect(decide({ host, target: '/private/x' }).action).toBe('block');
  expect(decide({ host, target: '/internal/x' }).action).toBe('block');
  expect(decide({ host, target: '/privates' }).action).toBe('forward');
});

test('headers are set with their conditions and variables', () => {
  const { edge } = importText(
    [
      'SetEnvIf Origin "^https://app\\.example\\.com$" own',
      'Header always set X-Cost "5$ %%"',
      'Header always set X-Own "1" env=own',
      'Header always set X-Time "%t"',
      'RequestHeader set X-Client "%{REMOTE_ADDR}s"',
      'RequestHeader unset X-Secret',
    ].join('\n'),
  );
  const outcomes = edge.entries
    .filter(({ outcome }) => outcome !== 'not_needed')
    .map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['exact', 'exact', 'not_carried', 'exact', 'exact']);
  expect(edge.text).toContain('X-Cost: 5$$ %');
  expect(edge.text).toContain('${client_ip}');
});

test('what guards by a list of bots is one rule with many values', () => {
  const bots = Array.from({ length: 40 }, (_, index) => `RewriteCond %{HTTP_USER_AGENT} bot${index} [NC,OR]`);
  const { edge, decide } = importText(
    `RewriteEngine On\n${bots.join('\n')}\nRewriteCond %{HTTP_USER_AGENT} last [NC]\nRewriteRule ^ - [F]\n`,
  );
  expect(edge.entries.map(({ outcome, becomes }) => [outcome, becomes])).toEqual([['exact', ['drop']]]);
  expect(decide({ headers: { 'user-agent': 'x BOT39' } }).action).toBe('block');
  expect(decide({ headers: { 'user-agent': 'Mozilla' } }).action).toBe('forward');
});
