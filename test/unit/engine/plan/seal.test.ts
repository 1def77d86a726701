import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { loadPlan, PlanFault } from '../../../../src/engine/evaluator/index.ts';
import {
  DIRECTORY,
  HEADER,
  MAGIC,
  OLDEST_VERSION,
  PLAIN_VERSION,
  PLAN_FAULTS,
  PLAN_VERSION,
  type PlanFaultCode,
  SECTIONS,
  sectionsOf,
} from '../../../../src/engine/plan/layout.ts';
import { openPlan, sealChecksum, startAfter } from '../../../../src/engine/plan/seal.ts';
import { generateCase, seeded } from '../../../support/generate.ts';
import { request, rule, ruleSet as sampleSet } from '../../../support/sample-rules.ts';

const { ruleSet } = generateCase(11, 0);
const BYTES = seal(compile(ruleSet).plan, { revision: 0x1_2345_6789 });

/** The fault that opening gives; any other error, or none, fails the test. */
function faultOf(bytes: Uint8Array, trusted = false): PlanFault {
  try {
    openPlan(bytes, { trusted });
  } catch (error) {
    if (error instanceof PlanFault) return error;
    throw error;
  }
  throw new Error('the bytes opened');
}

/** A copy with header word `word` set to `value`; the checksum is brought up to date unless told otherwise. */
function withWord(word: number, value: number, resum = true): Uint8Array {
  const bytes = BYTES.slice();
  const view = new DataView(bytes.buffer);
  view.setUint32(word * 4, value, true);
  if (resum) view.setUint32(HEADER.checksum * 4, sealChecksum(bytes), true);
  return bytes;
}

