/** Octets that many nodes fetch at once: read once, again after a fault, and bounded. */
import { expect, test } from 'vitest';
import { createRecentOctets } from '../../../../src/control/publishing/recent-octets.ts';

/** Counts the reads of each digest; a digest is of so many octets as it says. */
function counting() {
  const reads: string[] = [];
  const read = (digest: string) => async () => {
    reads.push(digest);
    await new Promise(setImmediate);
    if (digest === 'absent') return null;
    return new Uint8Array(Number(digest));
  };
  return { reads, read };
}

test('fifty requests for one digest read it once, and later ones not at all', async () => {
  const recent = createRecentOctets();
  const { reads, read } = counting();
  const all = await Promise.all(Array.from({ length: 50 }, () => recent.find('7', read('7'))));
  expect(new Set(all).size).toBe(1);
  expect(await recent.find('7', read('7'))).toBe(all[0]);
  expect(reads).toEqual(['7']);
});

test('a read that fails or finds nothing is made again', async () => {
  const recent = createRecentOctets();
  const { reads, read } = counting();
  const failing = () => Promise.reject(new Error('the disk failed'));
  const both = await Promise.allSettled([recent.find('7', failing), recent.find('7', read('7'))]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await recent.find('7', read('7'))).toHaveLength(7);
  expect(await recent.find('absent', read('absent'))).toBeNull();
  expect(await recent.find('absent', read('absent'))).toBeNull();
  expect(reads).toEqual(['7', 'absent', 'absent']);
});

test('the octets of all digests are bounded: the one that was fetched longest ago is read again', async () => {
  const recent = createRecentOctets(10);
  const { reads, read } = counting();
  for (const digest of ['4', '5', '4', '6', '4', '5', '11', '11']) await recent.find(digest, read(digest));
  expect(reads).toEqual(['4', '5', '6', '5', '11', '11']);
});
