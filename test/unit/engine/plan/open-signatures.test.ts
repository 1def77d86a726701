import { describe, expect, test } from 'vitest';
import { PlanFault } from '../../../../src/engine/plan/layout.ts';
import { openSignatures } from '../../../../src/engine/plan/open-signatures.ts';
import {
  SIGNATURES_HEADER,
  SIGNATURES_MAGIC,
  SIGNATURES_START,
  sealSignatures,
  signaturesChecksum,
} from '../../../../src/engine/plan/seal-signatures.ts';
import {
  SIGNATURE_PROGRAM_VERSION,
  type SignatureProgram,
} from '../../../../src/engine/plan/signature-program.ts';
import { loadSignatures } from '../../../../src/engine/waf/load/load.ts';
import { compileSignatures } from '../../../../src/engine/waf/seclang/compile.ts';
import { seeded } from '../../../support/generate-random.ts';
import { input } from '../../../support/signatures.ts';

const TEXT = `SecComponentSignature "t\u00e9st/1"
SecRule ARGS "@rx (?i)union\\s+select" "id:1,phase:1,block,tag:'attack-sqli',msg:'a%{MATCHED_VAR}'"
SecRule ARGS:/^a/ "@pm one two" "id:2,phase:2,deny"
SecRule TX:paranoia_level "@lt 2" "id:3,phase:2,nolog,pass,skipAfter:END"
SecRule REQUEST_URI "@rx [ab]*a[ab]{14}" "id:4,phase:2,block"
SecRule ARGS "@rx (?i)(a|(?<=b)\\xff)*+(?!\\1)(?>\\1)\\b" "id:5,phase:2,block"
SecMarker END
`;

function programOf(text: string): SignatureProgram {
  const { program } = compileSignatures([{ file: 'a.conf', text }], { readData: () => null });
  if (program === null) throw new Error('the text does not compile');
  return program;
}

const PROGRAM = programOf(TEXT);
const BYTES = sealSignatures(PROGRAM);
/** The pattern that is searched by backtracking, and places in its program. */
const SEARCHED = PROGRAM.patterns.findIndex(({ backtrack }) => backtrack !== undefined);
const INSTRUCTIONS = PROGRAM.patterns[SEARCHED]!.backtrack!.instructions;
const REFERENCE = INSTRUCTIONS.findIndex(({ kind }) => kind === 'reference');
const ATOMIC = INSTRUCTIONS.findIndex(({ kind }) => kind === 'atomic');
const NEGATIVE = INSTRUCTIONS.findIndex((one) => one.kind === 'look' && one.negative);
const SELECTING = PROGRAM.patterns.findIndex(({ source }) => source === '^a');

function faultOf(bytes: Uint8Array): PlanFault {
  try {
    openSignatures(bytes);
  } catch (error) {
    if (error instanceof PlanFault) return error;
    throw error;
  }
  throw new Error('the bytes opened');
}

function withWord(word: number, value: number, resum = true): Uint8Array {
  const bytes = BYTES.slice();
  const view = new DataView(bytes.buffer);
  view.setUint32(word * 4, value, true);
  if (resum) view.setUint32(SIGNATURES_HEADER.checksum * 4, signaturesChecksum(bytes), true);
  return bytes;
}

describe('a sealed program', () => {
  test('opens to what was sealed', () => {
    expect(PROGRAM.patterns.some(({ dfa }) => dfa !== null)).toBe(true);
    expect(PROGRAM.patterns.some(({ guard }) => guard !== undefined)).toBe(true);
    expect(PROGRAM.patterns.some(({ backtrack }) => backtrack !== undefined)).toBe(true);
    expect(openSignatures(BYTES)).toEqual(PROGRAM);
  });

  test('is the same for the same text', () => {
    expect(sealSignatures(programOf(TEXT))).toEqual(BYTES);
    expect(sealSignatures(openSignatures(BYTES))).toEqual(BYTES);
  });

  test('a sealed program opens at any offset of a buffer', () => {
    const room = new Uint8Array(BYTES.length + 3);
    room.set(BYTES, 3);
    expect(openSignatures(room.subarray(3))).toEqual(PROGRAM);
  });

  test('gives its tables as views of the bytes', () => {
    const tables = openSignatures(BYTES).patterns.flatMap(({ dfa }) => (dfa === null ? [] : [dfa]));
    expect(tables.length).toBeGreaterThan(0);
    for (const { buffer } of tables) expect(buffer).toBe(BYTES.buffer);
  });

  test('a sealed program preserves texts with any character', () => {
    const odd = { ...PROGRAM, name: 'na\u0300me \u{1f600}' };
    expect(openSignatures(sealSignatures(odd)).name).toBe(odd.name);
  });
});

