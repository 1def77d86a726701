/**
 * The first pass over directives: joins chains, collects markers and default actions, checks settings, and reports what
 * a rule set expects and the edge does not do.
 */
import type { Directive, DirectivePlace, DraftRule, WrittenAction } from './draft.ts';
import {
  DEFAULT_SETTINGS,
  IGNORED_ACTIONS,
  IGNORED_CONTROLS,
  IGNORED_SETTINGS,
  STATEFUL_COLLECTIONS,
  STATELESS,
} from './ignored.ts';
import { lowerActions, readPhase, type WrittenDisruption } from './lower-actions.ts';
import type { SecLangFinding, SecLangReport } from './source.ts';

/**
 * Maximum number of rules per text; the Core Rule Set has 700, and with more than this an inspection exceeds its step
 * budget.
 */
const MAX_SIGNATURE_RULES = 10_000;

/** A directive that is a rule (`SecRule`, `SecAction`), or one link of a chain. */
export type RuleDirective = Extract<Directive, { readonly kind: 'rule' | 'action' }>;

/** A rule as written: one directive, or the directives of a chain. */
export interface RuleGroup {
  /** The place of its first directive among all directives. */
  readonly order: number;
  /** The directives, in order. */
  readonly links: readonly [RuleDirective, ...RuleDirective[]];
  /** By phase, the `SecDefaultAction` that precedes the rule. */
  readonly defaults: ReadonlyMap<number, Defaults>;
}

/** The actions of a rule that does not specify them itself. */
export interface Defaults {
  /** The disruptive action of rules without one, and of `block`. */
  readonly disruption: WrittenDisruption;
  /** Whether a match is reported. */
  readonly log: boolean;
  /** Transformations before those of the rule. */
  readonly actions: readonly WrittenAction[];
}

/** The rules of a text, its markers, and its `SecComponentSignature`. */
export interface GatheredRules {
  readonly groups: readonly RuleGroup[];
  /** By marker, its places among all directives, ascending. */
  readonly markers: ReadonlyMap<string, readonly number[]>;
  /** `null`: the text has none. */
  readonly name: string | null;
}

/** Runs the pass. */
export function gather(directives: readonly Directive[], report: SecLangReport): GatheredRules {
  const groups: RuleGroup[] = [];
  const markers = new Map<string, number[]>();
  const ignored = new Set<string>();
  let defaults: ReadonlyMap<number, Defaults> = new Map();
  let name: string | null = null;
  let open: { order: number; links: [RuleDirective, ...RuleDirective[]]; defaults: typeof defaults } | null =
    null;
  for (const [order, directive] of directives.entries()) {
    if (open !== null && directive.kind !== 'rule' && directive.kind !== 'action') {
      report.error('open_chain', open.links[0].place, OPEN_CHAIN);
      open = null;
    }
    switch (directive.kind) {
      case 'rule':
      case 'action': {
        if (open === null) open = { order, links: [directive], defaults };
        else open.links.push(directive);
        if (has(directive.actions, 'chain')) break;
        groups.push(open);
        open = null;
        break;
      }
      case 'marker':
        markers.set(directive.name, [...(markers.get(directive.name) ?? []), order]);
        break;
      case 'default-action':
        defaults = withDefaults(defaults, directive, report);
        break;
      case 'setting':
        if (directive.name.toLowerCase() === 'seccomponentsignature') name = directive.values[0] ?? null;
        else ignoreSetting(directive, ignored, report);
        break;
      case 'update-actions':
      case 'update-targets':
      case 'remove':
        break;
      default:
        directive satisfies never;
    }
  }
  if (open !== null) report.error('open_chain', open.links[0].place, OPEN_CHAIN);
  if (groups.length > MAX_SIGNATURE_RULES) {
    report.error('too_many_rules', groups[MAX_SIGNATURE_RULES]!.links[0].place, {
      message: `there are ${groups.length} rules, at most ${MAX_SIGNATURE_RULES} are compiled`,
    });
  }
  return { groups: groups.slice(0, MAX_SIGNATURE_RULES), markers, name };
}

