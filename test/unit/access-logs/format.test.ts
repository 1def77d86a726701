/** Which format the first lines of a log have. */
import { expect, it } from 'vitest';
import { detectFormat } from '../../../src/access-logs/format.ts';

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
  ['decision', ['{"format":"edgeplan.decision/v1"}']],
  ['decision', ['{"format":"edgeplan.gap/v1"}']],
  [null, ['hello', '{}', '{"torn":', '']],
  [null, []],
])('is %s', (format, lines) => {
  expect(detectFormat(lines)).toBe(format);
});
