import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type CertificateProblem,
  type Certificates,
  openCertificates,
} from '../../../../../src/edge/listeners/tls/certificates.ts';
import { MAX_CERTIFICATE_OCTETS } from '../../../../../src/edge/proxy/limits.ts';
import {
  type CertificateRequest,
  makeCertificate,
  OPENSSL_MISSING,
} from '../../../../support/make-certificate.ts';
import { requires } from '../../../../support/requires.ts';
import { sizeOf } from '../../../../support/size.ts';

describe('a folder of certificates', requires(OPENSSL_MISSING), () => {
  let folder: string;
  let open: Certificates | null = null;
  let told: CertificateProblem[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-certs-'));
    told = [];
  });
  afterEach(() => {
    open?.close();
    open = null;
    rmSync(folder, { recursive: true });
  });

  async function start(fallback: string | null = null, pollMs = 60_000): Promise<Certificates> {
    open = await openCertificates({ folder, fallback, pollMs, onProblem: (problem) => told.push(problem) });
    return open;
  }

  function make(
    names: readonly string[],
    cert: string,
    key: string,
    more: Partial<CertificateRequest> = {},
  ): Promise<void> {
    return makeCertificate({ names, cert: join(folder, cert), key: join(folder, key), ...more });
  }

  test('certificates are read in every supported layout', async () => {
    await make(['a.test'], 'a.crt', 'a.key');
    await make(['b.test'], 'b.pem', 'b-key.pem');
    await make(['c.test'], 'c.test/fullchain.pem', 'c.test/privkey.pem');
    await make(['d.test'], 'both.pem', 'd.tmp');
    appendFileSync(join(folder, 'both.pem'), readFileSync(join(folder, 'd.tmp')));
    await make(['e.test'], 'e.cer', 'e.key.pem', { kind: 'rsa' });
    await make(['hidden.test'], '.hidden.crt', '.hidden.key');
    writeFileSync(join(folder, 'README.txt'), 'no certificate');
    mkdirSync(join(folder, 'empty'));
    const certificates = await start();
    expect(
      certificates
        .pairs()
        .flatMap(({ names }) => names)
        .sort(),
    ).toEqual(['a.test', 'b.test', 'c.test', 'd.test', 'e.test']);
    expect(told).toEqual([]);
    for (const pair of certificates.pairs()) expect(pair.context()).toBe(pair.context());
  });

  test('a name gets its own certificate before a wildcard, which covers one label', async () => {
    await make(['shop.test', '*.shop.test'], 'shop.crt', 'shop.key');
    await make(['api.shop.test'], 'api.crt', 'api.key');
    const certificates = await start();
    const fileFor = (name: string | null): string | undefined =>
      certificates.find(name)?.files.cert.slice(folder.length + 1);
    expect(fileFor('shop.test')).toBe('shop.crt');
    expect(fileFor('www.shop.test')).toBe('shop.crt');
    expect(fileFor('api.shop.test')).toBe('api.crt');
    expect(fileFor('a.b.shop.test')).toBeUndefined();
    expect(fileFor('*.shop.test')).toBe('shop.crt');
    expect(fileFor('other.test')).toBeUndefined();
    expect(fileFor(null)).toBeUndefined();
    certificates.close();
    const withDefault = await start('www.shop.test');
    expect(withDefault.find(null)?.names).toContain('shop.test');
    expect(withDefault.find('other.test')?.names).toContain('shop.test');
  });

  test('of several certificates for a name the currently valid one wins, then the one valid longest', async () => {
    await make(['shop.test'], 'a.crt', 'a.key', { days: 10 });
    await make(['shop.test'], 'b.crt', 'b.key', { days: 90 });
    await make(['shop.test'], 'c.crt', 'c.key', { days: 30 });
    const certificates = await start();
    expect(certificates.find('shop.test')?.files.cert).toBe(join(folder, 'b.crt'));
    expect(certificates.find('shop.test')!.notAfter).toBeGreaterThan(Date.now() + 80 * 86_400_000);
  });

  const BROKEN: readonly (readonly [string, RegExp, (folder: string) => Promise<void> | void])[] = [
    [
      'a key of another certificate',
      /does not belong/,
      (at) => makeCertificate({ names: ['x.test'], cert: join(at, '.x'), key: join(at, 'a.key') }),
    ],
    ['a key that is gone', /there is no key/, (at) => rmSync(join(at, 'a.key'))],
    ['a key that is none', /holds no private key/, (at) => writeFileSync(join(at, 'a.key'), 'nothing')],
    [
      'a damaged key',
      /cannot be read/,
      (at) =>
        writeFileSync(join(at, 'a.key'), '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'),
    ],
    ['an empty certificate', /holds no certificate/, (at) => writeFileSync(join(at, 'a.crt'), '')],
    [
      'a damaged certificate',
      /cannot be read/,
      (at) =>
        writeFileSync(join(at, 'a.crt'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    ],
    [
      'a file that is too long',
      /at most/,
      (at) => writeFileSync(join(at, 'a.crt'), 'x'.repeat(MAX_CERTIFICATE_OCTETS + 1)),
    ],
    [
      'a certificate for no name',
      /no host name/,
      (at) => makeCertificate({ names: [], cert: join(at, 'a.crt'), key: join(at, 'a.key') }),
    ],
    [
      'a key too short for TLS',
      /TLS does not take/,
      (at) =>
        makeCertificate({
          names: ['a.test'],
          cert: join(at, 'a.crt'),
          key: join(at, 'a.key'),
          kind: 'rsa-512',
        }),
    ],
  ];

  test.each(BROKEN)(
    '%s is reported once, and the previous certificate stays in use',
    async (_what, reason, damage) => {
      await make(['a.test'], 'a.crt', 'a.key');
      const certificates = await start();
      const before = certificates.find('a.test')!;
      const good = [readFileSync(join(folder, 'a.crt')), readFileSync(join(folder, 'a.key'))] as const;
      await damage(folder);
      await certificates.reload();
      await certificates.reload();
      expect(certificates.find('a.test')).toBe(before);
      // A look of its own may have found the file half written.
      const { length } = told;
      const last = told.at(-1)!;
      expect(last).toMatchObject({ file: join(folder, 'a.crt'), previousServed: true });
      expect(last.reason).toMatch(reason);
      expect(certificates.problems()).toEqual([last]);
      await certificates.reload();
      expect(told).toHaveLength(length);
      writeFileSync(join(folder, 'a.crt'), good[0]);
      writeFileSync(join(folder, 'a.key'), good[1]);
      await certificates.reload();
      expect(certificates.problems()).toEqual([]);
      expect(certificates.find('a.test')).not.toBe(before);
    },
  );

  test('a pair that is broken at the start is reported, and the others are used', async () => {
    await make(['a.test'], 'a.crt', 'a.key');
    writeFileSync(join(folder, 'b.crt'), 'nothing');
    const certificates = await start();
    expect(certificates.find('a.test')).not.toBeNull();
    expect(told).toMatchObject([{ file: join(folder, 'b.crt'), previousServed: false }]);
  });

  test('a removed certificate is no longer used', async () => {
    await make(['a.test'], 'a.crt', 'a.key');
    const certificates = await start();
    rmSync(join(folder, 'a.crt'));
    await certificates.reload();
    expect(certificates.find('a.test')).toBeNull();
  });

  test.each([
    ['beside each other', 'a.crt', 'a.key'],
    ['in a folder', 'a.test/fullchain.pem', 'a.test/privkey.pem'],
  ])('replaced and added certificates are used without a reload (%s)', async (_where, cert, key) => {
    await make(['a.test'], cert, key);
    const certificates = await start();
    const before = certificates.find('a.test');
    await make(['a.test', 'more.test'], '.new.crt', '.new.key');
    renameSync(join(folder, '.new.key'), join(folder, key));
    renameSync(join(folder, '.new.crt'), join(folder, cert));
    await expect.poll(() => certificates.find('more.test')).not.toBeNull();
    expect(certificates.find('a.test')).not.toBe(before);
    await make(['late.test'], 'late.test/fullchain.pem', 'late.test/privkey.pem');
    await expect.poll(() => certificates.find('late.test')).not.toBeNull();
  });

  test('a missing folder is a fault', async () => {
    rmSync(folder, { recursive: true });
    await expect(start()).rejects.toMatchObject({ code: 'ENOENT' });
    mkdirSync(folder);
  });

  test('a folder that disappears is reported once, and its certificates stay in use', async () => {
    await make(['a.test'], 'a.crt', 'a.key');
    const certificates = await start(null, 100);
    renameSync(folder, `${folder}.away`);
    await expect.poll(() => certificates.problems().length).toBe(1);
    expect(certificates.find('a.test')).not.toBeNull();
    renameSync(`${folder}.away`, folder);
    await expect.poll(() => certificates.problems().length).toBe(0);
    expect(told).toHaveLength(1);
  });

  test('each of many certificates uses a few KiB of memory', { timeout: 120_000 }, async () => {
    const count = sizeOf('EDGEPLAN_CERTIFICATES', { usual: 100, full: 300 });
    await make(['a.test'], '.a.crt', '.a.key');
    for (let i = 0; i < count; i++) {
      copyFileSync(join(folder, '.a.crt'), join(folder, `${i}.crt`));
      copyFileSync(join(folder, '.a.key'), join(folder, `${i}.key`));
    }
    const before = process.memoryUsage();
    const began = performance.now();
    const certificates = await start();
    const took = performance.now() - began;
    expect(certificates.pairs()).toHaveLength(count);
    if (process.env.EDGEPLAN_CERTIFICATES) {
      globalThis.gc?.();
      const after = process.memoryUsage();
      console.info(
        count,
        'read in',
        took.toFixed(0),
        'ms, heap',
        after.heapUsed - before.heapUsed,
        'rss',
        after.rss - before.rss,
      );
      const again = performance.now();
      await certificates.reload();
      console.info('unchanged looked over in', (performance.now() - again).toFixed(0), 'ms');
    }
  });
});
