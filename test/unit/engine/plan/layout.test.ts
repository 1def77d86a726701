import { describe, expect, test } from 'vitest';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import * as fields from '../../../../src/engine/plan/layout.ts';
import * as layout from '../../../../src/engine/plan/layout.ts';
import { startAfter } from '../../../../src/engine/plan/seal.ts';
import { generateCase } from '../../../support/generate.ts';

const { DIRECTORY, FLAG, FLAG_ACTION_SHIFT, HEADER, META, NODE, PATTERN, SECTIONS, SLOT } = layout;

describe('no two fields share a place', () => {
  test('meta, with its list of phases', () => {
    // The word of gateways lies beyond those that every plan has.
    const { size, phases, gateways, ...rest } = META;
    expect(gateways).toBe(size);
    const places = [
      ...Object.values(rest),
      // The last type ends with the slots.
      ...Array.from({ length: RULE_TYPES.length - 1 }, (_, at) => phases + at),
    ];
    expect(new Set(places).size).toBe(places.length);
    expect(Math.max(...places)).toBe(size - 1);
  });

  test.each([
    ['slot', SLOT],
    ['node', NODE],
    ['pattern', PATTERN],
    ['name', layout.NAME],
    ['record', layout.RECORD],
    ['pool origin', fields.POOL_ORIGIN],
    ['header change', fields.HEADER_CHANGE],
    ['value piece', fields.VALUE_PIECE],
  ])('%s', (_name, { size, ...rest }) => {
    expect(Object.values(rest).sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, at) => at));
  });

  test.each([
    ['group', layout.GROUP],
    ['filter', layout.FILTER],
    ['addresses', layout.ADDRESSES],
    ['bot_route', fields.BOT_FIELDS],
    ['rate_limit', fields.RATE_FIELDS],
    ['waf', fields.WAF_FIELDS],
    ['redirect', fields.REDIRECT_FIELDS],
    ['captcha', fields.CAPTCHA_FIELDS],
    ['rewrite', fields.REWRITE_FIELDS],
    ['cache', fields.CACHE_FIELDS],
    ['origin_route', fields.ROUTE_FIELDS],
    ['origin_pool', fields.POOL_FIELDS],
    ['error_page', fields.PAGE_FIELDS],
    ['headers', fields.HEADERS_FIELDS],
    ['pattern kind', layout.PATTERN_KIND],
  ])('%s, in the order they are told', (_name, places) => {
    expect(Object.values(places)).toEqual(Object.keys(places).map((_, at) => at));
  });

  test('flags, the type and the action above them', () => {
    const { type, ...bits } = FLAG;
    expect(type).toBeGreaterThanOrEqual(RULE_TYPES.length - 1);
    let taken: number = type;
    for (const bit of Object.values(bits)) {
      expect(taken & bit).toBe(0);
      taken |= bit;
    }
    expect(taken >>> FLAG_ACTION_SHIFT).toBe(0);
  });

  test('header words, before the directory, before the sections', () => {
    const words = Object.values(HEADER);
    expect(new Set(words).size).toBe(words.length);
    expect(Math.max(...words) * 4 + 4).toBeLessThanOrEqual(DIRECTORY);
    const start = startAfter(SECTIONS.length);
    expect(DIRECTORY + SECTIONS.length * 8).toBeLessThanOrEqual(start);
    expect(start % 8).toBe(0);
    expect(new Set(SECTIONS.map(({ name }) => name)).size).toBe(SECTIONS.length);
  });
});

describe('sealed bytes', () => {
  test('the magic reads `EPLN`, numbers are little-endian', () => {
    const bytes = seal(compile(generateCase(3, 0).ruleSet).plan, { revision: 0x0807060504 });
    expect(new TextDecoder().decode(bytes.subarray(0, 4))).toBe('EPLN');
    expect([...bytes.subarray(4, 8)]).toEqual([layout.PLAIN_VERSION, 0, 0, 0]);
    expect([...bytes.subarray(HEADER.revisionLow * 4, HEADER.revisionLow * 4 + 8)]).toEqual([
      4, 5, 6, 7, 8, 0, 0, 0,
    ]);
  });

  test('sections follow one another, each at an 8-octet boundary, with nothing but zeros between', () => {
    const bytes = seal(compile(generateCase(3, 0).ruleSet).plan);
    const view = new DataView(bytes.buffer);
    const sections = layout.sectionsOf(layout.PLAIN_VERSION);
    let end = startAfter(sections.length);
    for (let index = 0; index < sections.length; index++) {
      const offset = view.getUint32(DIRECTORY + index * 8, true);
      expect(offset % 8).toBe(0);
      expect(offset - end).toBeGreaterThanOrEqual(0);
      expect(offset - end).toBeLessThan(8);
      expect(bytes.subarray(end, offset).every((octet) => octet === 0)).toBe(true);
      end = offset + view.getUint32(DIRECTORY + index * 8 + 4, true);
    }
    expect(bytes.length - end).toBeLessThan(8);
  });
});

test('a type’s number is its phase', () => {
  for (const [index, type] of RULE_TYPES.entries()) expect(layout.typeIndex(type)).toBe(index);
});

test('a name hashes the same from where it starts in a longer one', () => {
  expect(layout.nameHash('a.b.example.com', 4)).toBe(layout.nameHash('example.com', 0));
  expect(layout.nameHash('a', 0)).not.toBe(layout.nameHash('b', 0));
});

test('letters share a character’s bit with their other case', () => {
  for (const letter of 'abcxyz') {
    const bits = [letter, letter.toUpperCase()].map((one) => layout.characterBit(one.charCodeAt(0)));
    expect(bits[0]).toBe(bits[1]);
  }
});

test('phases follow one another and end with the last slot', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { ruleSet } = generateCase(seed, 0, { headers: 5 });
    const { meta, slots } = compile(ruleSet).plan;
    const starts = Array.from({ length: RULE_TYPES.length + 1 }, (_, type) =>
      layout.phaseStart({ meta }, type),
    );
    expect(starts[0]).toBe(0);
    expect(starts.at(-1)).toBe(ruleSet.rules.length);
    expect(meta[META.slots]).toBe(ruleSet.rules.length);
    expect(slots.length).toBe(ruleSet.rules.length * SLOT.size);
    for (const [type, start] of starts.slice(0, -1).entries()) {
      for (let slot = start; slot < starts[type + 1]!; slot++) {
        expect(slots[slot * SLOT.size + SLOT.flags]! & FLAG.type).toBe(layout.typeNumber(RULE_TYPES[type]!));
      }
    }
  }
});
