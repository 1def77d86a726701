/** The content of a zone is that of the naive reading, and real name servers' code reads it as the zone file. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ZoneRecord } from '../../src/control/dns/zone-file/parse.ts';
import { printZone } from '../../src/control/dns/zone-file/print.ts';
import { zoneContent } from '../../src/control/zones/make-zone.ts';
import type { ResourceRecord } from '../../src/control/zones/wire/records.ts';
import { naiveZone } from '../oracle/zone-content.ts';
import { serviceData, textData, ZONE_DOMAIN, zoneRows } from '../support/generate-zone.ts';
import { missingFile, requires } from '../support/requires.ts';
import { sizeOf } from '../support/size.ts';
import { zoneLines } from '../support/zone-text.ts';

/** Domains that are generated. */
const RUNS = sizeOf('EDGEPLAN_ZONES', { usual: 2_000, full: 50_000 });
const SEED = sizeOf('EDGEPLAN_SEED', { usual: 1, full: 1 });

const NAMESERVERS = ['ns1.edge.test', 'ns2.edge.test'];
const EDGE = ['198.51.100.1', '198.51.100.2', '2001:db8:e::1'];
const ISSUERS = ['ca.test', 'second.test'];
const MANY = Array.from({ length: 60 }, (_, at) =>
  at % 2 === 0 ? `192.0.2.${(at * 71) % 256}` : `2001:db8::${at + 10}`,
);

function addressesOf(target: string): readonly string[] | null {
  if (target === 'pending.test') return null;
  if (target === 'empty.test') return [];
  if (target === 'many.test') return MANY;
  return [`192.0.2.${100 + (target.length % 50)}`, '2001:db8::77'];
}

describe('the content of a zone', () => {
  it('is that of the naive reading', () => {
    const seen = { flattened: 0, proxied: 0, limited: 0, problems: 0 };
    fc.assert(
      fc.property(zoneRows, (rows) => {
        const domain = ZONE_DOMAIN;
        const content = zoneContent({
          domain,
          records: rows.map(({ stored }) => stored),
          nameservers: NAMESERVERS,
          edgeAddresses: EDGE,
          caaIssuers: ISSUERS,
          addressesOf,
        });
        const naive = naiveZone({
          domain,
          rows: rows.map(({ meaning }) => meaning),
          nameservers: NAMESERVERS,
          edge: EDGE,
          issuers: ISSUERS,
          addressesOf,
        });
        const invalid = new Set(
          rows.filter(({ meaning }) => meaning.owner === null).map(({ stored }) => stored.name),
        );
        expect(zoneLines(content.records)).toEqual(naive.lines);
        expect(content.targets).toEqual(naive.targets);
        expect(
          content.problems
            .map(({ name, type }) => `${invalid.has(name) ? '?' : name} ${TYPE_TEXT[type] ?? type}`)
            .sort(),
        ).toEqual(naive.problems);
        seen.flattened += naive.lines.filter((line) => line.includes(' 60 ')).length;
        seen.proxied += naive.lines.filter((line) => line.endsWith(EDGE[0]!)).length;
        seen.limited += naive.targets.length === 50 ? 1 : 0;
        seen.problems += naive.problems.length;
      }),
      { numRuns: RUNS, seed: SEED },
    );
    // The cases reach each rule often.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 200);
  });
});

const TYPE_TEXT: Readonly<Record<string, string>> = { SVCB: 'UNKNOWN_64', HTTPS: 'UNKNOWN_65' };

const COMPILE_ZONE = '/usr/bin/named-compilezone';

describe('BIND', requires(missingFile(COMPILE_ZONE, 'bind9-utils')), () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'edgeplan-zone-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** The records of a zone file as BIND writes them. */
  async function compiled(text: string): Promise<readonly string[]> {
    const file = join(folder, 'zone');
    await writeFile(file, text);
    const args = ['-q', '-i', 'none', '-k', 'ignore', '-s', 'full', '-o', '-', ZONE_DOMAIN, file];
    const { stdout } = await promisify(execFile)(COMPILE_ZONE, args, { maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim().split('\n').sort();
  }

  it('reads the records in wire form as it reads the zone file', async () => {
    const data = fc.array(fc.oneof(textData, serviceData), { minLength: 200, maxLength: 200 });
    const batches = fc.sample(data, { numRuns: Math.ceil(RUNS / 400), seed: SEED });
    for (const batch of batches) {
      const records = batch.map((one, at): ZoneRecord => ({ ...one, name: `n${at}`, proxied: false }));
      const content = zoneContent({
        domain: ZONE_DOMAIN,
        records,
        nameservers: NAMESERVERS,
        edgeAddresses: [],
        caaIssuers: [],
        addressesOf: () => null,
      });
      const refused = new Set(content.problems.map(({ name }) => name));
      expect(refused.size).toBeLessThan(batch.length / 2);
      const served = records.filter(({ name }) => !refused.has(`${name}.${ZONE_DOMAIN}`));
      const printed = printZone(ZONE_DOMAIN, served, { nameservers: NAMESERVERS });
      const [soa] = printed.split('\n').filter((line) => line.includes(' SOA '));
      const wire = [`$ORIGIN ${ZONE_DOMAIN}.`, '$TTL 300', soa, ...content.records.map(unknownForm)];
      expect(await compiled(`${wire.join('\n')}\n`)).toEqual(await compiled(printed));
    }
  });
});

/** A record in the form for unknown types (RFC 3597 §5): the octets of its data. */
function unknownForm({ name, type, ttl, rdata }: ResourceRecord): string {
  return `${name}. ${ttl} IN TYPE${type} \\# ${rdata.length} ${Buffer.from(rdata).toString('hex')}`;
}
