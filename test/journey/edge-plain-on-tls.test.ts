/** HTTP without TLS on the port for TLS is answered; other octets that are no TLS end without a response. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { say, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

describe('on the port for TLS', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeAll(async () => {
    edge = await startTlsNode({ names: ['shop.test'] });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
  });

  /** What came back, and the refusals that were counted meanwhile. */
  async function answered(octets: string | Buffer): Promise<{ text: string; counted: readonly string[] }> {
    const before = edge.handshakes.length;
    const text = await say(edge.port, octets);
    return { text, counted: edge.handshakes.slice(before) };
  }

  test.each([
    ['GET', 'GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n'],
    ['a head that has not ended', 'GET /a HTTP/1.1\r\nHost: '],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['the absolute form', 'GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\n\r\n'],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: shop.test\r\n\r\n'],
    ['CONNECT', 'CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test\r\n\r\n'],
    ['a method with a hyphen', 'M-SEARCH * HTTP/1.1\r\nHost: shop.test\r\n\r\n'],
    ['a body', `POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`],
  ])('%s without TLS gets a 400 that names the remedy', async (_what, octets) => {
    const { text, counted } = await answered(octets);
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(text).toMatch(/\r\nConnection: close\r\n/);
    expect(text).toContain('<h1>This port expects HTTPS</h1>');
    expect(counted).toEqual(['plain_http']);
  });

  test('the response to HEAD has no body', async () => {
    const { text, counted } = await answered('HEAD / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(?:[^\r]+\r\n)+\r\n$/);
    expect(counted).toEqual(['plain_http']);
  });

  test('a request that arrives octet by octet is answered alike', async () => {
    const before = edge.handshakes.length;
    const socket = connect(edge.port, '127.0.0.1').setNoDelay();
    const text = textOf(socket);
    for (const octet of 'DELETE /a H') {
      await new Promise((resolve) => socket.write(octet, resolve));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await text).toMatch(/^HTTP\/1\.1 400 /);
    expect(edge.handshakes.slice(before)).toEqual(['plain_http']);
  });

  test.each([
    ['an unknown method', 'GETS / HTTP/1.1\r\n\r\n'],
    ['a method in lower case', 'get / HTTP/1.1\r\n\r\n'],
    ['a method without a target', 'GET \r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an empty line first', '\r\nGET / HTTP/1.1\r\n\r\n'],
    ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['octets', Buffer.from([0x80, 0x2e, 1, 0, 2, 0, 0x15])],
    ['a record of no handshake', Buffer.from([21, 3, 1, 0, 2, 1, 0])],
    ['a record whose message is no ClientHello', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
  ])('%s ends without a response', async (_what, octets) => {
    expect(await answered(octets)).toEqual({ text: '', counted: [] });
  });
});
