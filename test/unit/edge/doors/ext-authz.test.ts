/** What the gRPC door makes of an Envoy's message, and an Envoy's message of a decision: the cases that attackers choose. */
import { describe, expect, test } from 'vitest';
import type { ForwardChanges, ProxiedRequest } from '../../../../src/edge/decide/proxied.ts';
import type { EdgeVerdict } from '../../../../src/edge/decide/verdict.ts';
import { decodeCheckRequest } from '../../../../src/edge/doors/ext-authz/check-request.ts';
import { encodeCheckResponse } from '../../../../src/edge/doors/ext-authz/check-response.ts';
import { BODY_LIMIT } from '../../../../src/edge/doors/ext-authz/limits.ts';
import { proxiedOf } from '../../../../src/edge/doors/ext-authz/to-request.ts';
import { checkResponseOf } from '../../../../src/edge/doors/ext-authz/to-response.ts';
import type { Decision, Origin } from '../../../../src/engine/evaluator/index.ts';
import { oracleDecode, oracleEncode } from '../../../support/ext-authz.ts';
import { envoyCheck, type Visit } from '../../../support/ext-authz-rig.ts';

function read(visit: Visit): ProxiedRequest {
  return proxiedOf(decodeCheckRequest(oracleEncode('CheckRequest', envoyCheck(visit))));
}

describe('a request that Envoy describes', () => {
  test('has raw octets in headers, path and host', () => {
    const { headers, target, host } = read({
      host: 'sh\xc3\xb6p.test',
      target: '/\xff?q=\xc3\xa4',
      headers: { 'x-a': '\xff\x00' },
    });
    expect({ ...headers }).toEqual({ 'x-a': '\xff\x00' });
    expect(target).toBe('/%FF?q=%C3%A4');
    expect(host).toBe('shöp.test');
  });

  test('has repeated headers as lists, cookies as one, and no pseudo-headers', () => {
    const { headers } = read({
      headers: { 'x-a': ['1', '2', '3'], cookie: ['a=1', 'b=2'], 'content-type': ['text/a', 'text/b'] },
    });
    expect({ ...headers }).toEqual({
      'x-a': ['1', '2', '3'],
      cookie: 'a=1; b=2',
      'content-type': ['text/a', 'text/b'],
    });
  });

  test('a header with the name of a property of objects is a header', () => {
    const { headers } = read({ headers: { constructor: 'a', ['__proto__']: 'b' } });
    expect(Object.keys(headers)).toContain('constructor');
    expect(Object.getPrototypeOf(headers)).toBeNull();
  });

  test('without raw headers the map and the fields count', () => {
    const message = oracleEncode('CheckRequest', {
      attributes: {
        request: {
          http: {
            ...{ method: 'POST', path: '/a?b', host: 'shop.test', scheme: 'http', protocol: 'HTTP/1.0' },
            headers: { ':path': '/forged', 'x-a': '1,2', 'x-envoy-auth-partial-body': 'true' },
            body: 'abc',
          },
        },
      },
    });
    const request = proxiedOf(decodeCheckRequest(message));
    expect(request).toMatchObject({
      method: 'POST',
      target: '/a?b',
      host: 'shop.test',
      scheme: 'http',
      port: 80,
    });
    expect(request).toMatchObject({ protocol: 'HTTP/1.0', ip: null, serverName: null });
    expect({ ...request.headers }).toEqual({ 'x-a': '1,2' });
    expect(request.body).toEqual({ octets: Buffer.from('abc'), isWhole: false });
  });

  test('the scheme is the header of the proxy, not the `:scheme` of the visitor', () => {
    expect(read({ scheme: 'http', headers: { 'x-forwarded-proto': 'https' } }).scheme).toBe('https');
    expect(read({ scheme: 'https', headers: { 'x-forwarded-proto': 'http' } }).scheme).toBe('http');
    expect(read({ scheme: 'https', headers: { 'x-forwarded-proto': ['http', 'http'] } }).scheme).toBe(
      'https',
    );
    expect(read({ scheme: 'ftp' }).scheme).toBe('http');
  });

  test('the address is that of the connection, unless the configuration names a header', () => {
    const headers = { 'x-envoy-external-address': '198.51.100.7', 'x-edgeplan-address-header': 'x' };
    expect(read({ headers }).ip).toBe('203.0.113.9');
    const extensions = { 'edgeplan-address-header': 'X-Envoy-External-Address' };
    expect(read({ headers, extensions }).ip).toBe('198.51.100.7');
    expect(read({ extensions }).ip).toBeNull();
    expect(read({ extensions, headers: { 'x-envoy-external-address': 'x' } }).ip).toBeNull();
    const forged = ['192.0.2.1', '198.51.100.7'];
    expect(read({ extensions, headers: { 'x-envoy-external-address': forged } }).ip).toBeNull();
    expect(read({ ip: '::ffff:192.0.2.1' }).ip).toBe('192.0.2.1');
    expect(read({ ip: '@/run/a' }).ip).toBeNull();
  });

  test('a JA4 is read from the header that the configuration names, and from no other', () => {
    expect(read({ headers: { 'edgeplan-ja4-header': 'x', 'x-ja4': 'forged' } }).ja4).toBeUndefined();
    const extensions = { 'edgeplan-ja4-header': 'x-ja4' };
    expect(read({ extensions, headers: { 'x-ja4': 't13d' } }).ja4).toBe('t13d');
    expect(read({ extensions }).ja4).toBeUndefined();
  });

  test('the server name is in lower case, and the port that of the listener', () => {
    expect(read({ sni: 'Shop.Test', port: 8443 })).toMatchObject({ serverName: 'shop.test', port: 8443 });
    expect(read({ port: 70_000 }).port).toBe(443);
  });

  const octets = (count: number): Uint8Array => new Uint8Array(count);
  test.each<[string, Visit, boolean | null]>([
    ['a whole one', { body: octets(3), partial: 'false', headers: { 'content-length': '3' } }, true],
    ['a whole one without a length', { body: octets(3), partial: 'false' }, true],
    ['a part', { body: octets(3), partial: 'true' }, false],
    [
      'a part that a visitor calls whole',
      { body: octets(3), partial: 'true', headers: { 'x-envoy-auth-partial-body': 'false' } },
      false,
    ],
    [
      'one that Envoy calls whole and that is shorter than its length',
      { body: octets(3), partial: 'false', headers: { 'content-length': '9' } },
      false,
    ],
    ['one that fills the buffer and has no length', { body: octets(BODY_LIMIT), partial: 'false' }, false],
    [
      'one that fills the buffer of the configuration',
      { body: octets(8), partial: 'false', extensions: { 'edgeplan-body-limit': '8' } },
      false,
    ],
    [
      'one that fills the buffer and has its length',
      {
        body: octets(8),
        partial: 'false',
        headers: { 'content-length': '8' },
        extensions: { 'edgeplan-body-limit': '8' },
      },
      true,
    ],
    ['one without the header', { body: octets(3) }, false],
    ['an empty one', { partial: 'false' }, true],
    ['none', {}, null],
    ['none with a length of 0', { method: 'POST', headers: { 'content-length': '0' } }, null],
    ['none over HTTP/2', { protocol: 'HTTP/2' }, null],
  ])('a body, %s', (_, visit, isWhole) => {
    const { body } = read(visit);
    expect(body?.isWhole ?? null).toBe(isWhole);
    if (body !== null) expect(Buffer.compare(body.octets!, visit.body ?? octets(0))).toBe(0);
  });

  test.each<[string, Visit]>([
    ['a length', { headers: { 'content-length': '3' } }],
    ['a transfer coding', { headers: { 'transfer-encoding': 'chunked' } }],
    ['its method over HTTP/2', { method: 'POST', protocol: 'HTTP/2' }],
  ])('a body that only %s announces was not passed on', (_, visit) => {
    expect(read(visit).body).toEqual({ octets: null, isWhole: false });
  });
});

