/**
 * Applies directives that change other rules: `SecRuleRemove…`, `SecRuleUpdateTarget…`, `SecRuleUpdateActionById`.
 * As in ModSecurity 3, their place in the text makes no difference.
 */
import { captureGroups, parsePattern } from '../../../base/regex/regex.ts';
import type {
  Directive,
  DirectivePlace,
  DraftCondition,
  DraftControl,
  DraftRule,
  WrittenAction,
} from './draft.ts';
import { inRanges, type RuleFinder, readIds } from './lower-setvar.ts';
import { lowerTargets } from './lower-targets.ts';
import type { SecLangFinding, SecLangReport } from './source.ts';

/** A `SecRuleRemove…`. */
type Removal = Extract<Directive, { readonly kind: 'remove' }>;
/** A `SecRuleUpdateTarget…`. */
type TargetUpdate = Extract<Directive, { readonly kind: 'update-targets' }>;

/** The changes of a text. */
export interface Amendments {
  /** The actions added to one link of a rule's chain; the first link is 0. */
  readonly actions: (id: number, link: number) => readonly WrittenAction[];
  /** Finds rules by message, for `ctl:ruleRemoveByMsg`. */
  readonly finder: RuleFinder;
  /** In order. */
  readonly removals: readonly Removal[];
  readonly targetUpdates: readonly TargetUpdate[];
  /** By id of a rule, the place of a `SecRuleUpdateActionById` for it. */
  readonly updatedIds: ReadonlyMap<number, DirectivePlace>;
}

/** Collects the changes; reports malformed ones. */
export function collectAmendments(directives: readonly Directive[], report: SecLangReport): Amendments {
  const updates = new Map<string, readonly WrittenAction[]>();
  const updatedIds = new Map<number, DirectivePlace>();
  for (const directive of directives) {
    if (directive.kind !== 'update-actions') continue;
    const subject = /^(\d{1,10})(?::(\d{1,3}))?$/.exec(directive.subject);
    const fixed = directive.actions.find(({ name }) => /^(id|phase|chain)$/i.test(name));
    if (subject === null) {
      const message = 'a rule is named by its id, `942100`, or a chain’s second one by `942100:1`';
      report.error('subject', directive.place, { message, found: directive.subject });
    } else if (fixed !== undefined) {
      const message = 'this action of a rule cannot be changed from outside';
      report.error('update_action', directive.place, { message, found: fixed.name });
    } else {
      const key = `${subject[1]}:${subject[2] ?? 0}`;
      updates.set(key, [...(updates.get(key) ?? []), ...directive.actions]);
      updatedIds.set(Number(subject[1]), directive.place);
    }
  }
  return {
    actions: (id, link) => updates.get(`${id}:${link}`) ?? [],
    finder: { byMessage: (source) => idsByMessage(directives, source) },
    removals: directives.filter((directive) => directive.kind === 'remove'),
    targetUpdates: directives.filter((directive) => directive.kind === 'update-targets'),
    updatedIds,
  };
}

/** Whether a pattern matches in a text; a string: why the pattern is invalid. */
function searchText(source: string, text: string): boolean | string {
  const parsed = parsePattern(source, { ignoreCase: false });
  return parsed.ok ? captureGroups(source, false, text) !== null : parsed.reason;
}

/** The ids of the rules whose message matches a pattern; a string: why the pattern is invalid. */
function idsByMessage(directives: readonly Directive[], source: string): readonly number[] | string {
  const ids: number[] = [];
  for (const directive of directives) {
    if (directive.kind !== 'rule' && directive.kind !== 'action') continue;
    const actionValue = (wanted: string): string | undefined => {
      return directive.actions.find(({ name }) => name.toLowerCase() === wanted)?.value ?? undefined;
    };
    const message = actionValue('msg');
    const found = message === undefined ? false : searchText(source, message);
    if (typeof found === 'string') return found;
    if (found && actionValue('id') !== undefined) ids.push(Number(actionValue('id')));
  }
  return ids;
}

/** What `amend` needs besides rules and changes. */
export interface AmendContext {
  /** Where errors are reported. */
  readonly report: SecLangReport;
  /** By id of every rule, also of those that are left out, its place. */
  readonly known: ReadonlyMap<number, DirectivePlace>;
}

