import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Classifier } from '../../../../src/edge/decide/request-context.ts';
import {
  createBotResolver,
  createClassifier,
  openClassificationFiles,
} from '../../../../src/edge/proxy/classifier.ts';
import {
  CONFIRMED_MS,
  createRanges,
  MAX_BOT_LOOKUPS,
  REFUTED_MS,
  readRanges,
  UNANSWERED_MS,
} from '../../../../src/engine/classification/bots.ts';
import { NXDOMAIN, type ScriptedServer, SERVFAIL, startDnsServer } from '../../../support/dns-server.ts';
import { writeMmdb } from '../../../support/mmdb.ts';

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (compatible; GPTBot/1.2; +https://openai.com/gptbot)';
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

/** What the DNS says: names of addresses and addresses of names. */
const ZONES: Readonly<Record<string, string | readonly string[]>> = {
  '1.64.249.66.in-addr.arpa': 'crawl-66-249-64-1.googlebot.com',
  'crawl-66-249-64-1.googlebot.com': '66.249.64.1',
  // Somebody who lets his own address have Google's name.
  '9.2.0.192.in-addr.arpa': 'crawl-66-249-64-1.googlebot.com',
  // A name that only ends alike.
  '8.2.0.192.in-addr.arpa': 'crawl.notgooglebot.com',
  'crawl.notgooglebot.com': '192.0.2.8',
  '7.2.0.192.in-addr.arpa': ['first.example', 'Crawl-2.GoogleBot.COM'],
  'crawl-2.googlebot.com': ['192.0.2.6', '192.0.2.7'],
  [`7.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`]: 'six.googlebot.com',
  'six.googlebot.com': '2001:db8::7',
};

describe('the classifier', () => {
  let dns: ScriptedServer;
  let now: number;
  let classifier: Classifier;
  let failing: boolean;
  beforeEach(async () => {
    failing = false;
    now = 1_000_000;
    dns = await startDnsServer('127.0.0.1', 0, ({ name, type }) => {
      if (failing) return { rcode: SERVFAIL };
      const found = ZONES[name];
      if (found === undefined) return { rcode: NXDOMAIN };
      const values = typeof found === 'string' ? [found] : found;
      const fits = values.filter((value) => (type === 'AAAA') === value.includes(':'));
      return { answers: fits.map((data) => ({ name, type: type as 'A', ttl: 60, data })), delayMs: 5 };
    });
    classifier = createClassifier({
      countries: () => null,
      asns: () => null,
      ranges: (kind) =>
        kind === 'gptbot'
          ? createRanges(readRanges('{"prefixes":[{"ipv4Prefix":"192.0.2.128/25"}]}'))
          : undefined,
      resolver: createBotResolver([`127.0.0.1:${dns.port}`]),
      clock: () => now,
    });
  });
  afterEach(() => dns.stop());

  async function settled(ip: string, agent = GOOGLEBOT): Promise<boolean | undefined> {
    classifier.bot(ip, agent);
    const { length } = dns.queries;
    let before = -1;
    // Nothing is asked any more: what was to be learnt is known.
    while (before !== dns.queries.length || length === 0) {
      before = dns.queries.length;
      await new Promise((resolve) => setTimeout(resolve, 200));
      if (before === 0) break;
    }
    return classifier.bot(ip, agent)?.verified;
  }

  test.each([
    ['66.249.64.1', true, 'the operator names the address, and the name has it'],
    ['192.0.2.9', false, 'the name does not have the address'],
    ['192.0.2.8', false, 'the name only ends alike'],
    ['192.0.2.7', true, 'one of several names, in capitals, with several addresses'],
    ['192.0.2.1', false, 'the address has no name'],
    ['2001:db8::7', true, 'the same for IPv6'],
  ])('%s verified: %s (%s)', async (ip, verified) => {
    expect(classifier.bot(ip, GOOGLEBOT)).toEqual({ kind: 'googlebot', verified: false });
    expect(await settled(ip)).toBe(verified);
  });

  test('a visitor that declares no verifiable bot causes no DNS query', async () => {
    expect(classifier.bot('66.249.64.1', BROWSER)).toBeNull();
    expect(classifier.bot('66.249.64.1', '')).toBeNull();
    expect(classifier.bot('66.249.64.1', 'curl/8.5.0')).toEqual({ kind: 'generic-bot', verified: false });
    expect(classifier.bot('66.249.64.1', GPTBOT)).toEqual({ kind: 'gptbot', verified: false });
    expect(classifier.bot('192.0.2.200', GPTBOT)).toEqual({ kind: 'gptbot', verified: true });
    expect(classifier.bot(null, GOOGLEBOT)).toEqual({ kind: 'googlebot', verified: false });
    expect(classifier.country('66.249.64.1')).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(dns.queries).toHaveLength(0);
  });

  test('an expired result is queried again, and stays in use meanwhile', async () => {
    expect(await settled('66.249.64.1')).toBe(true);
    const asked = dns.queries.length;
    now += CONFIRMED_MS - 1;
    classifier.bot('66.249.64.1', GOOGLEBOT);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(dns.queries.length).toBe(asked);
    now += 1;
    failing = true;
    expect(classifier.bot('66.249.64.1', GOOGLEBOT)?.verified).toBe(true);
    expect(await settled('66.249.64.1')).toBe(true);
    expect(dns.queries.length).toBeGreaterThan(asked);
  });

  test('a refuted address is queried again after an hour, one without an answer after a minute', async () => {
    expect(await settled('192.0.2.9')).toBe(false);
    let asked = dns.queries.length;
    now += REFUTED_MS - 1;
    expect(await settled('192.0.2.9')).toBe(false);
    expect(dns.queries.length).toBe(asked);
    failing = true;
    expect(await settled('66.249.64.1')).toBe(false);
    failing = false;
    asked = dns.queries.length;
    now += UNANSWERED_MS - 1;
    expect(await settled('66.249.64.1')).toBe(false);
    expect(dns.queries.length).toBe(asked);
    now += 1;
    expect(await settled('66.249.64.1')).toBe(true);
  });

  test('many addresses are queried a few at a time, and each one once', async () => {
    for (let i = 0; i < 200; i++) classifier.bot(`198.51.100.${i}`, GOOGLEBOT);
    for (let i = 0; i < 200; i++) classifier.bot('198.51.100.0', GOOGLEBOT);
    const lookups = (): number => dns.queries.filter(({ type }) => type === 'PTR').length;
    await expect.poll(lookups).toBe(MAX_BOT_LOOKUPS);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(lookups()).toBe(MAX_BOT_LOOKUPS);
  });
});

describe('the files of the classifier', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-classify-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('changed files are read again; a broken one is reported once, and its previous content stays in use', async () => {
    const problems: string[] = [];
    const countries = join(folder, 'country.mmdb');
    const asns = join(folder, 'asn.mmdb');
    const ranges = join(folder, 'ranges');
    mkdirSync(ranges);
    writeFileSync(countries, writeMmdb({ '203.0.113.0/24': { country: { iso_code: 'DE' } } }));
    writeFileSync(asns, writeMmdb({ '203.0.113.0/24': { autonomous_system_number: 64_496 } }));
    writeFileSync(join(ranges, 'googlebot.json'), '{"prefixes":[{"ipv4Prefix":"66.249.64.0/27"}]}');
    writeFileSync(join(ranges, 'googlebot.special.json'), '{"prefixes":[{"ipv4Prefix":"66.249.90.0/27"}]}');
    writeFileSync(join(ranges, 'README.md'), 'left alone');
    const onProblem = ({ file, reason }: { file: string; reason: string }): number =>
      problems.push(`${file.slice(folder.length + 1)}: ${reason}`);
    const files = await openClassificationFiles({ countries, asns, ranges, pollMs: 30, onProblem });
    expect(files.countries()?.country('203.0.113.7')).toBe('DE');
    expect(files.asns()?.asn('203.0.113.7')).toBe(64_496);
    expect(files.ranges('googlebot')?.has('66.249.64.1')).toBe(true);
    expect(files.ranges('googlebot')?.has('66.249.90.1')).toBe(true);
    expect(files.ranges('bingbot')).toBeUndefined();
    expect(problems).toEqual([]);

    // By renaming: a file that is truncated first is a version of its own to a reader in between.
    const replace = (file: string, content: string | Uint8Array): void => {
      writeFileSync(join(folder, 'new'), content);
      renameSync(join(folder, 'new'), file);
    };
    replace(countries, writeMmdb({ '203.0.113.0/24': { country: { iso_code: 'FR' } } }));
    await expect.poll(() => files.countries()?.country('203.0.113.7')).toBe('FR');
    replace(asns, writeMmdb({ '203.0.113.0/24': { autonomous_system_number: 64_497 } }));
    await expect.poll(() => files.asns()?.asn('203.0.113.7')).toBe(64_497);
    replace(join(ranges, 'bingbot.json'), '{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}');
    await expect.poll(() => files.ranges('bingbot')?.has('192.0.2.1')).toBe(true);

    replace(countries, 'damaged');
    replace(asns, 'damaged');
    replace(join(ranges, 'googlebot.json'), '{');
    replace(join(ranges, 'nobody.json'), '{"prefixes":[]}');
    // Readings that are requested at the same time report a version of a file once.
    await Promise.all([files.reload(), files.reload(), files.reload()]);
    await expect.poll(() => problems.length).toBe(4);
    await files.reload();
    expect([...problems].sort().map((problem) => problem.split(':')[0])).toEqual([
      'asn.mmdb',
      'country.mmdb',
      'ranges/googlebot.json',
      'ranges/nobody.json',
    ]);
    expect(files.countries()?.country('203.0.113.7')).toBe('FR');
    expect(files.asns()?.asn('203.0.113.7')).toBe(64_497);
    expect(files.ranges('googlebot')?.has('66.249.64.1')).toBe(true);
    rmSync(join(ranges, 'bingbot.json'));
    await expect.poll(() => files.ranges('bingbot')).toBeUndefined();
    files.close();
  });

  test('missing files are reported as problems, and the classifier still opens', async () => {
    const problems: string[] = [];
    const files = await openClassificationFiles({
      countries: join(folder, 'none.mmdb'),
      asns: join(folder, 'no-asn.mmdb'),
      ranges: join(folder, 'none'),
      pollMs: 60_000,
      onProblem: ({ reason }) => problems.push(reason),
    });
    await files.reload();
    expect(problems).toHaveLength(3);
    expect(files.countries()).toBeNull();
    expect(files.asns()).toBeNull();
    files.close();
  });

  test('a database that has both facts answers for both, under one option or under both', async () => {
    const both = { country: { iso_code: 'DE' }, autonomous_system_number: 64_496 };
    const combined = join(folder, 'both.mmdb');
    writeFileSync(combined, writeMmdb({ '203.0.113.0/24': both }));
    const other = join(folder, 'asn.mmdb');
    writeFileSync(other, writeMmdb({ '203.0.113.0/24': { autonomous_system_number: 64_511 } }));
    const problems: string[] = [];
    for (const [asns, expected] of [
      [null, 64_496],
      [combined, 64_496],
      [other, 64_511],
    ] as const) {
      const onProblem = ({ reason }: { reason: string }): number => problems.push(reason);
      const files = await openClassificationFiles({
        countries: combined,
        asns,
        ranges: null,
        pollMs: 60_000,
        onProblem,
      });
      const classifier = createClassifier({
        countries: files.countries,
        asns: files.asns,
        ranges: files.ranges,
        resolver: null,
        clock: () => 0,
      });
      expect([classifier.country('203.0.113.7'), classifier.asn('203.0.113.7')]).toEqual(['DE', expected]);
      expect([classifier.country('192.0.2.7'), classifier.asn('192.0.2.7')]).toEqual([null, null]);
      files.close();
    }
    expect(problems).toEqual([]);
  });
});
