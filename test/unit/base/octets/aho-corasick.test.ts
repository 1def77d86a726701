import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  buildAhoCorasick,
  createHits,
  type LiteralHits,
  literalCount,
  resetHits,
  scanAhoCorasick,
} from '../../../../src/base/octets/aho-corasick.ts';

function scan(words: Uint32Array, texts: readonly string[], hits: LiteralHits, base = 0): readonly number[] {
  resetHits(hits);
  for (const text of texts) scanAhoCorasick(words, base, text, hits);
  return [...hits.literals.subarray(0, hits.count)].sort((a, b) => a - b);
}

function found(literals: readonly string[], ...texts: readonly string[]): readonly number[] {
  const words = buildAhoCorasick(literals);
  return scan(words, texts, createHits(literals.length));
}

/** The slow way: every literal looked for in every text. */
function includes(literals: readonly string[], texts: readonly string[]): readonly number[] {
  return literals.flatMap((literal, index) => (texts.some((text) => text.includes(literal)) ? [index] : []));
}

describe('literals in one pass', () => {
  test.each([
    ['nothing to find', [], ['abc']],
    ['an empty text', ['a'], ['']],
    ['the whole text', ['abc'], ['abc']],
    ['longer than the text', ['abcd'], ['abc']],
    ['the example of the paper', ['he', 'she', 'his', 'hers'], ['ushers']],
    ['nested literals', ['a', 'aa', 'aaa', 'aaaa', 'b', 'aab'], ['aaab']],
    ['suffixes of one another', ['bcd', 'cd', 'd', 'abcd', 'e'], ['abcd']],
    ['a suffix met through another branch', ['abx', 'bc', 'c'], ['abc']],
    ['a suffix of a state that ends no literal itself', ['abcd', 'bcx', 'c'], ['abc']],
    ['no character before', ['\0', '\0a'], ['x\0a']],
    ['beyond ASCII', ['é', 'ñandú', '中文', '文'], ['el ñandú', '中文']],
    ['beyond the root’s table', ['\u0080', '\u007f', 'ÿ'], ['\u0080\u007f']],
    ['surrogate pairs and their halves', ['😀', '\ud83d', '\ude00', '😁'], ['x😀y']],
    ['the greatest code unit', ['\uffff', '\uffff\uffff'], ['a\uffff\uffff']],
    ['several texts', ['one', 'two', 'three'], ['xxtwoxx', 'threeone']],
    ['never across texts', ['ab'], ['a', 'b']],
  ])('%s', (_name, literals, texts) => expect(found(literals, ...texts)).toEqual(includes(literals, texts)));

  test.each([['ab'], ['abc'], ['aé中\u007f\u0080']])(
    'agrees with `includes` on literals of %s',
    (letters) => {
      const unit = fc.constantFrom(...letters);
      const text = fc.string({ unit, maxLength: 12 });
      const literals = fc.uniqueArray(fc.string({ unit, minLength: 1, maxLength: 5 }), { maxLength: 12 });
      fc.assert(
        fc.property(literals, fc.array(text, { maxLength: 2 }), (list, texts) => {
          expect(found(list, ...texts)).toEqual(includes(list, texts));
        }),
        { numRuns: 1_500 },
      );
    },
  );

  test('agrees with `includes` where a state has many children', () => {
    const wide = Array.from({ length: 3_000 }, (_, index) => `/${String.fromCharCode(33 + index * 7)}`);
    const roots = Array.from({ length: 3_000 }, (_, index) => String.fromCharCode(40 + index * 11));
    const literals = [...new Set([...wide, ...roots])];
    const words = buildAhoCorasick(literals);
    const hits = createHits(literals.length);
    for (let index = 0; index < literals.length; index += 13) {
      const text = `x${literals[index]}y${literals[literals.length - 1 - index]}`;
      expect(scan(words, [text], hits)).toEqual(includes(literals, [text]));
    }
  });
});

describe('a machine as words', () => {
  test('a machine has the count of its literals, and is read in place at any offset', () => {
    const literals = ['ab', 'b', 'c'];
    const words = buildAhoCorasick(literals);
    expect(literalCount(words, 0)).toBe(3);
    const shifted = new Uint32Array(words.length + 10).fill(0xdeadbeef);
    shifted.set(words, 7);
    expect(literalCount(shifted, 7)).toBe(3);
    expect(scan(shifted, ['xab'], createHits(3), 7)).toEqual([0, 1]);
  });

  test('a hit is reported once per text, and not in the next text', () => {
    const words = buildAhoCorasick(['a', 'b']);
    const hits = createHits(2);
    expect(scan(words, ['aaaa', 'aaa'], hits)).toEqual([0]);
    expect(scan(words, ['b'], hits)).toEqual([1]);
    expect(scan(words, [''], hits)).toEqual([]);
  });

  test('the count of scans starts over before it overflows', () => {
    const words = buildAhoCorasick(['a', 'b']);
    const hits = createHits(2);
    expect(scan(words, ['ab'], hits)).toEqual([0, 1]);
    hits.scan = 0xfffffffd;
    for (let run = 0; run < 6; run++) {
      expect(scan(words, ['a'], hits), `run ${run}`).toEqual([0]);
      expect(hits.scan).toBeLessThan(0xffffffff);
    }
  });

  test('a scan costs the text’s length, however the literals nest', () => {
    const literals = Array.from({ length: 2_000 }, (_, index) => 'a'.repeat(index + 1));
    const words = buildAhoCorasick(literals);
    const hits = createHits(literals.length);
    const counted = countReads(words);
    expect(scan(counted.words, ['a'.repeat(4_000)], hits)).toHaveLength(2_000);
    expect(counted.reads()).toBeLessThan(4_000 * 40);
  });
});

/** A view of `words` that counts how often it is read. */
function countReads(words: Uint32Array): { readonly words: Uint32Array; readonly reads: () => number } {
  let count = 0;
  const counting = new Proxy(words, {
    get: (target, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) count++;
      return Reflect.get(target, key);
    },
  });
  return { words: counting, reads: () => count };
}
