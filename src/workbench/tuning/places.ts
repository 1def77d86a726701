/**
 * Names places for exclusions. In: canonical paths and logged targets. Out: the section that a path belongs to, the narrowest
 * wildcards that cover some paths, and the target as an exclusion names it.
 */
import { WAF_TARGETS } from '../../base/vocabulary/vocabulary.ts';
import { EXACT_PATHS } from './limits.ts';

/** The section of a path: `/articles/*` for everything below the first step, a path of one step itself. */
export function sectionOf(path: string): string {
  const end = path.indexOf('/', 1);
  return end < 0 ? path : `${path.slice(0, end)}/*`;
}

/** What an exclusion's path reads as something else (semantics §1.1): a wildcard, an escape, parameters of a step. */
const SPECIAL = ['*', '%', ';'] as const;

/**
 * The path patterns that cover all of some paths: each path itself if they are few, else the first and last steps that they
 * share with `*` for what is between: `/articles/*`.
 */
export function patternsOf(paths: readonly string[]): readonly string[] {
  const plain = [...new Set(paths.map(withoutSpecial))].sort();
  return plain.length <= EXACT_PATHS ? plain : [wildcardOf(plain)];
}

/** A path in which a step from the first special character on is `*`. */
function withoutSpecial(path: string): string {
  return path
    .split('/')
    .map((step) => {
      const marks = SPECIAL.map((mark) => step.indexOf(mark)).filter((at) => at >= 0);
      return marks.length === 0 ? step : `${step.slice(0, Math.min(...marks))}*`;
    })
    .join('/');
}

function wildcardOf(paths: readonly string[]): string {
  const split = paths.map((path) => path.split('/'));
  const fewest = Math.min(...split.map(({ length }) => length));
  const [first = []] = split;
  let head = 0;
  while (head < fewest - 1 && split.every((steps) => steps[head] === first[head])) head++;
  let tail = 0;
  const fromEnd = (steps: readonly string[]): string | undefined => steps[steps.length - 1 - tail];
  while (tail < fewest - head - 1 && split.every((steps) => fromEnd(steps) === fromEnd(first))) tail++;
  const end = tail === 0 ? '' : `/${first.slice(-tail).join('/')}`;
  return `${first.slice(0, head).join('/')}/*${end}`;
}

/** Whether a pattern of `patternsOf` matches a path: `*` is any text. Taking the leftmost place needs no backtracking. */
export function covers(pattern: string, path: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === path;
  const end = path.length - tail.length;
  if (end < head.length || !path.startsWith(head) || !path.endsWith(tail)) return false;
  let at = head.length;
  for (const piece of rest) {
    const found = path.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}

/**
 * The target as an exclusion names it: the collection alone where the member's name is not logged (`ARGS:(35 octets)`);
 * `''`: no target is known, so only the whole signature can be excluded; `null`: no exclusion can name this variable.
 */
export function excludedTarget(target: string): string | null {
  if (target === '') return '';
  const colon = target.indexOf(':');
  const variable = colon < 0 ? target : target.slice(0, colon);
  if (!Object.hasOwn(WAF_TARGETS, variable)) return null;
  if (colon < 0 || WAF_TARGETS[variable as keyof typeof WAF_TARGETS] === 'single') return variable;
  return target.startsWith('(', colon + 1) || colon + 1 === target.length ? variable : target;
}
