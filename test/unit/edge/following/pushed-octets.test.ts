/** What the feed sends ahead waits for the entry that names it, within a bound. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { MAX_PUSHED_OCTETS } from '../../../../src/edge/following/limits.ts';
import { createPushedOctets } from '../../../../src/edge/following/pushed-octets.ts';

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The data of an event. */
const dataOf = (bytes: Uint8Array): string => `${digestOf(bytes)} ${Buffer.from(bytes).toString('base64')}`;

test('octets are taken once, by their digest', () => {
  const pushed = createPushedOctets();
  const [one, other] = [Buffer.from('one'), Buffer.from('other')];
  for (const bytes of [one, other, one]) pushed.add(dataOf(bytes));
  expect(pushed.take(digestOf(one))).toEqual(one);
  expect(pushed.take(digestOf(one))).toBeNull();
  expect(pushed.take(digestOf(other))).toEqual(other);
  expect(pushed.take(digestOf(Buffer.from('none')))).toBeNull();
});

test('the oldest are dropped beyond the bound, also by one that is above it alone', () => {
  const pushed = createPushedOctets();
  const all = Array.from({ length: 5 }, (_, at) => Buffer.alloc(MAX_PUSHED_OCTETS / 4, at));
  for (const bytes of all) pushed.add(dataOf(bytes));
  const taken = () => all.map((bytes) => pushed.take(digestOf(bytes)) !== null);
  expect(taken()).toEqual([false, true, true, true, true]);
  // What was taken makes room.
  for (const bytes of all.slice(0, 4)) pushed.add(dataOf(bytes));
  expect(taken()).toEqual([true, true, true, true, false]);
  const giant = Buffer.alloc(MAX_PUSHED_OCTETS + 1);
  for (const bytes of [all[0]!, giant]) pushed.add(dataOf(bytes));
  expect(taken()).toEqual(all.map(() => false));
  expect(pushed.take(digestOf(giant))).toBeNull();
});

test('data of another form is dropped', () => {
  const pushed = createPushedOctets();
  const digest = digestOf(Buffer.from('one'));
  for (const data of ['', ' ', digest, `${digest}-b25l`, `${digest.slice(1)} b25l`, '{"digest":1}'])
    pushed.add(data);
  expect([digest, '', digest.slice(1)].map((one) => pushed.take(one))).toEqual([null, null, null]);
});