/** Applies removals and target updates; reports a subject that matches no rule. */
export function amend(
  rules: readonly DraftRule[],
  amendments: Amendments,
  context: AmendContext,
): readonly DraftRule[] {
  let amended = rules;
  for (const removal of amendments.removals) {
    for (const subject of removal.subjects) {
      const named = select(subject, removal, context);
      amended = named === null ? amended : amended.filter((rule) => !named(rule));
    }
  }
  for (const update of amendments.targetUpdates) {
    const named = select(update.subject, update, context);
    const lowered = lowerTargets(update.targets);
    for (const finding of [...lowered.findings, ...lowered.unsupported]) {
      context.report.error('target', update.place, finding);
    }
    if (named === null) continue;
    amended = amended.map((rule) => (named(rule) ? withTargets(rule, lowered.targets) : rule));
  }
  for (const [id, place] of amendments.updatedIds) {
    if (!context.known.has(id)) context.report.warn('no_such_rule', place, noSuchRule(String(id)));
  }
  return amended;
}

/** The warning of a subject that matches no rule. */
function noSuchRule(found: string): SecLangFinding {
  return { message: 'no rule matches this subject', found, remedy: 'look for a mistyped id, tag or message' };
}

/** Compiles a subject to a predicate of rules; `null`: it is malformed, which is reported. */
function select(
  subject: string,
  { by, place }: { readonly by: 'id' | 'tag' | 'msg'; readonly place: DirectivePlace },
  { report, known }: AmendContext,
): ((rule: DraftRule) => boolean) | null {
  if (by === 'id') {
    const ranges = readIds(subject);
    if (ranges === null) {
      report.error('subject', place, {
        message: 'ids are numbers or ranges, such as `1,5-9`',
        found: subject,
      });
      return null;
    }
    if (![...known.keys()].some((id) => inRanges(id, ranges))) {
      report.warn('no_such_rule', place, noSuchRule(subject));
    }
    return ({ id }) => inRanges(id, ranges);
  }
  const parsed = parsePattern(subject, { ignoreCase: false });
  if (!parsed.ok) {
    report.error('subject', place, { message: parsed.reason, found: subject });
    return null;
  }
  const found = (text: string): boolean => searchText(subject, text) === true;
  if (by === 'tag') return ({ tags }) => tags.some(found);
  return ({ message }) => found(message.map((part) => (part.kind === 'literal' ? part.text : '')).join(''));
}

/** A rule with targets added to its first condition. */
function withTargets(rule: DraftRule, more: NonNullable<DraftCondition['targets']>): DraftRule {
  const [first, ...rest] = rule.conditions;
  if (first.targets === null) return rule;
  const targets = {
    include: [...first.targets.include, ...more.include],
    exclude: [...first.targets.exclude, ...more.exclude],
  };
  return { ...rule, conditions: [{ ...first, targets }, ...rest] };
}

// Evaluates which rules a `ctl:ruleRemove…` applies to.

/** `ctl:ruleRemove…` actions. */
export type Removals = readonly DraftControl[];

/** Whether a control removes a rule, or one of its targets. */
export type RemovalTest = (control: DraftControl, rule: DraftRule) => boolean;

/** Creates a test that searches each tag once for each pattern: a rule set has few different tags. */
export function removalTest(): RemovalTest {
  const searched = new Map<string, Map<string, boolean>>();
  const matches = (source: string, tag: string): boolean => {
    let results = searched.get(source);
    if (results === undefined) {
      results = new Map();
      searched.set(source, results);
    }
    let result = results.get(tag);
    if (result === undefined) {
      result = searchText(source, tag) === true;
      results.set(tag, result);
    }
    return result;
  };
  return (control, { id, tags }) => {
    switch (control.kind) {
      case 'ruleRemoveById':
      case 'ruleRemoveTargetById':
        return inRanges(id, control.ranges);
      case 'ruleRemoveByTag':
      case 'ruleRemoveTargetByTag':
        return tags.some((tag) => matches(control.source, tag));
      case 'decodeRequestBody':
      case 'forceRequestBodyVariable':
      case 'requestBodyProcessor':
      case 'ruleEngine':
        return false;
      default:
        return control satisfies never;
    }
  };
}

/** Whether a control removes whole rules. */
export function isRemoval({ kind }: DraftControl): boolean {
  return kind === 'ruleRemoveById' || kind === 'ruleRemoveByTag';
}

/** Whether a control removes targets of TX. */
export function readsTx(control: DraftControl): boolean {
  return 'target' in control && control.target.variable === 'TX';
}
