/** What a headers rule accepts, and what it says of what it refuses. */
import { describe, expect, it } from 'vitest';
import { describeDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { mistakes, stored, times } from './read.ts';

const set = (name: string, value = 'x') => mistakes('headers', { request: { set: { [name]: value } } });

describe('headers', () => {
  it('is stored as written, without parts that name nothing', () => {
    const response = { set: { 'X-b': '1', 'X-A': '${host}' }, remove: ['Server'] };
    expect(stored('headers', { response, request: {} })).toMatchObject({ response });
    const fields = stored('headers', { response: { ...response, add: {} }, request: { remove: [] } });
    expect(fields['response']).toEqual(response);
    expect(Object.keys(fields)).not.toContain('request');
    expect(Object.keys(stored('headers', { response })['response'] as object)).toEqual(['set', 'remove']);
  });

  it.each([
    ['Host', 'request.set.Host: routes requests, which rules of this type do not'],
    ['content-length', 'request.set["content-length"]: frames or codes the body'],
    ['Transfer-Encoding', 'frames or codes the body'],
    ['Keep-Alive', 'belongs to a connection'],
    ['Proxy-Authenticate', 'belongs to a connection'],
    ['Upgrade', 'belongs to a connection'],
    ['TE', 'frames or codes the body'],
    ['Trailer', 'frames or codes the body'],
    ['Forwarded', 'is set by the edge, and origins trust it'],
    ['X-Forwarded-Anything', 'is set by the edge, and origins trust it'],
    ['X-Edgeplan-Id', 'is set by the edge'],
    ['CDN-Loop', 'detects loops'],
    ['If-None-Match', 'a part of a response'],
    ['Set-Cookie', 'would remove all other cookies'],
    ['a b', 'must be a name of a header'],
    ['', 'must be a name of a header'],
    ['x'.repeat(257), 'must be a name of a header, of at most 256'],
  ])('refuses the name `%s`', (name, message) => {
    expect(set(name)).toEqual([expect.stringContaining(message)]);
  });

  it('refuses the name `__proto__`, which an object cannot list', () => {
    const changes = JSON.parse('{"set":{"__proto__":"x","A":"b"}}');
    expect(mistakes('headers', { request: changes })).toEqual([expect.stringContaining('`__proto__`')]);
  });

  it('lets cookies be added and conditional requests be made plain', () => {
    expect(mistakes('headers', { response: { add: { 'Set-Cookie': 'a=b' }, remove: ['Via'] } })).toEqual([]);
    expect(mistakes('headers', { request: { remove: ['If-None-Match', 'Range', 'Cookie'] } })).toEqual([]);
  });

  it.each([
    ['', 'must not be empty; list the name in `remove`'],
    ['a\nb', 'must consist of visible ASCII characters and blanks'],
    ['a\rb', 'must consist of visible ASCII characters and blanks'],
    ['é', 'must consist of visible ASCII characters and blanks, found `é`'],
    [' a', 'must not start or end with a blank'],
    ['a\t', 'must not start or end with a blank'],
    ['$host', 'found `$host`; write `${host}`, or `$$` for a literal `$`'],
    ['5$', 'found `$`; write `$$` for a literal `$`'],
    ['${claims(sub)}', 'refers to no variable; known are `${client_ip}`, '],
    ['${consumers}', 'refers to no variable'],
    ['${claim()}', 'refers to no variable'],
    ['${hots}', 'did you mean `${host}`?'],
    ['${host', 'holds a `$` that starts neither'],
    ['x'.repeat(4_097), 'must be at most 4096 characters'],
  ])('refuses the value %j', (value, message) => {
    expect(set('X-A', value)).toEqual([expect.stringContaining(message)]);
  });

  it('accepts every variable, blanks inside and a literal dollar', () => {
    const value =
      '${client_ip} ${client_country} ${host}\t${scheme} ${method} ${request_id} ${ja4} ${bot_kind} $$5 "~';
    expect(set('X-A', value)).toEqual([]);
  });

  it('refuses a NUL', () => {
    expect(set('X-A', 'a\0b')).not.toEqual([]);
  });

  it('names a header once for each message, whatever its case', () => {
    const twice = { set: { 'X-A': '1' }, remove: ['x-a'] };
    expect(mistakes('headers', { response: twice })).toEqual([
      'response.remove[0]: is named twice in `response`, found `x-a`; name it once in `set`, `add` or `remove`',
    ]);
    expect(mistakes('headers', { request: { set: { A: '1' } }, response: { set: { A: '1' } } })).toEqual([]);
  });

  it('has at most 32 names in both messages together, and 16,384 characters', () => {
    const names = (count: number) => Object.fromEntries(times(count, (at) => [`X-${at}`, 'v']));
    expect(mistakes('headers', { request: { set: names(16) }, response: { set: names(16) } })).toEqual([]);
    expect(mistakes('headers', { request: { set: names(17) }, response: { set: names(16) } })).toEqual([
      expect.stringContaining('at most 32 headers in `request` and `response` together, found 33'),
    ]);
    const long = Object.fromEntries(times(5, (at) => [`X-${at}`, 'v'.repeat(4_000)]));
    expect(mistakes('headers', { response: { set: long } })).toEqual([
      expect.stringContaining('at most 16384 characters of names and values, found 20015 characters'),
    ]);
  });

  it('changes something', () => {
    const message = 'this rule changes nothing: neither `request` nor `response` names a header';
    expect(mistakes('headers', { response: {} })).toEqual([expect.stringContaining(message)]);
  });

  it('suggests a part for a misspelt one', () => {
    expect(mistakes('headers', { request: { sett: { A: 'b' } } })[0]).toContain('did you mean `set`?');
  });

  it('names a tag of a rule that exists', () => {
    const parse = (tag: string) =>
      parseRuleSet({
        domain: { name: 'example.com' },
        records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }],
        rules: [
          { id: 1, type: 'bot_route', bot_kinds: ['*'], action: 'tag' },
          { id: 2, type: 'headers', request: { set: { 'X-Bot': `b\${tag(${tag})}` } } },
        ],
      });
    expect(parse('bot_route/1').ok).toBe(true);
    expect(parse('bot_route/9').diagnostics.map(describeDiagnostic)).toEqual([
      'rules[1].request.set["X-Bot"]: names no rule that tags requests, found `bot_route/9`; name `bot_route/1`',
    ]);
  });
});