const DECISION: Decision = {
  ...{ action: 'forward', status: null, rule: null, location: null, body: null, origin: null },
  ...{ path: '/', query: null, cache: null, tags: [], retryAfter: null, waf: null, matches: [] },
  ...{ shadow: null, revision: 1 },
};

/** The ok_response for a forwarded request, by the oracle; headers as `name: value`, `+` before those that are added. */
function forwarded(
  visit: Visit,
  {
    changes = {},
    tags = [],
  }: { readonly changes?: Partial<ForwardChanges>; readonly tags?: readonly string[] } = {},
) {
  const request = read(visit);
  const verdict: EdgeVerdict = {
    ...{ id: 'id-1', domain: 'shop.test', decision: { ...DECISION, tags }, request: {} as never },
    unenforced: ['cache', 'body'],
  };
  const all = {
    target: request.target,
    origin: null,
    cookies: null,
    responseHeaders: ['X-A', '1', 'X-A', '2'],
  };
  const answer = {
    kind: 'forward' as const,
    id: 'id-1',
    verdict,
    fault: null,
    changes: { ...all, ...changes },
  };
  const message = oracleDecode('CheckResponse', encodeCheckResponse(checkResponseOf(answer, request)));
  const ok = message['ok_response'] as Record<string, unknown>;
  const listed = (list: unknown): readonly string[] =>
    ((list ?? []) as { header: { key: string; value: string }; append_action?: number }[]).map(
      ({ header, append_action }) => `${append_action === 2 ? '' : '+'}${header.key}: ${header.value}`,
    );
  return {
    headers: listed(ok['headers']),
    remove: ok['headers_to_remove'] ?? [],
    responseHeaders: listed(ok['response_headers_to_add']),
    metadata: message['dynamic_metadata'],
  };
}

