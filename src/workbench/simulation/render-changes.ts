/**
 * Prints what proofs found: requests that prove claims, as the operands of `edgeplan simulate`, and the changes of two
 * plans, each with such a request.
 */
import type { Decision } from '../../engine/evaluator/decision.ts';
import type { ProvedChanges } from '../proofs/changes.ts';
import type { OpenPair, OutcomeChange } from '../proofs/differences.ts';
import { effectFields, nameOfRule, type Subject, type SubjectRule } from '../proofs/subject.ts';
import type { Witness } from '../proofs/witness.ts';
import { quantity, shellWord, visible } from './render-text.ts';

/** The plans whose changes are printed. */
export interface ChangedSides {
  readonly before: Subject;
  readonly after: Subject;
}

/** Changes that are printed as text; `--json` lists all. */
const MAX_PRINTED = 40;

/** A change in words: the outcome before and after, and the request as arguments of `edgeplan simulate`. */
export interface DescribedChange {
  readonly was: string;
  readonly now: string;
  readonly command: string;
}

/** The text below the differences of rules, ending in a newline. `settings`: settings of the domain differ, too. */
export function changesText(proved: ProvedChanges, sides: ChangedSides, settings: boolean): string {
  const { changes, open, isIncomplete } = proved;
  const outcomes = changes.filter(({ kind }) => kind !== 'other_rule');
  const others = changes.length - outcomes.length;
  const left = outcomes.length - MAX_PRINTED;
  const lines = [
    headline(proved, outcomes.length),
    ...outcomes.slice(0, MAX_PRINTED).flatMap((change) => changeLines(describeChange(change, sides))),
    ...(left > 0 ? [`and ${left} more; --json lists all`] : []),
    ...(others > 0
      ? [`${quantity(others, 'pair')} of rules take each other's place with the same outcome`]
      : []),
    ...(open.length > 0 ? [`not proved either way: ${open.slice(0, 8).map(pairText).join(', ')}`] : []),
    ...(isIncomplete ? ['the budget of steps ended, so there may be more'] : []),
    ...(settings ? ["the domain's own settings differ too; the proof is about hosts and rules"] : []),
  ];
  return lines.map((line) => `${visible(line)}\n`).join('');
}

function headline({ changes, open, isIncomplete }: ProvedChanges, outcomes: number): string {
  if (changes.length + open.length === 0 && !isIncomplete)
    return 'proved: hosts and rules decide every request alike';
  if (outcomes === 0) return 'no request is known that is decided differently';
  const shown =
    outcomes === 1 ? 'changes, with a request that shows it' : 'change, each with a request that shows it';
  return `${quantity(outcomes, 'outcome')} ${shown}:`;
}

/** Describes a change in words. */
function describeChange(change: OutcomeChange, sides: ChangedSides): DescribedChange {
  const [was, now] = outcomeTexts(change, sides);
  return { was, now, command: witnessText(change.witness) };
}

/** Old and new outcome, and the request. */
export function changeLines({ was, now, command }: DescribedChange): readonly string[] {
  return [`  ${was} → ${now}`, `      ${command}`];
}

/** Both outcomes in words. */
function outcomeTexts(
  { component, kind, before, after, host, profiles }: OutcomeChange,
  sides: ChangedSides,
): readonly [string, string] {
  // Which of several records a request goes to is the balancer's turn, so the pair is about all of them.
  if (component === 'origin' && host !== null) return [`origin: the records of ${host}`, 'those it has now'];
  if (component === 'gate' || component === 'end' || (before === null && after === null)) {
    return [decisionText(profiles.before.decision, before), decisionText(profiles.after.decision, after)];
  }
  const label = component.replace('_', ' ');
  if (kind === 'order') {
    const [was, now] = [ruleText(before), ruleText(after)];
    return [`${label} ${was} before ${now}`, `${now} before ${was}`];
  }
  const isSameRule = before !== null && after !== null && nameOfRule(before) === nameOfRule(after);
  if (isSameRule) {
    const [was, now] = [effectFields(sides.before, before), effectFields(sides.after, after)];
    const names = [...new Set([...Object.keys(was), ...Object.keys(now)])].filter(
      (name) => JSON.stringify(was[name]) !== JSON.stringify(now[name]),
    );
    const text = (fields: Readonly<Record<string, unknown>>): string =>
      names.map((name) => `${name} ${JSON.stringify(fields[name] ?? null)}`).join(', ');
    return [`${nameOfRule(before)}: ${text(was)}`, text(now)];
  }
  return [`${label} ${ruleText(before)}`, ruleText(after)];
}

