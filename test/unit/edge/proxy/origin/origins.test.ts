/** What an Auto record's origin speaks, where its name leads nowhere that may be asked. */
import type { LookupFunction } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createGuard } from '../../../../../src/edge/proxy/origin/guard.ts';
import { createSchemeProbe } from '../../../../../src/edge/proxy/origin/origins.ts';
import { OPENSSL_MISSING } from '../../../../support/make-certificate.ts';
import { requires } from '../../../../support/requires.ts';
import { startTlsOrigin } from '../../../../support/tls-origin.ts';

describe('the scheme of an origin', requires(OPENSSL_MISSING), () => {
  test('a refused address leaves the scheme unknown, and the next request probes again', async () => {
    const { port, close } = await startTlsOrigin('www.origin.test');
    try {
      const addresses = ['10.0.0.1', '127.0.0.1'];
      const lookup: LookupFunction = (_name, _options, callback) =>
        callback(null, [{ address: addresses.shift()!, family: 4 }]);
      const allowed = { prefixes: ['127.0.0.0/8'], local: false };
      const guard = createGuard({ allowed, ownPorts: new Set(), onRefused: () => undefined }, lookup);
      const schemes = createSchemeProbe({ clock: () => performance.now(), guard });
      const ask = (): Promise<string> => schemes.schemeOf('www.origin.test', port, 'www.origin.test');
      await expect(ask()).rejects.toThrow(/10\.0\.0\.1 is a private address/);
      await expect(ask()).resolves.toBe('https');
      await expect(ask()).resolves.toBe('https');
      expect(addresses).toEqual([]);
    } finally {
      close();
    }
  });
});
