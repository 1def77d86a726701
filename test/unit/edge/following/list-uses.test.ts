/** Which lists the plans of a node name. */
import { expect, test } from 'vitest';
import { createListUses } from '../../../../src/edge/following/list-uses.ts';

test('a list is free with the last plan that names it', () => {
  const uses = createListUses();
  uses.add('p1', ['a', 'b']);
  uses.add('p2', ['b']);
  expect(uses.remove('p1')).toEqual(['a']);
  expect([uses.has('a'), uses.has('b')]).toEqual([false, true]);
  expect(uses.remove('p2')).toEqual(['b']);
  expect(uses.has('b')).toBe(false);
});

test('a plan that is added twice has its lists once, and one without lists is not stored', () => {
  const uses = createListUses();
  uses.add('p1', ['a']);
  uses.add('p1', ['a']);
  uses.add('p2', []);
  expect([uses.of('p1'), uses.of('p2')]).toEqual([['a'], []]);
  expect(uses.remove('p2')).toEqual([]);
  expect(uses.remove('p1')).toEqual(['a']);
  expect(uses.remove('p1')).toEqual([]);
});
