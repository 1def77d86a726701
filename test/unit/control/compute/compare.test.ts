/** Pages of long answers: bounded by entries and octets, and followed to the end they have every entry once. */
import { describe, expect, test } from 'vitest';
import {
  fitEntry,
  MAX_RESULT_PAGE_OCTETS,
  type PageNote,
  type Shortened,
  takePage,
} from '../../../../src/control/compute/compare.ts';

interface Taken {
  readonly shown: readonly string[];
  readonly page: PageNote;
}

function pagesOf(
  entries: readonly string[],
  limit: number,
  around: unknown = {},
): readonly (readonly string[])[] {
  const pages: (readonly string[])[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const taken: Taken = takePage(entries, { limit, from, around }, (entry) => entry);
    const { shown, page } = taken;
    expect(page).toMatchObject({ limit, shown: shown.length, of: entries.length });
    pages.push(shown);
    from = page.next;
  }
  return pages;
}

describe('a page', () => {
  test.each([
    [0, 10, [0]],
    [1, 10, [1]],
    [10, 10, [10]],
    [11, 10, [10, 1]],
    [25, 10, [10, 10, 5]],
  ])('of %i entries at a limit of %i', (entries, limit, lengths) => {
    const all = Array.from({ length: entries }, (_, index) => String(index));
    const pages = pagesOf(all, limit);
    expect(pages.map((page) => page.length)).toEqual(lengths);
    expect(pages.flat()).toEqual(all);
  });

  test('ends before its octets are used up, counting what is around it', () => {
    const all = Array.from({ length: 30 }, () => 'x'.repeat(100_000));
    expect(pagesOf(all, 100).map((page) => page.length)).toEqual([9, 9, 9, 3]);
    expect(pagesOf(all, 100, 'x'.repeat(500_000)).map((page) => page.length)).toEqual([
      4, 4, 4, 4, 4, 4, 4, 2,
    ]);
    expect(JSON.stringify(pagesOf(all, 100)[0]).length).toBeLessThanOrEqual(MAX_RESULT_PAGE_OCTETS);
  });

  test('has one entry at least, whatever its length', () => {
    const all = ['a', 'x'.repeat(2 * MAX_RESULT_PAGE_OCTETS), 'b'];
    expect(pagesOf(all, 100).map((page) => page.length)).toEqual([1, 1, 1]);
  });

  test('past the end is empty and the last one', () => {
    const { shown, page } = takePage(['a'], { limit: 10, from: 7, around: {} }, (entry) => entry);
    expect([shown, page]).toEqual([[], { limit: 10, shown: 0, of: 1, next: null }]);
  });
});

test('an entry that is a large part of a page is cut, and names what was', () => {
  const shortened: Shortened[] = [];
  const small = { now: Array.from({ length: 1_000 }, () => '/path') };
  expect(fitEntry(small, ['rules', 0], shortened)).toBe(small);
  const large = { now: Array.from({ length: 50_000 }, () => '/path') };
  const cut = fitEntry(large, ['rules', 1], shortened);
  expect(cut.now).toHaveLength(50);
  expect(shortened).toEqual([{ path: 'rules[1].now', of: 50_000 }]);
});
