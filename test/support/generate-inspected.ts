/** Requests over the words of `generate-seclang.ts`, with bodies of every kind, some of them broken. */
import type { WafInput } from '../../src/engine/waf/request/inspection.ts';
import type { Random } from './generate-random.ts';

const NAMES = ['a', 'A', 'b', 'ab', 'ba', 'x-a', 'sid', 's', ''];
const VALUES = [
  'a',
  'b',
  'ab',
  'AB',
  'aabb',
  '1',
  '12',
  '-1',
  ' 2',
  '9007199254740993',
  '\u00a01',
  '',
  'a b',
  "1' or 1=1--",
  '<script>x</script>',
  '/*a*/b',
  'a/../b',
  'YWI=',
  '&#97;',
  '%61',
  '%2561b',
  '\\x61',
  'é',
  'a\u0000b',
  '203.0.113.9',
  'x-a',
  'ARGS:a',
];
const CONTENT_TYPES = [
  'application/x-www-form-urlencoded',
  'application/json',
  'application/problem+json',
  'text/xml; charset=utf-8',
  'multipart/form-data; boundary=edge',
  'text/plain',
];

/** A request, its body and whether the body was cut. */
export function generateInspected(random: Random): WafInput {
  const type = random.pick(CONTENT_TYPES);
  const hasBody = random.chance(0.5);
  const body = hasBody ? bodyOf(random, random.chance(0.9) ? type : random.pick(CONTENT_TYPES)) : null;
  const some = (most: number): [string, string][] =>
    random.times(random.int(most + 1), () => [random.pick(NAMES), random.pick(VALUES)]);
  const headers: Record<string, string | string[]> = {};
  if (random.chance(0.6)) headers['x-a'] = headerOf(random);
  if (random.chance(0.3)) headers['x-b'] = [headerOf(random), headerOf(random)];
  if (random.chance(0.3))
    headers['host'] = random.pick(['a.example', 'a.example:8080', '[2001:db8::1]:1', '']);
  if (random.chance(0.2)) headers['authorization'] = random.pick(['Basic YWI=', 'ab']);
  if (random.chance(0.5))
    headers['cookie'] = some(3)
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
  if (hasBody || random.chance(0.1)) headers['content-type'] = type;
  const query = some(3).map(([name, value]) => `${encode(random, name)}=${encode(random, value)}`);
  const path = random.pick(['/', '/a', '/a/b.ab', '/%61%2fb', '/é', 'http://a.example/b', '*', '/a?']);
  return {
    request: {
      scheme: random.pick(['https', 'http']),
      method: random.pick(['GET', 'POST', 'PUT']),
      host: 'a.example',
      target: query.length === 0 ? path : `${path}?${query.join('&')}`,
      ...(random.chance(0.3) ? { protocol: random.pick(['HTTP/1.0', 'HTTP/2']) } : {}),
      headers,
      ip: random.pick(['203.0.113.7', '198.51.100.1', '2001:db8::7', null]),
    },
    body: body === null ? null : Buffer.from(body, random.chance(0.9) ? 'utf8' : 'latin1'),
    truncated: random.chance(0.1),
    bodyError: random.chance(0.05) ? 'content-encoding: `zstd` is not known' : null,
  };
}

function headerOf(random: Random): string {
  return random.pick(VALUES);
}

function encode(random: Random, text: string): string {
  if (random.chance(0.2)) return text;
  return encodeURIComponent(text);
}

function bodyOf(random: Random, type: string): string {
  const pairs = random.times(random.int(4), () => [random.pick(NAMES), random.pick(VALUES)] as const);
  const whole = write(type, pairs, random);
  return random.chance(0.1) ? whole.slice(0, random.int(whole.length + 1)) : whole;
}

function write(type: string, pairs: readonly (readonly [string, string])[], random: Random): string {
  if (type.includes('json'))
    return JSON.stringify(random.chance(0.5) ? Object.fromEntries(pairs) : { a: pairs });
  if (type.includes('xml')) {
    const escaped = (text: string): string =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    return `<r>${pairs.map(([, value]) => `<e a="${escaped(value)}">${escaped(value)}</e>`).join('')}</r>`;
  }
  if (type.includes('multipart')) {
    const parts = pairs.map(([name, value]) => {
      const file = random.chance(0.3) ? `; filename="${random.pick(NAMES)}"` : '';
      return `--edge\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
    });
    return `${parts.join('')}--edge--\r\n`;
  }
  return pairs.map(([name, value]) => `${encode(random, name)}=${encode(random, value)}`).join('&');
}
