/**
 * Random patterns in RE2 syntax over an alphabet small enough that texts hit them, each with a sampler of texts that
 * come close to matching. Everything follows from one seed.
 */

/** A source of random numbers (mulberry32). */
export interface Random {
  readonly below: (limit: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  };
  return { below, pick: (list) => list[below(list.length)]! };
}

/** A pattern and a way to draw texts that its characters (not its assertions) allow. */
export interface Generated {
  readonly source: string;
  readonly sample: (random: Random) => string;
}

/** ASCII with and without odd case partners, Latin-1, BMP, astral, newline, path punctuation. */
export const ALPHABET = [
  'a',
  'b',
  'c',
  'k',
  's',
  'A',
  'K',
  'S',
  '1',
  '_',
  '-',
  '.',
  '/',
  ' ',
  '\n',
  'é',
  'É',
  'ß',
  '\u017f',
  '\u212a',
  '中',
  '\uffff',
  '😀',
  '😁',
  '\u{10428}',
  '\u{10400}',
] as const;

const ESCAPED = new Set(['.', '-', '/', ' ', '\n']);

function literal(character: string): Generated {
  const source = character === '\n' ? '\\n' : ESCAPED.has(character) ? `\\${character}` : character;
  return { source, sample: () => character };
}

const CLASSES: readonly (readonly [string, readonly string[]])[] = [
  ['.', ALPHABET],
  ['\\d', ['1']],
  ['\\D', ['a', '.', '中']],
  ['\\w', ['a', 'K', '_', '1']],
  ['\\W', ['-', '/', 'é', '\n']],
  ['\\s', [' ', '\n']],
  ['\\S', ['a', '😀']],
  ['[^/]', ['a', '\n', '中', '😀']],
  ['[a-c]', ['a', 'b', 'c']],
  ['[^a-c\\n]', ['k', '1', '\u212a']],
  ['[k-s]', ['k', 's']],
  ['[[:alpha:]]', ['a', 'S']],
  ['[^[:punct:]]', ['a', 'é']],
  ['\\pL', ['a', 'é', '中', '\u017f']],
  ['\\PL', ['1', '😀']],
  ['\\p{Greek}', ['a']],
  ['[\\p{Lu}_]', ['A', 'É', '_']],
  ['[é-中]', ['é', '\u017f', '中']],
  ['[😀-😁]', ['😀', '😁']],
  ['[^😀]', ['😁', 'a']],
  ['[\\x{10400}-\\x{10FFFF}]', ['\u{10428}', '😀']],
  ['\\x41', ['A']],
  ['\\x{E9}', ['é']],
  ['(?-s:.)', ['a', '\n']],
];

const ASSERTIONS = ['^', '$', '\\A', '\\z', '\\b', '\\B', '(?m:^)', '(?m:$)', ''] as const;
const REPEATS: readonly (readonly [string, number, number])[] = [
  ['*', 0, 3],
  ['+', 1, 3],
  ['?', 0, 1],
  ['*?', 0, 2],
  ['+?', 1, 2],
  ['??', 0, 1],
  ['{2}', 2, 2],
  ['{0,2}', 0, 2],
  ['{1,3}?', 1, 3],
  ['{2,}', 2, 4],
  ['{0}', 0, 0],
];
const GROUPS = ['(', '(?:', '(?i:', '(?-i:', '(?U:'] as const;

/** A pattern of at most `depth` nested groups. */
export function generatePattern(random: Random, depth: number): Generated {
  const roll = random.below(20);
  if (depth === 0 || roll < 5) return literal(random.pick(ALPHABET));
  if (roll < 8) {
    const [source, members] = random.pick(CLASSES);
    return { source, sample: (from) => from.pick(members) };
  }
  if (roll < 10) return { source: random.pick(ASSERTIONS), sample: () => '' };
  if (roll < 13) return repeat(random, depth);
  if (roll < 15) return alternate(random, depth);
  return concatenate(random, depth);
}

function repeat(random: Random, depth: number): Generated {
  const body = generatePattern(random, depth - 1);
  const [suffix, least, most] = random.pick(REPEATS);
  const sample = (from: Random): string => {
    let text = '';
    for (let left = least + from.below(most - least + 1); left > 0; left--) text += body.sample(from);
    return text;
  };
  return { source: `(?:${body.source})${suffix}`, sample };
}

function alternate(random: Random, depth: number): Generated {
  const arms = Array.from({ length: 2 + random.below(2) }, () => generatePattern(random, depth - 1));
  const source = `${random.pick(GROUPS)}${arms.map((arm) => arm.source).join('|')})`;
  return { source, sample: (from) => from.pick(arms).sample(from) };
}

function concatenate(random: Random, depth: number): Generated {
  const parts = Array.from({ length: 2 + random.below(3) }, () => generatePattern(random, depth - 1));
  return {
    source: parts.map((part) => part.source).join(''),
    sample: (from) => parts.map((part) => part.sample(from)).join(''),
  };
}

/** A pattern held at one end or both, with plain characters there. */
export function anchorPattern(random: Random, inside: Generated): Generated {
  const word = (): Generated[] =>
    Array.from({ length: random.below(4) }, () => literal(random.pick(ALPHABET)));
  const kind = random.below(4);
  const bare = kind === 3 ? [] : [inside];
  const parts = [...word(), ...bare, ...word()];
  const body = parts.map((part) => part.source).join('');
  return {
    source: `${kind === 1 ? '' : random.pick(['^', '\\A'])}${body}${kind === 0 ? '' : random.pick(['$', '\\z'])}`,
    sample: (from) => parts.map((part) => part.sample(from)).join(''),
  };
}

/** A text: noise, a near match, or a near match inside noise or damaged. */
export function generateText(random: Random, { sample }: Generated): string {
  const noise = (most: number): string =>
    Array.from({ length: random.below(most + 1) }, () => random.pick(ALPHABET)).join('');
  const kind = random.below(5);
  if (kind === 0) return noise(8);
  const text = [...sample(random)].slice(0, 100).join('');
  if (kind === 1) return text;
  if (kind === 2) return noise(4) + text + noise(4);
  if (kind === 3) return `${noise(2)}\n${text}\n${noise(2)}`;
  const points = [...text];
  points.splice(random.below(points.length + 1), random.below(2), random.pick(ALPHABET));
  return points.join('');
}
