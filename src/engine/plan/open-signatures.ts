/**
 * Opens a sealed signature program: version and checksum before anything else, then its text, and views for its tables.
 * Each is checked once, so that a program that opens is safe to inspect with.
 */
import { dfaFault } from '../../base/regex/check-table.ts';
import { DFA_LENGTH } from '../../base/regex/table.ts';
import { signaturesFault } from './check-signatures.ts';
import { PlanFault } from './fault.ts';
import {
  align,
  type SealedTable,
  type SealedText,
  SIGNATURES_HEADER,
  SIGNATURES_MAGIC,
  SIGNATURES_START,
  signaturesChecksum,
} from './seal-signatures.ts';
import { SIGNATURE_PROGRAM_VERSION, type SignatureProgram } from './signature-program.ts';

/** Characters turned into a string at a time; more would overflow the stack of arguments. */
const CHUNK = 4096;

/** Octets of a table's word. */
const WIDTH = Uint16Array.BYTES_PER_ELEMENT;

/**
 * Opens `bytes`, which must not change afterwards: the tables are views of them (a copy is made only if the array
 * does not start on an 8-byte boundary).
 * @throws PlanFault naming what was found and what this build reads
 */
export function openSignatures(bytes: Uint8Array): SignatureProgram {
  checkHeader(bytes);
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  const view = new DataView(aligned.buffer, aligned.byteOffset, aligned.byteLength);
  const end = SIGNATURES_START + view.getUint32(SIGNATURES_HEADER.text * 4, true);
  if (end > aligned.length) throw layoutFault('its text ends beyond it');
  const { rules, levels, patterns, ...rest } = readText(aligned.subarray(SIGNATURES_START, end));
  const start = aligned.byteOffset + align(end);
  const tableOf = ({ at, length }: SealedTable): Uint16Array => {
    const within = start + at + length * WIDTH <= aligned.byteOffset + aligned.byteLength;
    if (!within || at % 8 !== 0) throw layoutFault('a table lies outside it');
    const words = new Uint16Array(aligned.buffer, start + at, length);
    const fault = words[DFA_LENGTH] === length ? dfaFault(words, 0) : 'has another length';
    if (fault !== null) throw layoutFault(`an automaton ${fault}`);
    return words;
  };
  return {
    ...rest,
    patterns: patterns.map(({ dfa, guard, ...pattern }) => ({
      ...pattern,
      dfa: dfa === null ? null : tableOf(dfa),
      ...(guard === null ? {} : { guard: tableOf(guard) }),
    })),
    levels: levels.map(({ rules: numbers, initial }) => ({
      initial,
      rules: numbers.map((number) => rules[number]!),
    })),
  };
}

function layoutFault(what: string): PlanFault {
  return new PlanFault('layout', `the signature program is not whole: ${what}; compile it again`);
}

function checkHeader(bytes: Uint8Array): void {
  if (bytes.length < SIGNATURES_START) {
    const found = `these are ${bytes.length}`;
    throw new PlanFault('truncated', `a signature program has at least ${SIGNATURES_START} octets, ${found}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== SIGNATURES_MAGIC) {
    throw new PlanFault('not_a_plan', 'these bytes are no signature program: they do not start with `EPSG`');
  }
  const version = view.getUint32(SIGNATURES_HEADER.version * 4, true);
  if (version !== SIGNATURE_PROGRAM_VERSION) {
    const advice = version > SIGNATURE_PROGRAM_VERSION ? 'upgrade this build' : 'compile it again';
    const both = `version ${version}, this build reads ${SIGNATURE_PROGRAM_VERSION}`;
    throw new PlanFault('version', `the signature program has ${both}; ${advice}`);
  }
  const total = view.getUint32(SIGNATURES_HEADER.bytes * 4, true);
  if (total !== bytes.length) {
    const both = `${total} octets, these are ${bytes.length}`;
    throw new PlanFault('truncated', `the signature program says it has ${both}`);
  }
  const expected = view.getUint32(SIGNATURES_HEADER.checksum * 4, true);
  const found = signaturesChecksum(bytes);
  if (expected !== found) {
    const hex = (value: number): string => value.toString(16).padStart(8, '0');
    const both = `its checksum is ${hex(found)} where the header says ${hex(expected)}`;
    throw new PlanFault('checksum', `the signature program is damaged: ${both}; compile it again`);
  }
}

function readText(octets: Uint8Array): SealedText {
  let text = '';
  for (let at = 0; at < octets.length; at += CHUNK) {
    text += String.fromCharCode(...octets.subarray(at, at + CHUNK));
  }
  const read = parsed(text);
  const fault = signaturesFault(read);
  if (fault !== null) throw layoutFault(`\`program${fault}\` is not what it should be`);
  return read as SealedText;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw layoutFault('its text is not JSON');
  }
}
