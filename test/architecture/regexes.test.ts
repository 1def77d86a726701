/**
 * Regular expressions of rooms that read requests take steps that grow with the length of a text, and not with a power of it. Each
 * literal is searched, as V8 does, by plain backtracking in texts that match it up to a place, repeat what is there, and end in
 * what does not match. Steps are counted, not timed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { startMeter } from '../../src/engine/waf/octets/meter.ts';
import { backtrackSearch } from '../../src/engine/waf/patterns/backtrack.ts';
import { type Backtracker, backtrackerOf } from '../../src/engine/waf/patterns/backtracker.ts';
import { compilePcre } from '../../src/engine/waf/seclang/pcre-compile.ts';
import { type ParsedPcre, type PcreNode, parsePcre } from '../../src/engine/waf/seclang/pcre-parse.ts';
import { type Random, seeded } from '../support/generate-random.ts';

const SRC = new URL('../../src/', import.meta.url).pathname;
const ROOMS = ['base', 'edge', 'engine', 'workbench/discovery'];

/** Texts that match a literal, and places of each whose parts are repeated. */
const SAMPLES = 12;
const PLACES = 16;
/** Lengths of an attack. Steps grow 4 times if they are linear, and 16 times if they are the square. */
const [SHORT, LONG] = [60, 240];
const MAX_GROWTH = 9;
/** Steps that no linear search of `LONG` characters takes. */
const BUDGET = 4_000_000;
const TAILS = ['', '\u0000', '!\n'];

interface Literal {
  readonly place: string;
  readonly text: string;
  readonly expression: RegExp;
}

function literalsOf(file: string): readonly Literal[] {
  const tree = ts.createSourceFile(file, readFileSync(join(SRC, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Literal[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { text } = node;
      const end = text.lastIndexOf('/');
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
      const expression = new RegExp(text.slice(1, end), text.slice(end + 1));
      found.push({ place: `${file}:${line + 1}`, text, expression });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The literal as a pattern of octets; characters beyond U+00FF become octets that no class has by chance. */
function parsed({ source, flags }: RegExp): ParsedPcre {
  const octets = source
    .replace(/\\u00([0-9a-f]{2})/gi, '\\x$1')
    .replace(/\\u(?:[0-9a-f]{4}|\{[0-9a-f]+\})/gi, '\\xfe')
    .replace(/\\p\{\w+\}/g, '\\xfd')
    .replace(/[^\0-\x7f]/g, '\\xfc')
    .replaceAll('[^]', '[\\x00-\\xff]');
  const read = parsePcre(`${flags.includes('y') ? '\\A' : ''}(?:${octets})`, flags.includes('i'));
  if (!read.ok) throw new Error(`${source}: ${read.reason}`);
  return read.parsed;
}

/** A text that a node matches, without what is around it. */
function sampleOf(node: PcreNode, random: Random): string {
  switch (node.kind) {
    case 'octet':
      return String.fromCharCode(memberOf(node.set, random));
    case 'sequence':
      return node.parts.map((part) => sampleOf(part, random)).join('');
    case 'choice':
      return sampleOf(random.pick(node.options), random);
    case 'group':
    case 'atomic':
      return sampleOf(node.body, random);
    case 'repeat': {
      const times = Math.min(node.least + random.int(3), node.most);
      return random.times(times, () => sampleOf(node.body, random)).join('');
    }
    default:
      return '';
  }
}

/** A member of a set of ranges: an end of one, or any. */
function memberOf(set: readonly number[], random: Random): number {
  const range = 2 * random.int(set.length / 2);
  const [first = 0, last = 0] = [set[range], set[range + 1]];
  return random.chance(0.5) ? first : first + random.int(last - first + 1);
}

function stepsOf(machine: Backtracker, text: string): number {
  const meter = startMeter(BUDGET);
  const octets = Uint8Array.from(text, (one) => one.charCodeAt(0));
  const plainSteps = Number.POSITIVE_INFINITY;
  backtrackSearch(machine, { octets, length: octets.length }, { meter, captures: false, plainSteps });
  return BUDGET - meter.left;
}

/** A text for which the steps of a literal grow with a power of the length; `null`: not found. */
function attackOn(expression: RegExp): string | null {
  const pattern = parsed(expression);
  const compiled = compilePcre(pattern);
  if (!compiled.ok) throw new Error(`${expression.source}: ${compiled.reason}`);
  const machine = backtrackerOf(compiled.program);
  const random = seeded(1);
  const tried = new Set<string>();
  for (let round = 0; round < SAMPLES; round++) {
    const sample = sampleOf(pattern.root, random);
    for (let at = 0; at < Math.min(sample.length, PLACES); at++) {
      for (const size of [1, 2]) {
        for (const tail of TAILS) {
          const [before, part] = [sample.slice(0, at), sample.slice(at, at + size)];
          const attack = JSON.stringify([before, part, tail]);
          if (part.length < size || tried.has(attack)) continue;
          tried.add(attack);
          const [short, long] = [SHORT, LONG].map((length) =>
            stepsOf(machine, before + part.repeat(length / size) + tail),
          );
          if (long! > MAX_GROWTH * short! || long! > BUDGET) return attack;
        }
      }
    }
  }
  return null;
}

describe('regular expressions', () => {
  test.each([
    ['the square', /_[A-Za-z]*[A-Z]{2}[A-Za-z]*[a-z]/],
    ['the square', /\s+$/],
    ['the square', /^[\w.]*[\w-]+=$/],
    ['the square', /(?:;[ \t]*)+[ \t]*x/y],
    ['the cube', /\d+\d+\d+x/],
    ['a power of two', /^(?:a|a)*b$/],
  ])('with steps that are %s of the length are found: %s', (_, expression) => {
    expect(attackOn(expression)).not.toBeNull();
  });

  test.each([/^[a-z]+\/[a-z]+$/, /,/, /^\s*(?:\d+|\w+)\s*:/, /;[ \t]*charset[ \t]*=[ \t]*"?([^";, \t]*)/g])(
    'with linear steps are not: %s',
    (expression) => {
      expect(attackOn(expression)).toBeNull();
    },
  );

  test('of rooms that read requests take linear steps', () => {
    const files = ROOMS.flatMap((room) =>
      readdirSync(join(SRC, room), { recursive: true, encoding: 'utf8' }).map((path) => join(room, path)),
    );
    const literals = files
      .filter((path) => path.endsWith('.ts'))
      .sort()
      .flatMap(literalsOf);
    const repeating = literals.filter(({ text }) => /[*+]|,\}/.test(text));
    const found = repeating.flatMap(({ place, text, expression }) => {
      const attack = attackOn(expression);
      return attack === null ? [] : [`${place}: ${text} with ${attack}`];
    });
    expect(found).toEqual([]);
    expect(repeating.length).toBeGreaterThan(90);
  });
});