describe('bytes that are refused', () => {
  const version = SIGNATURE_PROGRAM_VERSION;
  test.each<[string, Uint8Array, string, string]>([
    [
      'too short',
      BYTES.slice(0, 20),
      'truncated',
      'a signature program has at least 24 octets, these are 20',
    ],
    [
      'something else',
      withWord(0, SIGNATURES_MAGIC + 1),
      'not_a_plan',
      'these bytes are no signature program: they do not start with `EPSG`',
    ],
    [
      'newer',
      withWord(1, version + 1),
      'version',
      `the signature program has version ${version + 1}, this build reads ${version}; upgrade this build`,
    ],
    [
      'older',
      withWord(1, version - 1),
      'version',
      `the signature program has version ${version - 1}, this build reads ${version}; compile it again`,
    ],
    [
      'cut off',
      BYTES.slice(0, -8),
      'truncated',
      `the signature program says it has ${BYTES.length} octets, these are ${BYTES.length - 8}`,
    ],
    [
      'a text beyond the end',
      withWord(SIGNATURES_HEADER.text, BYTES.length),
      'layout',
      'the signature program is not whole: its text ends beyond it; compile it again',
    ],
  ])('%s', (_name, bytes, code, message) => {
    const fault = faultOf(bytes);
    expect([fault.code, fault.message]).toEqual([code, message]);
  });

  test('a program damaged at any octet is refused with both checksums', () => {
    for (let at = 16; at < BYTES.length; at += 997) {
      const bytes = BYTES.slice();
      bytes[at]! ^= 0x10;
      const fault = faultOf(bytes);
      expect(fault.code).toBe('checksum');
      expect(fault.message).toMatch(
        /^the signature program is damaged: its checksum is [0-9a-f]{8} where the header says [0-9a-f]{8}; compile it again$/,
      );
    }
  });
});

describe('a program that was tampered with, its checksum put right', () => {
  const textEnd = SIGNATURES_START + new DataView(BYTES.buffer).getUint32(SIGNATURES_HEADER.text * 4, true);

  function resealed(bytes: Uint8Array): Uint8Array {
    const view = new DataView(bytes.buffer);
    view.setUint32(SIGNATURES_HEADER.checksum * 4, signaturesChecksum(bytes), true);
    return bytes;
  }

  /** The same program with its text changed; the text keeps its length. */
  function withText(from: string, to: string): Uint8Array {
    expect(from.length).toBe(to.length);
    const text = Buffer.from(BYTES.subarray(SIGNATURES_START, textEnd)).toString('latin1');
    const at = text.indexOf(from);
    expect(at).toBeGreaterThan(0);
    const bytes = BYTES.slice();
    bytes.set(Buffer.from(to, 'latin1'), SIGNATURES_START + at);
    return resealed(bytes);
  }

  test.each([
    ['"phase":1', '"phase":7', '`program.rules[0].phase` is not what it should be'],
    ['"phase":1', '"phase":]', 'its text is not JSON'],
    ['"targets":0', '"targets":9', '`program.rules[0].conditions[0].targets` is not what it should be'],
    ['"kind":"rx"', '"kind":"xx"', '`program.rules[0].conditions[0].operator.kind` is not what it should be'],
    [
      '"pattern":0',
      '"pattern":9',
      '`program.rules[0].conditions[0].operator.pattern` is not what it should be',
    ],
    [
      '"kind":"atomic"',
      '"kind":"atomix"',
      `\`program.patterns[${SEARCHED}].backtrack.instructions[${ATOMIC}].kind\` is not what it should be`,
    ],
    [
      '"negative":true',
      '"negative":null',
      `\`program.patterns[${SEARCHED}].backtrack.instructions[${NEGATIVE}].negative\` is not what it should be`,
    ],
    [
      '"groups":1',
      '"groups":0',
      `\`program.patterns[${SEARCHED}].backtrack.instructions[${REFERENCE}].group\` is not what it should be`,
    ],
    [
      `"kind":"pattern","pattern":${SELECTING}`,
      `"kind":"pattern","pattern":${SEARCHED}`,
      '`program.targets[1].include[0].selector.pattern` is not what it should be',
    ],
  ])('%s as %s is refused', (from, to, what) => {
    const fault = faultOf(withText(from, to));
    expect([fault.code, fault.message]).toEqual([
      'layout',
      `the signature program is not whole: ${what}; compile it again`,
    ]);
  });

  test('an automaton that leads out of its table is refused', () => {
    const bytes = BYTES.slice();
    bytes.fill(0xff, bytes.length - 16);
    expect(faultOf(resealed(bytes)).message).toContain('an automaton leads out of its table');
  });

  test('a program with changed octets is refused, or inspects to the end without a fault', () => {
    const random = seeded(5);
    let opened = 0;
    const runs = 1_500;
    for (let run = 0; run < runs; run++) {
      const bytes = BYTES.slice();
      for (let flips = 1 + random.int(3); flips > 0; flips--) {
        // The text is the smaller part, and most of what can be broken is in it.
        const [from, to] = random.chance(0.5) ? [SIGNATURES_START, textEnd] : [textEnd, bytes.length];
        bytes[from + random.int(to - from)] = random.int(256);
      }
      try {
        const loaded = loadSignatures(openSignatures(resealed(bytes)));
        loaded.warm();
        opened++;
        for (const paranoia of [1, 4]) {
          loaded.inspect(
            input({ target: '/?a=union%20select&b=abababababababab', method: 'POST', body: 'aa=one' }),
            { paranoia, threshold: 5, excludes: [], exclusions: [] },
          );
        }
      } catch (error) {
        if (!(error instanceof PlanFault)) throw error;
      }
    }
    // Both ways were taken.
    expect(opened).toBeGreaterThan(runs / 20);
    expect(opened).toBeLessThan(runs - runs / 20);
  });
});
