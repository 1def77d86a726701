/** The normalised request (semantics §1) as `explain` tells it, and the gate's refusals in their order. */
import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import {
  type EdgeRequest,
  type Evaluator,
  loadPlan,
  type Trace,
} from '../../../../src/engine/evaluator/index.ts';
import { dnsRecord, request, ruleSet, type Setting } from '../../../support/sample-rules.ts';

type Fields = Parameters<typeof request>[0];

function load(setting: Setting = {}): Evaluator {
  return loadPlan(seal(compile(ruleSet(setting)).plan), { clock: () => 42 });
}

const PLAIN = load();

function facts(fields: Fields): Trace['facts'] {
  return PLAIN.explain(request(fields)).facts;
}

describe('facts', () => {
  test.each<[string, Fields, Partial<Trace['facts']>]>([
    ['http', { scheme: 'http' }, { scheme: 'http' }],
    ['HTTP', { scheme: 'HTTP' }, { scheme: 'http' }],
    ['https', { scheme: 'https' }, { scheme: 'https' }],
    ['any other scheme', { scheme: 'httpx' }, { scheme: 'https' }],
    ['no scheme', { scheme: undefined }, { scheme: 'https' }],
    ['a host in another spelling', { host: 'WWW.Example.COM.:443' }, { host: 'www.example.com' }],
    ['a host in a list of one', { host: ['www.example.com'] }, { host: 'www.example.com' }],
    [
      'a path with params',
      { target: '/x/../a;b?c' },
      { path: '/a;b', pathWithoutParameters: '/a', query: 'c' },
    ],
    ['no query', { target: '/a' }, { query: null }],
    ['an empty query', { target: '/a?' }, { query: '' }],
    ['an IPv4 address', { ip: '192.0.2.1' }, { ip: '192.0.2.1' }],
    ['an IPv6 address', { ip: '2001:DB8:0::1' }, { ip: '2001:db8::1' }],
    ['a mapped address', { ip: '::ffff:192.0.2.1' }, { ip: '192.0.2.1' }],
    ['a mapped address in hexadecimal', { ip: '::ffff:c000:201' }, { ip: '192.0.2.1' }],
    ['an address with leading zeros', { ip: '010.0.0.1' }, { ip: null }],
    ['an address with a port', { ip: '192.0.2.1:80' }, { ip: null }],
    ['no address', { ip: undefined }, { ip: null }],
    ['a country', { country: 'DE' }, { country: 'DE' }],
    ['a country in lower case', { country: 'de' }, { country: 'DE' }],
    ['XX', { country: 'XX' }, { country: null }],
    ['xx', { country: 'xX' }, { country: null }],
    ['T1', { country: 'T1' }, { country: null }],
    ['an empty country', { country: '' }, { country: null }],
    ['a country with a blank', { country: 'DE ' }, { country: null }],
    ['marks instead of letters', { country: '@[' }, { country: null }],
    ['letters beyond ASCII', { country: 'ÄÖ' }, { country: null }],
    ['an autonomous system', { asn: 64_496 }, { asn: 64_496 }],
    ['the greatest one', { asn: 4_294_967_295 }, { asn: 4_294_967_295 }],
    ['one beyond it', { asn: 4_294_967_296 }, { asn: null }],
    ['the reserved one', { asn: 0 }, { asn: null }],
    ['an autonomous system as text', { asn: '64496' }, { asn: null }],
    ['a fraction of one', { asn: 1.5 }, { asn: null }],
    [
      'a bot',
      { bot: { kind: 'gptbot', verified: true } },
      { bot: { kind: 'gptbot', verified: true, from: 'given' } },
    ],
    [
      'a bot of no named kind',
      { bot: { kind: 'x', verified: false } },
      { bot: { kind: 'x', verified: false, from: 'given' } },
    ],
    [
      'verified that is not true',
      { bot: { kind: 'gptbot', verified: 1 } },
      { bot: { kind: 'gptbot', verified: false, from: 'given' } },
    ],
    ['not a bot', { bot: null, headers: { 'user-agent': 'GPTBot' } }, { bot: null }],
    ['garbage for a bot', { bot: 'gptbot', headers: { 'user-agent': 'GPTBot' } }, { bot: null }],
    [
      'a bot by its User-Agent',
      { headers: { 'user-agent': 'x GPTBot/1' } },
      { bot: { kind: 'gptbot', verified: false, from: 'user-agent' } },
    ],
    [
      'a header in another case',
      { headers: { 'User-Agent': 'GPTBot' } },
      { bot: { kind: 'gptbot', verified: false, from: 'user-agent' } },
    ],
    ['the first of two headers', { headers: { 'user-agent': ['curl', 'GPTBot'] } }, { bot: null }],
    ['no headers', { headers: undefined }, { bot: null }],
    ['fingerprints', { ja4: 'a', ja4h: 'b' }, { ja4: 'a', ja4h: 'b' }],
    ['fingerprints that are no text', { ja4: 7, ja4h: {} }, { ja4: null, ja4h: null }],
  ])('%s', (_name, fields, expected) => expect(facts(fields)).toMatchObject(expected));

  test('no fact of one request is visible in the next', () => {
    const full = request({
      ip: '192.0.2.1',
      country: 'DE',
      asn: 64_496,
      bot: { kind: 'gptbot', verified: true },
      ja4: 'a',
      ja4h: 'b',
      target: '/a;b?c',
    });
    const bare = { scheme: 'https', method: 'GET', host: 'example.com', target: '/' } as EdgeRequest;
    const alone = load().explain(bare);
    PLAIN.explain(full);
    expect(PLAIN.explain(bare)).toEqual(alone);
  });
});

