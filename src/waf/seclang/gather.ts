/** What comes before rules can be lowered: chains put together, markers found, settings and defaults taken in. */
import type { Directive, WrittenAction } from './directives.ts';
import { MAX_SIGNATURE_RULES } from './limits.ts';
import { lowerActions, readPhase, type WrittenDisruption } from './lower-actions.ts';
import { PASSED_SETTINGS } from './settings.ts';
import type { SecLangFinding, SecLangReport } from './source.ts';

/** A directive that is a rule, or one rule of a chain. */
export type RuleDirective = Extract<Directive, { readonly kind: 'rule' | 'action' }>;

/** One rule as written: its only directive, or a chain's. */
export interface RuleGroup {
  readonly order: number;
  readonly links: readonly [RuleDirective, ...RuleDirective[]];
  /** `SecDefaultAction`s in force where it stands, by phase. */
  readonly defaults: ReadonlyMap<number, Defaults>;
}

/** What a rule does that does not say so itself. */
export interface Defaults {
  readonly disruption: WrittenDisruption;
  readonly log: boolean;
  readonly actions: readonly WrittenAction[];
}

/** The rules of a text, its markers, and what it calls itself. */
export interface GatheredRules {
  readonly groups: readonly RuleGroup[];
  readonly markers: ReadonlyMap<string, readonly number[]>;
  readonly name: string | null;
}

/** Puts chains together and takes markers, settings and defaults in. */
export function gather(directives: readonly Directive[], report: SecLangReport): GatheredRules {
  const groups: RuleGroup[] = [];
  const markers = new Map<string, number[]>();
  const passed = new Set<string>();
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
        else passSetting(directive, passed, report);
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

const OPEN_CHAIN: SecLangFinding = {
  message: 'the chain that starts here has no end: a rule with `chain` is followed by no other rule',
  remedy: 'take the last `chain` off, or write the rule that belongs to it',
};

/** Whether a list holds an action. */
export function has(actions: readonly WrittenAction[], name: string): boolean {
  return actions.some((action) => action.name.toLowerCase() === name);
}

function passSetting(
  { name, values, place }: Extract<Directive, { kind: 'setting' }>,
  passed: Set<string>,
  report: SecLangReport,
): void {
  const key = name.toLowerCase();
  if (key === 'secruleengine' && /^on$/i.test(values[0] ?? '')) return;
  if (key === 'secruleengine') {
    const remedy = 'set the waf rule’s mode instead';
    report.warn('rule_engine', place, {
      message: 'whether requests are blocked is the waf rule’s mode',
      remedy,
    });
    return;
  }
  const reason = Object.hasOwn(PASSED_SETTINGS, key) ? PASSED_SETTINGS[key] : undefined;
  if (reason === undefined) {
    const remedy = 'take it out of the text';
    report.error('setting', place, { message: 'this setting cannot be had here', found: name, remedy });
  } else if (!passed.has(key)) {
    passed.add(key);
    report.inform('setting_passed', place, {
      message: `the setting does nothing here: ${reason}`,
      found: name,
    });
  }
}

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
      message: 'a default names a phase and what to do',
      remedy: 'write it as `SecDefaultAction "phase:2,log,pass"`',
    });
    return defaults;
  }
  const transformations = actions.filter(({ name }) => name.toLowerCase() === 't');
  const entry = { disruption: lowered.disruption, log: lowered.log !== false, actions: transformations };
  return new Map([...defaults, [phase, entry]]);
}

/** A list's phase; rules without one belong to phase 2. */
export function phaseOf(actions: readonly WrittenAction[]): number {
  const written = actions.findLast(({ name }) => name.toLowerCase() === 'phase');
  return readPhase(written?.value ?? '2') ?? 2;
}