describe('a forwarded request', () => {
  test('has the decision id, and its response what settings add', () => {
    expect(forwarded({})).toEqual({
      headers: ['x-edgeplan-id: id-1'],
      remove: [],
      responseHeaders: ['x-a: 1', '+x-a: 2'],
      metadata: {
        fields: {
          ...{ id: { string_value: 'id-1' }, domain: { string_value: 'shop.test' } },
          action: { string_value: 'forward' },
          unenforced: { list_value: { values: [{ string_value: 'cache' }, { string_value: 'body' }] } },
        },
      },
    });
  });

  test('has the changes of headers rules, each name as the last of them leaves it', () => {
    const request = { 'x-country': 'spoofed', x_country: 'spoofed', 'x.country': 'spoofed', 'x-old': '1' };
    const made = forwarded(
      { headers: { ...request, cookie: 'a=1' } },
      {
        changes: {
          cookies: 'own=1',
          requestChanges: [
            { op: 'remove', name: 'X-Late', value: null },
            { op: 'set', name: 'X-Late', value: '1' },
            { op: 'set', name: 'X-Country', value: 'DE' },
            { op: 'add', name: 'X-More', value: 'm' },
            { op: 'set', name: 'X-Old', value: '2' },
            { op: 'remove', name: 'X-Old', value: null },
            { op: 'remove', name: 'Cookie', value: null },
          ],
          responseChanges: [
            { op: 'set', name: 'X-A', value: '3' },
            { op: 'add', name: 'X-A', value: '4' },
            { op: 'add', name: 'Set-Cookie', value: 'a=b' },
            { op: 'remove', name: 'Server', value: null },
          ],
        },
      },
    );
    expect(made.headers).toEqual(['x-edgeplan-id: id-1', 'x-late: 1', 'x-country: DE', '+x-more: m']);
    expect(made.remove).toEqual(['x-old', 'cookie', 'x_country', 'x.country']);
    expect(made.responseHeaders).toEqual(['x-a: 3', '+x-a: 4', '+set-cookie: a=b']);
  });

  test('has what a visitor sent by a name of ours removed, however it is spelled', () => {
    const headers = {
      ...{
        'x-edgeplan-origin': 'evil:1',
        x_edgeplan_host: 'evil',
        'x-edgeplan.tags': 'a',
        'x.edgeplan_id': 'b',
      },
      ...{ 'x-edgeplan-anything': ['1', '2'], 'x-edgeplan': 'stays', 'y-edgeplan-origin': 'stays' },
    };
    expect(forwarded({ headers }).remove).toEqual([
      ...['x-edgeplan-origin', 'x_edgeplan_host', 'x-edgeplan.tags', 'x.edgeplan_id', 'x-edgeplan-anything'],
    ]);
    const origin: Origin = {
      address: '2001:db8::1',
      port: 8443,
      scheme: 'https',
      hostHeader: 'origin.test',
      source: 'alt_origin',
      timeoutSec: null,
    };
    const chosen = forwarded({ headers }, { changes: { origin } });
    // Envoy removes after it has set.
    expect(chosen.remove).not.toContain('x-edgeplan-origin');
    expect(chosen.headers).toEqual([
      'x-edgeplan-id: id-1',
      'x-edgeplan-origin: [2001:db8::1]:8443',
      'x-edgeplan-origin-source: alt_origin',
      'x-edgeplan-host: origin.test',
    ]);
  });

  test('goes to the usual port of its scheme where the probe of a node would decide', () => {
    const auto = {
      address: 'o.test',
      port: null,
      scheme: 'auto',
      hostHeader: '',
      source: 'record',
      timeoutSec: null,
    } as const;
    expect(forwarded({}, { changes: { origin: auto } }).headers).toContain('x-edgeplan-origin: o.test:443');
  });

  test('gets `:path` where a rule rewrites it, and only there', () => {
    expect(forwarded({ target: '/a\xff' }).headers).toEqual(['x-edgeplan-id: id-1']);
    expect(forwarded({ target: '/a' }, { changes: { target: '/b?c' } }).headers).toContain(':path: /b?c');
  });

  test('has no cookies of the edge', () => {
    expect(forwarded({}, { changes: { cookies: 'a=1' } }).headers).toContain('cookie: a=1');
    expect(forwarded({}, { changes: { cookies: '' } }).remove).toEqual(['cookie']);
    expect(forwarded({}, { changes: { cookies: 'a=\xc3\xa9' } }).headers).toContain('cookie: a=é');
    // No CheckResponse has such octets: the header stays as it was sent.
    const unsendable = forwarded({}, { changes: { cookies: 'a=\xff' } });
    expect(unsendable).toMatchObject({ headers: ['x-edgeplan-id: id-1'], remove: [] });
  });

  test('has as many tags as fit', () => {
    expect(forwarded({}, { tags: ['waf/1', 'rate_limit/login'] }).headers).toContain(
      'x-edgeplan-tags: waf/1,rate_limit/login',
    );
    const many = Array.from({ length: 1_000 }, (_, index) => `header_transform/${index}`);
    const tags = forwarded({}, { tags: many }).headers.find((one) => one.startsWith('x-edgeplan-tags'))!;
    expect(tags.length).toBeLessThan(2_100);
    expect(tags.length).toBeGreaterThan(2_000);
  });
});
