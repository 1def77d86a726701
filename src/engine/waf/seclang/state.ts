/** Reports what a rule set expects and the edge does not do: state between requests, and actions without effect. */
import type { Directive, DirectivePlace, WrittenAction } from './directives.ts';
import type { DraftRule } from './draft.ts';
import { phaseOf, type RuleGroup } from './gather.ts';
import { IGNORED_ACTIONS, IGNORED_CONTROLS, STATEFUL_COLLECTIONS, STATELESS } from './ignored.ts';
import type { SecLangReport } from './source.ts';

/** The collection with state of a name such as `ip` or `IP`; `null`: it is another variable. */
function collectionOf(name: string): string | null {
  return STATEFUL_COLLECTIONS.find((one) => one === name.toUpperCase()) ?? null;
}

/** A macro that reads a collection with state. */
const STATE_MACRO = new RegExp(`%\\{(${STATEFUL_COLLECTIONS.join('|')})[.:]`, 'gi');

/** The collections with state that a rule reads: in a target, an operator, or an assigned value. */
export function stateRead({ links }: RuleGroup): readonly string[] {
  const found = new Set<string>();
  for (const link of links) {
    const texts = link.actions.filter(({ name }) => name.toLowerCase() === 'setvar').map(assignedValue);
    if (link.kind === 'rule') {
      texts.push(link.operator.argument);
      for (const { variable, excluded } of link.targets) {
        const collection = excluded ? null : collectionOf(variable);
        if (collection !== null) found.add(collection);
      }
    }
    for (const text of texts)
      for (const [, name] of text.matchAll(STATE_MACRO)) found.add(name!.toUpperCase());
  }
  return [...found];
}

/** What a `setvar` assigns to a variable of TX; empty where it assigns to a collection with state. */
function assignedValue({ value }: WrittenAction): string {
  return stateWritten(value ?? '') === null ? (value ?? '') : '';
}

/** The collection with state that a `setvar` writes; `null`: it writes to another. */
function stateWritten(value: string): string | null {
  return collectionOf(/^\s*!?\s*([a-z]+)[.:]/i.exec(value)?.[1] ?? '');
}

/** Warns of rules that read state, all at once. */
export function reportStateful(rules: readonly DraftRule[], report: SecLangReport): void {
  const [first] = rules;
  if (first === undefined) return;
  const collections = [...new Set(rules.flatMap(({ readsState }) => readsState))].sort();
  const subject = rules.length === 1 ? '1 rule reads' : `${rules.length} rules read`;
  const empty = collections.length === 1 ? 'which is always empty' : 'which are always empty';
  report.warn('state', first.place, {
    message: `${subject} ${collections.join(', ')}, ${empty}: ${STATELESS}`,
    found: rules.map(({ id }) => id).join(' '),
    remedy: 'limit requests with a rule of type `rate_limit`',
  });
}

/** How often an action without effect occurs. */
interface Passed {
  readonly place: DirectivePlace;
  readonly reason: string;
  rules: number;
}

/** Reports each action without effect once, with the number of rules that have it. */
export function reportIgnoredActions(
  directives: readonly Directive[],
  groups: readonly RuleGroup[],
  report: SecLangReport,
): void {
  const passed = new Map<string, Passed>();
  const count = (actions: readonly WrittenAction[], place: DirectivePlace): void => {
    const found = new Map(actions.map((action) => [nameWithoutEffect(action), reasonOf(action)]));
    for (const [name, reason] of found) {
      if (name === null || reason === null) continue;
      const entry = passed.get(name) ?? { place, reason, rules: 0 };
      entry.rules++;
      passed.set(name, entry);
    }
  };
  for (const { links } of groups) {
    const actions = links.flatMap((link) => link.actions);
    if (phaseOf(links[0].actions) < 3) count(actions, links[0].place);
  }
  for (const directive of directives) {
    if (directive.kind !== 'default-action' || phaseOf(directive.actions) >= 3) continue;
    count(
      directive.actions.filter(({ name }) => name.toLowerCase() === 'status'),
      directive.place,
    );
  }
  for (const [name, { place, reason, rules }] of passed) {
    const where = rules === 1 ? '1 rule' : `${rules} rules`;
    report.inform('action_passed', place, {
      message: `the action has no effect in ${where}: ${reason}`,
      found: name,
    });
  }
}

/** The name under which an action without effect is counted; `null`: it has an effect. */
function nameWithoutEffect({ name, value }: WrittenAction): string | null {
  const key = name.toLowerCase();
  const text = value ?? '';
  if (key === 'status') return text === '403' ? null : `status:${text}`;
  if (key === 'setvar') {
    const collection = stateWritten(text);
    return collection === null ? null : `setvar:${collection.toLowerCase()}`;
  }
  if (key === 'ctl') {
    const [control = ''] = text.split('=');
    return Object.hasOwn(IGNORED_CONTROLS, control.trim().toLowerCase()) ? `ctl:${control.trim()}` : null;
  }
  return Object.hasOwn(IGNORED_ACTIONS, key) ? key : null;
}

/** Why an action has no effect; `null`: it has one. */
function reasonOf({ name, value }: WrittenAction): string | null {
  const key = name.toLowerCase();
  if (key === 'setvar') return STATELESS;
  if (key === 'ctl') return IGNORED_CONTROLS[(value ?? '').split('=')[0]!.trim().toLowerCase()] ?? null;
  return IGNORED_ACTIONS[key] ?? null;
}