/** Lower case, no full stop, no empty line: how every sentence for a reader is written. */
function expectSentence(text: string): void {
  expect(text).toMatch(/^[a-z`]/);
  expect(text).not.toMatch(/[.\n]$/);
  expect(text.length).toBeGreaterThan(20);
}

/** Octets before the sections of a plan without conditions. */
const SECTIONS_START = startAfter(sectionsOf(PLAIN_VERSION).length);
const LEAST = startAfter(sectionsOf(OLDEST_VERSION).length);

describe('bytes that are no plan', () => {
  test.each([
    ['nothing', new Uint8Array(0), 'truncated', `a plan has at least ${LEAST} octets, these are 0`],
    ['one octet', Uint8Array.of(0x45), 'truncated', `a plan has at least ${LEAST} octets, these are 1`],
    ['zeros', new Uint8Array(4096), 'not_a_plan', 'they do not start with `EPLN`'],
    ['other magic', withWord(HEADER.magic, MAGIC + 1), 'not_a_plan', 'they do not start with `EPLN`'],
    [
      'JSON',
      new TextEncoder().encode(JSON.stringify({ rules: 'x'.repeat(500) })),
      'not_a_plan',
      'they do not start with `EPLN`',
    ],
    [
      'a newer version',
      withWord(HEADER.version, PLAN_VERSION + 1),
      'version',
      `the plan has version ${PLAN_VERSION + 1}, this build reads ${OLDEST_VERSION} to ${PLAN_VERSION}; upgrade this node`,
    ],
    ['the newest version', withWord(HEADER.version, 0xffffffff), 'version', 'upgrade this node'],
    [
      'an older version',
      withWord(HEADER.version, OLDEST_VERSION - 1),
      'version',
      `this build reads ${OLDEST_VERSION} to ${PLAN_VERSION}; compile the plan again`,
    ],
    [
      'one octet too few',
      BYTES.subarray(0, BYTES.length - 1),
      'truncated',
      `says it has ${BYTES.length} octets, these are ${BYTES.length - 1}`,
    ],
    ['half of it', BYTES.subarray(0, BYTES.length >> 1), 'truncated', `says it has ${BYTES.length} octets`],
    ['one octet too many', Uint8Array.of(...BYTES, 0), 'truncated', `these are ${BYTES.length + 1}`],
    ['two plans', Uint8Array.of(...BYTES, ...BYTES), 'truncated', `these are ${BYTES.length * 2}`],
  ] as const satisfies readonly (readonly [string, Uint8Array, PlanFaultCode, string])[])(
    '%s',
    (_name, bytes, code, text) => {
      for (const trusted of [false, true]) {
        const fault = faultOf(bytes, trusted);
        expect(fault.code).toBe(code);
        expect(fault.message).toContain(text);
        expectSentence(fault.message);
      }
      expect(() => loadPlan(bytes)).toThrow(PlanFault);
      expect(() => loadPlan(bytes, { trusted: true })).toThrow(PlanFault);
    },
  );

  test('the version is checked before length and checksum', () => {
    const newer = withWord(HEADER.version, PLAN_VERSION + 7, false);
    expect(faultOf(newer.subarray(0, newer.length - 8)).code).toBe('version');
  });

  test('every prefix of a plan is refused', () => {
    for (let length = 0; length < BYTES.length; length += 1 + (length >> 6)) {
      expect(faultOf(BYTES.subarray(0, length)).code).toBe('truncated');
      expect(faultOf(BYTES.subarray(0, length), true).code).toBe('truncated');
    }
  });
});

describe('damaged plans', () => {
  /** What a flipped bit of each header word must be told as. */
  function expectedCode(octet: number, bit: number): PlanFaultCode {
    const word = octet >> 2;
    const version = PLAIN_VERSION ^ (1 << bit);
    const readable = octet === HEADER.version * 4 && version >= OLDEST_VERSION && version <= PLAN_VERSION;
    if (readable) return 'checksum';
    if (word === HEADER.magic) return 'not_a_plan';
    if (word === HEADER.version) return 'version';
    return word === HEADER.bytes ? 'truncated' : 'checksum';
  }

  test('a change of any bit of header or directory is detected', () => {
    const bytes = BYTES.slice();
    for (let octet = 0; octet < SECTIONS_START; octet++) {
      for (let bit = 0; bit < 8; bit++) {
        bytes[octet]! ^= 1 << bit;
        const fault = faultOf(bytes);
        expect(fault.code, `octet ${octet}, bit ${bit}`).toBe(expectedCode(octet, bit));
        expectSentence(fault.message);
        bytes[octet]! ^= 1 << bit;
      }
    }
    expect(openPlan(bytes).revision).toBe(0x1_2345_6789);
  });

  test('one or several flipped bits anywhere are detected', () => {
    const random = seeded(2);
    const bytes = BYTES.slice();
    for (let run = 0; run < 3_000; run++) {
      const places = random.some(
        Array.from({ length: 8 }, () => random.int((bytes.length - SECTIONS_START) * 8)),
        8,
      );
      for (const place of places) bytes[SECTIONS_START + (place >> 3)]! ^= 1 << (place & 7);
      expect(faultOf(bytes).code, `run ${run}`).toBe('checksum');
      for (const place of places) bytes[SECTIONS_START + (place >> 3)]! ^= 1 << (place & 7);
    }
    expect(openPlan(bytes).revision).toBe(0x1_2345_6789);
  });

  test('the message of a checksum fault has both checksums', () => {
    const bytes = BYTES.slice();
    bytes[bytes.length - 1]! ^= 1;
    const [found, stated] = [sealChecksum(bytes), sealChecksum(BYTES)].map((sum) =>
      sum.toString(16).padStart(8, '0'),
    );
    expect(faultOf(bytes).message).toBe(
      `the plan is damaged: its checksum is ${found} where the header says ${stated}; fetch or compile it again`,
    );
  });
});

describe('sections out of place', () => {
  test.each(sectionsOf(PLAIN_VERSION).map(({ name }, index) => [name, index] as const))(
    '%s',
    (name, index) => {
      const offset = DIRECTORY / 4 + index * 2;
      const cases = [
        withWord(offset, 0),
        withWord(offset, SECTIONS_START + 4),
        withWord(offset, BYTES.length + 8),
        withWord(offset, 0xfffffff8),
        withWord(offset + 1, BYTES.length),
        withWord(offset + 1, 0xffffffff),
      ];
      for (const bytes of cases) {
        for (const trusted of [false, true]) {
          const fault = faultOf(bytes, trusted);
          expect(fault.code).toBe('layout');
          expect(fault.message).toBe(
            `section \`${name}\` lies outside the plan; fetch or compile the plan again`,
          );
        }
      }
    },
  );

  test('a plan without its fixed fields', () => {
    const fault = faultOf(withWord(DIRECTORY / 4 + 1, 8));
    expect(fault.code).toBe('layout');
    expect(fault.message).toBe('the plan has no `meta` section; fetch or compile the plan again');
  });
});

