/** A CA that lies, stalls or sends without end: the issuer reads a bounded part, issues nothing, and stops at once. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_CA_OCTETS } from '../../src/control/certificates/limits.ts';
import { testDatabases } from '../support/databases.ts';
import { type IssuanceRig, openIssuance } from '../support/issuance-rig.ts';
import { until } from '../support/until.ts';

const [database] = testDatabases();

describe('a hostile CA', () => {
  let rig: IssuanceRig;
  let server: Server | null = null;
  beforeAll(async () => {
    rig = await openIssuance(database!);
    await rig.addDomain('shop.example');
  });
  let asked = 0;
  beforeEach(() => {
    asked = 0;
    // The attempt after the one that another test has made to fail.
    rig.now += 86_400_000;
  });
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });
  afterAll(() => rig.close());

  /** The address of a directory that is answered by `answer`. */
  async function start(answer: (response: ServerResponse) => void): Promise<string> {
    const made = createServer((_, response) => {
      asked++;
      answer(response);
    });
    server = made;
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(made.address() as AddressInfo).port}/directory`;
  }

  test('that sends a body without end is left after the bound, by whatever it announces', async () => {
    let sent = 0;
    const directory = await start((response) => {
      response.on('error', () => undefined);
      const chunk = Buffer.alloc(65_536, 32);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    const issuer = rig.issuer({ directory });
    await issuer.pass();
    await issuer.stop();
    expect(sent).toBeGreaterThan(MAX_CA_OCTETS);
    // What sockets of this machine buffer, and not what half a minute of loopback has.
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  test.each([
    ['null', 'null'],
    ['a list', '[]'],
    ['text', 'hello'],
    ['numbers instead of addresses', '{"newNonce":1,"newAccount":2,"newOrder":3}'],
    ['addresses of other schemes', '{"newNonce":"file:///etc/passwd","newAccount":"data:,x","newOrder":"x"}'],
    ['a deep structure', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ])('that answers with %s ends the pass without a certificate', async (_, body) => {
    const directory = await start((response) => response.end(body));
    const issuer = rig.issuer({ directory });
    await issuer.pass();
    await issuer.stop();
    expect(asked).toBeGreaterThan(0);
    expect(rig.outcomes).not.toContain('issued');
  });

  test('that stalls does not delay the stop of the issuer', async () => {
    const directory = await start(() => undefined);
    const issuer = rig.issuer({ directory });
    issuer.start();
    await until(() => asked > 0, 'the first request');
    await issuer.stop();
  });
});
