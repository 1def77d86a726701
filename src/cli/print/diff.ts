/** A difference of two plans for people: a line a rule, its fields below it. */
import type { FieldDifference, HostChange, PlanDiff, RuleChange } from '../../analysis/diff.ts';
import { same } from '../../files/print-edge.ts';
import { quantity, visible } from '../../simulator/render-text.ts';

const MARKS = { added: '+', removed: '-', changed: '~', moved: '>' } as const;
/** Entries of a list that are told one by one; of longer changes the number. */
const ENTRIES_TOLD = 20;

/** The text, ending in a newline; `names` are what the two sides are called. */
export function diffText(
  diff: PlanDiff,
  { before, after }: { readonly before: string; readonly after: string },
): string {
  if (diff.same) return `${visible(`${before} and ${after} decide alike`)}\n`;
  const { domain, hosts, rules } = diff;
  const lines = [
    `${before} → ${after}: ${summary(diff)}`,
    ...(domain.length === 0 ? [] : ['', '~ domain', ...domain.flatMap(fieldLines)]),
    ...hosts.flatMap(hostLines),
    ...rules.flatMap(ruleLines),
  ];
  return lines.map((line) => `${visible(line)}\n`).join('');
}

function summary({ domain, hosts, rules }: PlanDiff): string {
  const counts = (['added', 'removed', 'changed', 'moved'] as const).flatMap((change) => {
    const count = rules.filter((rule) => rule.change === change).length;
    return count === 0 ? [] : [`${quantity(count, 'rule')} ${change}`];
  });
  const other = [
    ...(hosts.length === 0 ? [] : [quantity(hosts.length, 'host differs', 'hosts differ')]),
    ...(domain.length === 0 ? [] : ['the domain differs']),
  ];
  return [...counts, ...other].join(', ');
}

function hostLines({ change, host, fields }: HostChange): readonly string[] {
  return ['', `${MARKS[change]} host ${host}`, ...fields.flatMap(fieldLines)];
}

function ruleLines({ change, rule, before, key, fields }: RuleChange): readonly string[] {
  const named = key === undefined ? rule : `${rule} (${key})`;
  const was = before === undefined ? '' : `, was ${before}`;
  // What a rule that came or went does not do need not be told.
  const telling = change === 'added' || change === 'removed' ? fields.filter(says) : fields;
  return ['', `${MARKS[change]} ${named}${was}`, ...telling.flatMap(fieldLines)];
}

function says({ was, now }: FieldDifference): boolean {
  const value = was ?? now;
  if (value === null || value === undefined || value === '' || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}

function fieldLines({ field, was, now }: FieldDifference): readonly string[] {
  if (Array.isArray(was) && Array.isArray(now)) return listLines(field, was, now);
  const sides = [was, now].flatMap((value) => (value === undefined ? [] : [valueText(value)]));
  return [`    ${field}  ${sides.join(' → ')}`];
}

function listLines(field: string, was: readonly unknown[], now: readonly unknown[]): readonly string[] {
  const gone = was.filter((value) => !now.some((other) => same(value, other)));
  const come = now.filter((value) => !was.some((other) => same(value, other)));
  if (gone.length + come.length === 0)
    return [`    ${field}  in another order: ${now.map(valueText).join(', ')}`];
  const entries = [
    ...gone.map((value) => `- ${valueText(value)}`),
    ...come.map((value) => `+ ${valueText(value)}`),
  ];
  const left = entries.length - ENTRIES_TOLD;
  return [
    `    ${field}`,
    ...entries.slice(0, ENTRIES_TOLD).map((entry) => `      ${entry}`),
    ...(left > 0 ? [`      and ${left} more; --json tells all`] : []),
  ];
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ');
  const { kind, source } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  // A pattern of a path or host filter is known by its text.
  if (typeof source === 'string') return kind === 'regex' ? `${source} (regex)` : source;
  return value === null ? 'none' : JSON.stringify(value);
}