describe('bytes as they come', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 24])('at offset %i of their buffer', (offset) => {
    const buffer = new Uint8Array(BYTES.length + 64).fill(0xaa);
    buffer.set(BYTES, offset);
    const { plan, revision } = openPlan(buffer.subarray(offset, offset + BYTES.length));
    expect(revision).toBe(0x1_2345_6789);
    for (const { name } of SECTIONS) expect(plan[name].byteOffset % plan[name].BYTES_PER_ELEMENT).toBe(0);
    expect([...plan.meta]).toEqual([...openPlan(BYTES).plan.meta]);
  });

  test.each([1, 4, 8])('in a Buffer at offset %i, whose own `slice` copies nothing', (offset) => {
    const buffer = Buffer.alloc(BYTES.length + 64, 0xaa);
    buffer.set(BYTES, offset);
    const { plan } = openPlan(buffer.subarray(offset, offset + BYTES.length));
    expect([...plan.meta]).toEqual([...openPlan(BYTES).plan.meta]);
  });

  test('an aligned plan is a view of the bytes, not a copy', () => {
    const { plan } = openPlan(BYTES);
    for (const { name } of sectionsOf(PLAIN_VERSION)) expect(plan[name].buffer).toBe(BYTES.buffer);
  });

  test('`trusted` leaves out the checksum and nothing else', () => {
    const wrongSum = withWord(HEADER.checksum, 0, false);
    expect(faultOf(wrongSum).code).toBe('checksum');
    expect(openPlan(wrongSum, { trusted: true }).revision).toBe(0x1_2345_6789);
  });
});

test('every fault code is covered by a test above', () => {
  const met = new Set<PlanFaultCode>([
    faultOf(new Uint8Array(0)).code,
    faultOf(withWord(HEADER.magic, 0)).code,
    faultOf(withWord(HEADER.version, 0)).code,
    faultOf(withWord(HEADER.checksum, 0, false)).code,
    faultOf(withWord(DIRECTORY / 4, 0)).code,
    // By `loadPlan`: `test/unit/engine/evaluator/lists.test.ts`.
    'list',
  ]);
  expect([...met].sort()).toEqual([...PLAN_FAULTS].sort());
});

describe('automata that texts walk, tampered with, the checksum put right', () => {
  const inner = ['/*inner*', '/*other*', '/*inn*er*', '/*nner*'];
  const drops = [...inner.map((path) => ['wildcard', path] as const), ['regex', '^/[ab]+\\d$'] as const].map(
    ([path_match_type, path], at) =>
      rule('drop', at + 1, { path_match_type, path_includes: [path], action_mode: 'dry_run' }),
  );
  const sealed = seal(compile(sampleSet({ rules: drops })).plan);

  function sectionOf(name: (typeof SECTIONS)[number]['name']): {
    readonly at: number;
    readonly length: number;
  } {
    const view = new DataView(sealed.buffer);
    const entry = DIRECTORY + SECTIONS.findIndex((one) => one.name === name) * 8;
    return { at: view.getUint32(entry, true), length: view.getUint32(entry + 4, true) };
  }

  function changed(change: (bytes: Uint8Array, view: DataView) => void): Uint8Array {
    const bytes = sealed.slice();
    const view = new DataView(bytes.buffer);
    change(bytes, view);
    view.setUint32(HEADER.checksum * 4, sealChecksum(bytes), true);
    return bytes;
  }

  test('a link of the literals that leads round in a circle is refused', () => {
    const { at } = sectionOf('literals');
    const states = new DataView(sealed.buffer).getUint32(at, true);
    const row = at + (2 + 128 + (states - 1) * 5) * 4;
    const fault = faultOf(changed((_, view) => view.setUint32(row + 8, states - 1, true)));
    expect([fault.code, fault.message]).toEqual([
      'layout',
      'the plan is damaged: the machine of literals falls back in a circle; fetch or compile it again',
    ]);
  });

  test('a regex that leads out of its table is refused', () => {
    const { at, length } = sectionOf('dfas');
    const fault = faultOf(changed((bytes) => bytes.fill(0xff, at + length - 2, at + length)));
    expect(fault.message).toMatch(
      /^the plan is damaged: the automaton of pattern \d+ leads out of its table;/,
    );
  });

  test.each(['literals', 'dfas'] as const)('octets of `%s`: refused, or every scan ends', (name) => {
    const random = seeded(3);
    const { at, length } = sectionOf(name);
    expect(length).toBeGreaterThan(200);
    let opened = 0;
    for (let run = 0; run < 2_000; run++) {
      const bytes = changed((octets) => {
        octets[at + random.int(length)] = random.int(256);
      });
      try {
        const evaluator = loadPlan(bytes);
        opened++;
        for (const target of ['/innerotherinnnerin', '/abababab1', '/\u{10400}\u00e9x', '/ininnerrothnner']) {
          expect(evaluator.evaluate(request({ target })).status).not.toBe(500);
        }
      } catch (error) {
        if (!(error instanceof PlanFault)) throw error;
      }
    }
    // Both ways were taken.
    expect(opened).toBeGreaterThan(20);
    expect(opened).toBeLessThan(1_980);
  });
});
