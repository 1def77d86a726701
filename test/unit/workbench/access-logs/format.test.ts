/** Which format the first lines of a log have. */
import { expect, it } from 'vitest';
import { detectFormat } from '../../../../src/workbench/access-logs/format.ts';

const COMBINED = '203.0.113.7 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 2326 "-" "x"';
const HAPROXY =
  '10.0.1.2:33317 [06/Feb/2009:12:14:14.655] in be/one 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"';

it.each([
  ['combined', [COMBINED]],
  ['combined', [`shop.example:443 ${COMBINED}`]],
  ['combined', ['half a line', COMBINED, '{"odd":1}', COMBINED]],
  ['haproxy', [HAPROXY]],
  ['haproxy', [`Feb  6 12:14:14 localhost haproxy[14389]: ${HAPROXY}`]],
  ['haproxy', ['Feb  6 12:14:14 localhost haproxy[14389]: Proxy in started.', HAPROXY]],
  ['cloudfront', ['#Version: 1.0', '#Fields: date time']],
  ['cloudfront', ['2019-12-04\t21:02:31\tLAX1\t392']],
  ['cloudfront', ['{"cs-method":"GET","cs-uri-stem":"/"}']],
  ['cloudflare', ['{"ClientRequestMethod":"GET","ClientRequestURI":"/"}']],
  ['caddy', ['{"level":"info","request":{"uri":"/","method":"GET"}}']],
  ['nginx-json', ['{"request":"GET / HTTP/1.1"}']],
  ['nginx-json', ['{"method":"GET","path":"/"}']],
  ['traefik', ['{"RequestMethod":"GET","RequestPath":"/","level":"info","msg":""}']],
  [
    'envoy',
    ['[2026-01-31T12:00:00.250Z] "GET / HTTP/1.1" 200 - 0 1 2 1 "-" "x" "id" "a.example" "10.0.0.1:80"'],
  ],
  [
    'proxy-manager',
    ['[31/Jan/2026:12:00:00 +0000] - 200 200 - GET https a.example "/" [Client 192.0.2.1] [Length 1]'],
  ],
  [
    'alb',
    [
      'h2 2026-01-31T12:00:00.250000Z app/a/b 192.0.2.1:2817 10.0.0.1:80 0.0 0.0 0.0 200 200 3 5 "GET https://a.example:443/ HTTP/2.0" "x"',
    ],
  ],
  ['decision', ['{"format":"edgeplan.decision/v1"}']],
  ['decision', ['{"format":"edgeplan.gap/v1"}']],
  [null, ['hello', '{}', '{"torn":', '']],
  [null, []],
])('is %s', (format, lines) => {
  expect(detectFormat(lines)).toBe(format);
});