function ruleText(rule: SubjectRule | null): string {
  return rule === null ? 'none' : nameOfRule(rule);
}

function pairText({ component, before, after }: OpenPair): string {
  return `${component} ${ruleText(before)} → ${ruleText(after)}`;
}

/** The proof as JSON. `settings`: settings of the domain differ, too. */
export function changesDocument({ changes, open, isIncomplete }: ProvedChanges, settings: boolean): object {
  return {
    equivalent: changes.length + open.length === 0 && !isIncomplete && !settings,
    complete: !isIncomplete && open.length === 0,
    changes: changes.map(changeDocument),
    open: open.map(openDocument),
  };
}

function changeDocument({ component, kind, profiles, before, after, witness }: OutcomeChange): object {
  return {
    component,
    kind,
    before: sideDocument(profiles.before.decision, before),
    after: sideDocument(profiles.after.decision, after),
    request: witness,
  };
}

function openDocument({ component, before, after }: OpenPair): object {
  return {
    component,
    before: before === null ? null : nameOfRule(before),
    after: after === null ? null : nameOfRule(after),
  };
}

/** The changes and the open pairs of a proof as JSON values, each change with its words. */
export function describedChanges(
  { changes, open }: ProvedChanges,
  sides: ChangedSides,
): { readonly changes: readonly object[]; readonly open: readonly object[] } {
  return {
    changes: changes.map((change) => ({ ...changeDocument(change), ...describeChange(change, sides) })),
    open: open.map(openDocument),
  };
}

function sideDocument({ action, status, location }: Decision, rule: SubjectRule | null): object {
  return { rule: rule === null ? null : nameOfRule(rule), action, status, location };
}

// Requests that prove claims, as text: the operands of `edgeplan simulate`, and what they get.

/** The request as operands and options of `edgeplan simulate`. */
export function witnessText(witness: Witness): string {
  const { method, url, headers, ip, country, asn, bot, ja4, ja4h, cleared, identity, status } = witness;
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((line) => ['--header', `${name}: ${line}`] as const),
  );
  // A User-Agent alone would be classified.
  const noBot = Object.hasOwn(headers, 'user-agent') ? 'none' : null;
  const options: readonly (readonly [string, string | null])[] = [
    ...lines,
    ['--ip', ip],
    ['--country', country],
    ['--asn', asn === null ? null : String(asn)],
    ['--bot', bot === null ? noBot : `${bot.kind}${bot.verified ? ':verified' : ''}`],
    ['--ja4', ja4],
    ['--ja4h', ja4h],
    ...cleared.map((one) => ['--cleared', one] as const),
    ['--consumer', identity?.consumer ?? null],
    ...(identity?.scopes ?? []).map((scope) => ['--scope', scope] as const),
  ];
  const words = options.flatMap(([name, value]) => (value === null ? [] : [name, shellWord(value)]));
  const verb = method === 'GET' ? [] : [method];
  const note = status === null ? [] : [`(response ${status})`];
  return [...verb, shellWord(url), ...words, ...note].join(' ');
}

/** The outcome of a request: action, status and rule. */
export function decisionText(
  { action, status, location, origin }: Decision,
  rule: SubjectRule | null,
): string {
  const target = action === 'redirect' ? ` to ${location}` : origin === null ? '' : ` to ${origin.address}`;
  const by = rule === null ? '' : ` by ${nameOfRule(rule)}`;
  return `${action}${status === null ? '' : ` ${status}`}${target}${by}`;
}
