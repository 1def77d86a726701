/**
 * FoxIO's own captures and the fingerprints published for them (github.com/FoxIO-LLC/ja4). `EDGEPLAN_SUITES` has a checkout.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHelloReader } from '../../../../src/edge/listeners/tls/listen.ts';
import { ja4, readClientHello } from '../../../../src/engine/classification/ja4.ts';
import { readStreams } from '../../../support/captures.ts';
import { externalSuite } from '../../../support/external-suites.ts';
import { requires } from '../../../support/requires.ts';

const { folder: CHECKOUT, missing: ABSENT } = externalSuite('ja4');
const SNAPSHOTS = join(CHECKOUT, 'rust/ja4/src/snapshots');

/**
 * Its snapshot says `99` for an ALPN value of octets that are not ASCII, as the programs of 2024 did; the method's text
 * says since that such a value counts by its hex digits.
 */
const OLDER_THAN_THE_TEXT = ['tls-non-ascii-alpn.pcapng'];

interface Published {
  readonly ports: string;
  readonly ja4: string;
}

/** The TCP streams with a fingerprint, out of a snapshot's lines. */
function readSnapshot(text: string): readonly Published[] {
  return text
    .split('\n- stream:')
    .map((block) => new Map(block.split('\n').map((line) => splitOnce(line.trim(), ': '))))
    .filter((fields) => fields.get('transport') === 'tcp' && fields.has('ja4'))
    .map((fields) => ({
      ports: `${fields.get('src_port')} ${fields.get('dst_port')}`,
      ja4: fields.get('ja4')!,
    }));
}

function splitOnce(line: string, mark: string): [string, string] {
  const at = line.indexOf(mark);
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + mark.length)];
}

/** The first ClientHello anywhere in a stream: some follow the greeting of a proxy. */
function firstJa4(octets: Buffer): string | null {
  for (let at = octets.indexOf(22); at >= 0; at = octets.indexOf(22, at + 1)) {
    const step = createHelloReader()(octets.subarray(at));
    const hello = step !== 'more' && step.ok ? readClientHello(step.value) : null;
    if (hello !== null) return ja4(hello, (text) => createHash('sha256').update(text).digest('hex'));
  }
  return null;
}

const captures =
  ABSENT === null
    ? readdirSync(SNAPSHOTS).map((name) => name.slice('ja4__insta@'.length, -'.snap'.length))
    : [];

describe('published fingerprints', requires(ABSENT), () => {
  test('our fingerprints equal the published ones', () => {
    const compared: string[] = [];
    for (const capture of captures) {
      const file = join(CHECKOUT, 'pcap', capture);
      if (!existsSync(file) || OLDER_THAN_THE_TEXT.includes(capture)) continue;
      const published = readSnapshot(readFileSync(join(SNAPSHOTS, `ja4__insta@${capture}.snap`), 'utf8'));
      if (published.length === 0) continue;
      const ours = readStreams(readFileSync(file)).flatMap(({ sourcePort, destinationPort, octets }) => {
        const found = firstJa4(octets);
        return found === null ? [] : [`${sourcePort} ${destinationPort} ${found}`];
      });
      for (const one of published) {
        expect(ours, `${capture} ${one.ports}`).toContain(`${one.ports} ${one.ja4}`);
        compared.push(one.ja4);
      }
    }
    expect(compared.length).toBeGreaterThan(100);
    expect(new Set(compared).size).toBeGreaterThan(10);
  });
});