/** The error of a chain without last link. */
const OPEN_CHAIN: SecLangFinding = {
  message: 'the chain that starts here has no end: a rule with `chain` is followed by no other rule',
  remedy: 'take the last `chain` off, or write the rule that belongs to it',
};

/** Whether a list has an action of this name. */
export function has(actions: readonly WrittenAction[], name: string): boolean {
  return actions.some((action) => action.name.toLowerCase() === name);
}

/** Checks a setting: reports an unsupported one, and each ignored one once. */
function ignoreSetting(
  { name, values, place }: Extract<Directive, { kind: 'setting' }>,
  ignored: Set<string>,
  report: SecLangReport,
): void {
  const key = name.toLowerCase();
  if (key === 'secruleengine' && /^on$/i.test(values[0] ?? '')) return;
  if (key === 'secruleengine') {
    const remedy = 'set the waf rule’s mode instead';
    report.warn('rule_engine', place, {
      message: 'the waf rule’s mode decides whether requests are blocked',
      remedy,
    });
    return;
  }
  const reason = reasonOf(key, values[0] ?? '');
  if (reason === undefined) {
    const remedy = 'take it out of the text';
    report.error('setting', place, { message: 'this setting is not supported', found: name, remedy });
  } else if (!ignored.has(key)) {
    ignored.add(key);
    report.inform('setting_passed', place, {
      message: `the setting has no effect: ${reason}`,
      found: name,
    });
  }
}

/** Why a setting has no effect; `undefined`: it has one, and is not supported. */
function reasonOf(key: string, value: string): string | undefined {
  if (Object.hasOwn(DEFAULT_SETTINGS, key)) {
    const { value: unchanged, reason } = DEFAULT_SETTINGS[key]!;
    return value.toLowerCase() === unchanged ? reason : undefined;
  }
  return Object.hasOwn(IGNORED_SETTINGS, key) ? IGNORED_SETTINGS[key] : undefined;
}

/** Adds a `SecDefaultAction`; it replaces an earlier one of its phase. */
function withDefaults(
  defaults: ReadonlyMap<number, Defaults>,
  { actions, place }: Extract<Directive, { kind: 'default-action' }>,
  report: SecLangReport,
): ReadonlyMap<number, Defaults> {
  const phase = phaseOf(actions);
  const lowered = lowerActions(actions, { own: {}, rules: { byMessage: () => [] }, inherited: [] });
  for (const finding of lowered.findings) report.error('default_action', place, finding);
  if (lowered.disruption === null || lowered.disruption === 'block' || !has(actions, 'phase')) {
    report.error('default_action', place, {
      message: 'a default action needs a phase and a disruptive action',
      remedy: 'write it as `SecDefaultAction "phase:2,log,pass"`',
    });
    return defaults;
  }
  const transformations = actions.filter(({ name }) => name.toLowerCase() === 't');
  const entry = { disruption: lowered.disruption, log: lowered.log !== false, actions: transformations };
  return new Map([...defaults, [phase, entry]]);
}

/** The phase of a list; rules without one belong to phase 2. */
export function phaseOf(actions: readonly WrittenAction[]): number {
  const written = actions.findLast(({ name }) => name.toLowerCase() === 'phase');
  return readPhase(written?.value ?? '2') ?? 2;
}

// Reports what a rule set expects and the edge does not do: state between requests, and actions without effect.

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
  return collectionOf(/^\s*(?:!\s*)?([a-z]+)[.:]/i.exec(value)?.[1] ?? '');
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
    const found = new Map(actions.map((action) => [nameWithoutEffect(action), reasonWithoutEffect(action)]));
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
function reasonWithoutEffect({ name, value }: WrittenAction): string | null {
  const key = name.toLowerCase();
  if (key === 'setvar') return STATELESS;
  if (key === 'ctl') return IGNORED_CONTROLS[(value ?? '').split('=')[0]!.trim().toLowerCase()] ?? null;
  return IGNORED_ACTIONS[key] ?? null;
}