describe('the gate', () => {
  function status(fields: Fields, setting: Setting = {}): number | null {
    const { action, status: found } = load(setting).evaluate(request(fields));
    return action === 'refuse' ? found : null;
  }

  test.each<[string, Fields, Setting, number | null]>([
    ['a good request', {}, {}, null],
    ['a bad host before anything else', { host: 'a b', target: '/%' }, { domain: { status: 'banned' } }, 400],
    ['a foreign host before a bad path', { host: 'other.test', target: '/%' }, {}, 421],
    ['a host that only ends like the domain', { host: 'notexample.com' }, {}, 421],
    ['the domain as a label of another', { host: 'example.com.evil.test' }, {}, 421],
    ['an address', { host: '192.0.2.1' }, {}, 421],
    ['an address in brackets', { host: '[::1]' }, {}, 421],
    ['a bad path before the status', { target: '/%' }, { domain: { status: 'banned' } }, 400],
    [
      'a long path before the status',
      { target: `/${'a'.repeat(16_384)}` },
      { domain: { status: 'banned' } },
      414,
    ],
    [
      'the status before the record',
      { host: 'x.example.com' },
      { domain: { status: 'disabled' }, records: [] },
      421,
    ],
    ['moved serves', {}, { domain: { status: 'moved' } }, null],
    ['suspended does not', {}, { domain: { suspended: true } }, 421],
    ['no proxied record', { host: 'x.example.com' }, { records: [dnsRecord(1, '@')] }, 421],
  ])('%s', (_name, fields, setting, expected) => expect(status(fields, setting)).toBe(expected));

  test.each<[string, Fields, number | null]>([
    ['the same host', { target: 'https://example.com/a' }, null],
    ['the same host in another spelling', { target: 'https://EXAMPLE.com./a' }, null],
    ['another host', { target: 'https://www.example.com/a' }, 400],
    ['a foreign host', { target: 'https://other.test/a' }, 400],
    ['no host', { target: 'https:///a' }, 400],
    ['a user', { target: 'https://me@example.com/a' }, 400],
    ['another scheme, both ports implied', { target: 'http://example.com/a' }, null],
    ['the default port, named on one side', { target: 'https://example.com:443/a' }, null],
    ['the other default port, named on one side', { target: 'https://example.com:80/a' }, 400],
    ['the port by the target’s own scheme', { target: 'http://example.com/a', host: 'example.com:80' }, null],
    ['the port of the other scheme', { target: 'http://example.com/a', host: 'example.com:443' }, 400],
    ['the same port on both sides', { target: 'http://example.com:8080/', host: 'example.com:8080' }, null],
    ['other ports', { target: 'http://example.com:8080/', host: 'example.com:8081' }, 400],
  ])('an absolute-form target with %s', (_name, fields, expected) => expect(status(fields)).toBe(expected));

  test('a host is parsed alike whether or not it is cached', () => {
    const evaluator = load();
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < 700; at++) {
        expect(evaluator.evaluate(request({ host: `h${at}.example.com` })).action).toBe('forward');
        expect(evaluator.evaluate(request({ host: `h${at}.other.test` })).status).toBe(421);
        expect(evaluator.evaluate(request({ host: `h${at}..example.com` })).status).toBe(400);
      }
    }
    expect(evaluator.evaluate(request({ host: `${'a'.repeat(300)}` })).status).toBe(400);
  });
});

test('the clock is read only for a request without its own time', () => {
  let asked = 0;
  const evaluator = loadPlan(seal(compile(ruleSet({})).plan), {
    clock: () => {
      asked++;
      return 0;
    },
  });
  evaluator.evaluate(request({ now: 5 }));
  expect(asked).toBe(0);
  for (const now of [undefined, null, 'x', Number.NaN, Number.POSITIVE_INFINITY])
    evaluator.evaluate(request({ now }));
  expect(asked).toBe(5);
});
