/** Tests of what earlier lines of HAProxy have changed: the path and headers, as they are at the line. */
import type { ImportedCondition } from '../filter.ts';
import { passes, type TextTest } from '../text-test.ts';
import {
  allOf,
  anyOf,
  noneOf,
  type ReplacedStart,
  type RequestChange,
  unknown,
  type Walk,
} from './context.ts';
import { type Patterns, textTests } from './patterns.ts';

/** A condition with regard to what earlier lines have changed. */
export function changed(
  walk: Walk,
  {
    text,
    target,
    compared,
  }: { readonly text: string; readonly target: string; readonly compared?: Patterns },
  condition: ImportedCondition,
): ImportedCondition {
  let result = condition;
  for (const change of walk.changes) {
    if (change.target !== target) continue;
    const then = afterChange(change, text, compared);
    const isAlways = change.condition.kind === 'constant' && change.condition.value;
    result = isAlways
      ? then
      : anyOf([allOf(change.condition, then), allOf(...noneOf([change.condition]), result)]);
  }
  return result;
}

function afterChange(
  { value, place }: RequestChange,
  text: string,
  compared: Patterns | undefined,
): ImportedCondition {
  if (value === null) return { kind: 'constant', value: false };
  const tests = compared === undefined ? null : textTests(compared);
  const known = Array.isArray(tests) ? (tests as readonly TextTest[]) : null;
  if (known !== null && typeof value === 'string')
    return { kind: 'constant', value: known.some((test) => passes(test, value)) };
  const before = known !== null && typeof value === 'object' ? testsBefore(known, value) : null;
  return before === null
    ? unknown(text, `is compared after ${place} has changed it`)
    : { kind: 'path', tests: before };
}

/** The tests of a path before its start was replaced; `null`: they are not known. */
function testsBefore(tests: readonly TextTest[], { from, to }: ReplacedStart): readonly TextTest[] | null {
  const before: TextTest[] = [];
  for (const test of tests) {
    if (test.kind === 'regex' || test.pieces.length > 2 || test.pieces[0] === '') return null;
    const [start = '', ...rest] = test.pieces;
    if (rest.length > 0 && rest[0] !== '') return null;
    if (start.startsWith(to))
      before.push({ kind: 'pieces', pieces: [from + start.slice(to.length), ...rest] });
    else if (rest.length > 0 && to.startsWith(start)) before.push({ kind: 'pieces', pieces: [from, ''] });
  }
  return before;
}
