/** The help in an answer 421: who gets what, in which form. */
import { describe, expect, test } from 'vitest';
import { pageAnswer } from '../../../../src/edge/answers/pages.ts';
import {
  cutHost,
  exampleHost,
  isLocalClient,
  localHelp,
  MAX_LISTED,
  strangerHelp,
} from '../../../../src/edge/answers/unserved.ts';

const REQUEST = { scheme: 'http', host: 'localhost', port: 8080 } as const;

function json(help: Parameters<typeof pageAnswer>[0]['help']): unknown {
  return JSON.parse(String(pageAnswer({ status: 421, id: '7', ...(help ? { help } : {}) }, '*/*').body));
}

function html(help: Parameters<typeof pageAnswer>[0]['help']): string {
  return String(pageAnswer({ status: 421, id: '7', ...(help ? { help } : {}) }, 'text/html').body);
}

describe('the answer', () => {
  test('a stranger gets the host of the request and nothing about other hosts', () => {
    const help = strangerHelp(REQUEST);
    expect(json(help)).toEqual({ error: 'this site is not served here', id: '7', host: 'localhost' });
    expect(html(help)).toContain('The request was for the host <code>localhost</code>.');
    expect(html(help)).not.toContain('curl');
  });

  test('a client on this machine gets the hosts and a command, as JSON and as HTML', () => {
    const help = localHelp(REQUEST, '127.0.0.1', ['*.preview.shop.test', 'shop.test']);
    const command = "curl -H 'Host: shop.test' http://127.0.0.1:8080/";
    expect(json(help)).toEqual({
      error: 'this site is not served here',
      id: '7',
      host: 'localhost',
      served: ['*.preview.shop.test', 'shop.test'],
      try: command,
    });
    expect(html(help)).toContain(
      'Hosts served here: <code>*.preview.shop.test</code>, <code>shop.test</code>',
    );
    expect(html(help)).toContain(`<code>${command}</code>`);
  });

  test('where hosts are not listed, the command has a placeholder', () => {
    expect(json(localHelp(REQUEST, '127.0.0.1', null))).toEqual({
      error: 'this site is not served here',
      id: '7',
      host: 'localhost',
      try: "curl -H 'Host: HOST' http://127.0.0.1:8080/",
    });
  });

  test(`more than ${MAX_LISTED} hosts are cut, and the answer says so`, () => {
    const hosts = Array.from({ length: MAX_LISTED + 1 }, (_, at) => `h${at}.test`);
    const help = localHelp(REQUEST, '127.0.0.1', hosts);
    expect(json(help)).toMatchObject({ served: hosts.slice(0, -1), more: true });
    expect(html(help)).toContain('</code> and more</p>');
  });

  test('a node without hosts says that none is served', () => {
    expect(html(localHelp(REQUEST, '127.0.0.1', []))).toContain('No host is served here now.');
  });

  test('markup in a host is escaped, and a long host is cut', () => {
    const host = `"&'${'x'.repeat(200)}`;
    expect(html(strangerHelp({ ...REQUEST, host }))).toContain("<code>&quot;&amp;'");
    expect(cutHost(host)).toHaveLength(101);
  });
});

test.each([
  [{ scheme: 'http', host: 'x', port: -1 }, '127.0.0.1', "curl -H 'Host: shop.test' http://127.0.0.1/"],
  [{ scheme: 'http', host: 'x', port: 81 }, '::1', "curl -H 'Host: shop.test' http://[::1]:81/"],
  [
    { scheme: 'https', host: 'x', port: 8443 },
    '127.0.0.1',
    'curl --resolve shop.test:8443:127.0.0.1 https://shop.test:8443/',
  ],
  [{ scheme: 'https', host: 'x', port: -1 }, '::1', 'curl --resolve shop.test:443:[::1] https://shop.test/'],
] as const)('the command for %o from %s is `%s`', (request, address, command) => {
  expect(localHelp(request, address, ['shop.test']).local?.command).toBe(command);
});

test.each([
  [[], null],
  [['*.shop.test'], 'any.shop.test'],
  [['*.shop.test', 'b.test', 'a.test'], 'b.test'],
  [["a'b.test", 'c.test'], 'c.test'],
])('the example of the hosts %o is %s', (hosts, example) => {
  expect(exampleHost(hosts)).toBe(example);
});

test.each([
  ['127.0.0.1', {}, true],
  ['127.9.9.9', {}, true],
  ['::1', { host: 'localhost' }, true],
  ['::ffff:127.0.0.1', {}, true],
  ['::ffff:192.168.0.2', {}, false],
  ['127.0.0.1', { 'x-forwarded-for': '203.0.113.7' }, false],
  ['127.0.0.1', { forwarded: 'for=203.0.113.7' }, false],
  ['::1', { via: '1.1 proxy' }, false],
  ['192.168.0.2', {}, false],
  ['1270.0.0.1', {}, false],
  [null, {}, false],
])('a client at %s with the headers %o is local: %s', (address, headers, local) => {
  expect(isLocalClient(address, headers)).toBe(local);
});
