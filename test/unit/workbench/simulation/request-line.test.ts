import { describe, expect, it } from 'vitest';
import {
  type RequestFlags,
  readRequest,
  readTime,
  readUrl,
} from '../../../../src/workbench/simulation/request-line.ts';

const NOW = Date.UTC(2026, 0, 1);

function request(url: string, flags: RequestFlags = {}) {
  const read = readRequest(url, { ...flags, now: NOW });
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

function refusal(url: string, flags: RequestFlags = {}): string {
  const read = readRequest(url, { ...flags, now: NOW });
  return read.ok ? 'accepted' : read.error;
}

describe('URLs', () => {
  it('are split without normalising the path', () => {
    const read = readUrl('HTTPS://Shop.Example.com:8443/a/../b/%2e%2E//c;x?q=%zz#top');
    expect(read).toEqual({
      ok: true,
      value: { scheme: 'https', host: 'Shop.Example.com:8443', target: '/a/../b/%2e%2E//c;x?q=%zz' },
    });
  });

  it('may leave out scheme and path', () => {
    expect(request('shop.example.com')).toMatchObject({
      scheme: 'https',
      host: 'shop.example.com',
      target: '/',
    });
    expect(request('http://x?q=1').target).toBe('/?q=1');
    expect(request('x.test:8080/y')).toMatchObject({ host: 'x.test:8080', target: '/y' });
  });

  it('are refused with a message when they are malformed', () => {
    expect(refusal('ftp://x/')).toBe('`ftp://x/` is not an http or https URL');
    expect(refusal('/only/a/path')).toMatch(/has no host/);
    expect(refusal('')).toMatch(/has no host/);
    expect(refusal('https://me:secret@x/')).toMatch(/contains a user name/);
  });
});

describe('curl options', () => {
  it('imply the method by -d and -I, unless it is given', () => {
    expect(request('https://x').method).toBe('GET');
    expect(request('https://x', { head: true }).method).toBe('HEAD');
    expect(request('https://x', { data: 'a=1' })).toMatchObject({
      method: 'POST',
      body: 'a=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(request('https://x', { data: 'a=1', method: 'PUT' }).method).toBe('PUT');
  });

  it('collect headers under lower-case names', () => {
    const { headers } = request('https://x', {
      userAgent: 'a',
      header: ['X-One: 1', 'x-ONE: 2', 'X-Empty;', 'Accept: text/html, */*', 'X-Colon: a:b'],
    });
    expect({ ...headers }).toEqual({
      'user-agent': 'a',
      'x-one': ['1', '2'],
      'x-empty': '',
      accept: 'text/html, */*',
      'x-colon': 'a:b',
    });
  });

  it('remove a header by `Name:`, and replace the host of the URL by Host', () => {
    const { headers, host } = request('https://x', {
      userAgent: 'a',
      header: ['User-Agent:', 'Host: y.test'],
    });
    expect({ ...headers }).toEqual({});
    expect(host).toBe('y.test');
    expect(request('https://x', { header: ['Host: a', 'Host: b'] }).host).toEqual(['a', 'b']);
  });

  it('are refused when a header is malformed', () => {
    expect(refusal('https://x', { header: ['no colon'] })).toBe(
      "`no colon` is not a header; write 'Name: value'",
    );
    expect({ ...request('https://x', { header: ['__proto__: 1'] }).headers }).toHaveProperty('__proto__');
  });
});

describe('facts', () => {
  it('are absent from the request when not given', () => {
    const bare = request('https://x');
    for (const name of ['ip', 'country', 'asn', 'bot', 'ja4', 'ja4h', 'body', 'cleared', 'identity'])
      expect(bare).not.toHaveProperty(name);
    expect(bare.now).toBe(NOW);
  });

  it('are read and checked', () => {
    expect(request('https://x', { country: 'ru' }).country).toBe('RU');
    expect(request('https://x', { asn: '64496' }).asn).toBe(64_496);
    expect(request('https://x', { asn: 'AS4294967295' }).asn).toBe(4_294_967_295);
    expect(request('https://x', { ip: '2001:db8::1' }).ip).toBe('2001:db8::1');
    expect(request('https://x', { bot: 'gptbot' }).bot).toEqual({ kind: 'gptbot', verified: false });
    expect(request('https://x', { bot: 'gptbot:verified' }).bot).toEqual({ kind: 'gptbot', verified: true });
    expect(request('https://x', { bot: 'none' }).bot).toBe(null);
    expect(request('https://x', { cleared: ['captcha/9'] }).cleared).toEqual(['captcha/9']);
  });

  it('say whose request it is', () => {
    const flags = { consumer: 'acme', claim: ['sub=7', 'aud=a', 'aud=b=c'], scope: ['read', 'write'] };
    expect(request('https://x', flags).identity).toEqual({
      consumer: 'acme',
      claims: { sub: '7', aud: ['a', 'b=c'] },
      scopes: ['read', 'write'],
    });
    expect(request('https://x', { scope: ['read'] }).identity).toEqual({ consumer: null, scopes: ['read'] });
    expect(request('https://x', { claim: ['__proto__=1'] }).identity?.claims).toHaveProperty(
      '__proto__',
      '1',
    );
    const exhausted = { consumer: 'acme', quotaExhausted: '2026-02-01T00:00:00Z' };
    expect(request('https://x', exhausted).identity).toEqual({
      consumer: 'acme',
      exhaustedUntil: Date.UTC(2026, 1, 1),
    });
    expect(refusal('https://x', { quotaExhausted: '1' })).toBe(
      '--quota-exhausted is of a consumer; add --consumer',
    );
    expect(refusal('https://x', { ...exhausted, quotaExhausted: 'soon' })).toMatch(/^`soon` is not a time/);
    expect(refusal('https://x', { consumer: '' })).toBe('--consumer has no username');
    expect(refusal('https://x', { claim: ['=x'] })).toBe('`=x` is not a claim; write name=value');
    expect(refusal('https://x', { scope: ['read write'] })).toMatch(/^`read write` is not a scope/);
  });

  it('are refused when malformed, instead of counting as unknown', () => {
    expect(refusal('https://x', { ip: '010.0.0.1' })).toBe('`010.0.0.1` is not an IPv4 or IPv6 address');
    expect(refusal('https://x', { country: 'Russia' })).toMatch(/is not a country/);
    for (const asn of ['0', '4294967296', 'AS', '-1', '1.5', '64496x'])
      expect(refusal('https://x', { asn })).toMatch(/is not the number of an autonomous system; write 1 to /);
    expect(refusal('https://x', { bot: 'gptbto' })).toBe(
      '`gptbto` is not a kind of bot; did you mean gptbot?',
    );
    expect(refusal('https://x', { bot: 'somebody' })).toMatch(/the kinds are gptbot, .*, or none$/);
    expect(refusal('https://x', { bot: 'gptbot:true' })).toMatch(/write gptbot or gptbot:verified/);
    expect(refusal('https://x', { cleared: ['9'] })).toMatch(/is not a challenge/);
  });
});

describe('times', () => {
  it('are RFC 3339 or milliseconds', () => {
    expect(readTime('2026-01-01T00:00:00Z')).toEqual({ ok: true, value: NOW });
    expect(readTime('2026-01-01T01:00:00.000+01:00')).toEqual({ ok: true, value: NOW });
    expect(readTime(String(NOW))).toEqual({ ok: true, value: NOW });
  });

  it('are refused without a zone, or when the date does not exist', () => {
    for (const text of ['2026-01-01', '2026-01-01T00:00:00', '2026-13-01T00:00:00Z', 'yesterday', '-1', '']) {
      expect(readTime(text).ok).toBe(false);
    }
  });
});
