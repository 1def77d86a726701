/**
 * Directives → what is run: rules and markers in the order of the file, each rule with its defaults taken in and with what
 * other directives change about it. Nothing is decided here that a request may have a say in.
 */
import { RE2JS } from 're2js';
import type {
  Directive,
  WrittenAction,
  WrittenOperator,
  WrittenTarget,
} from '../../../src/engine/waf/seclang/draft.ts';

/** One SecRule or SecAction, alone or in a chain. */
export interface Link {
  /** `null`: a SecAction. */
  readonly targets: readonly WrittenTarget[] | null;
  readonly operator: WrittenOperator | null;
  readonly transformations: readonly string[];
  readonly capture: boolean;
  readonly multiMatch: boolean;
  /** `tx.score=+5` and `ruleRemoveById=1`, as written. */
  readonly setVars: readonly string[];
  readonly controls: readonly string[];
}

export interface Rule {
  readonly id: number;
  readonly phase: number;
  readonly links: readonly Link[];
  readonly disruption: string;
  /** What `allow` is for. */
  readonly scope: string;
  readonly skipAfter: string | null;
  readonly logged: boolean;
  readonly severity: number;
  readonly tags: readonly string[];
  readonly message: string;
  readonly file: string;
}

export type Entry = { readonly marker: string } | { readonly rule: Rule };

interface Defaults {
  readonly disruption: string;
  readonly logged: boolean;
  readonly transformations: readonly WrittenAction[];
}

const NO_DEFAULTS: Defaults = { disruption: 'pass', logged: true, transformations: [] };
const DISRUPTIVE = ['allow', 'block', 'deny', 'drop', 'pass'];
const SEVERITIES = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'];

/** Rules and markers of a text that is known to compile. */
export function readEntries(directives: readonly Directive[]): readonly Entry[] {
  const entries: Entry[] = [];
  const defaults = new Map<number, Defaults>();
  let chain: (Directive & { kind: 'rule' | 'action' })[] = [];
  for (const directive of directives) {
    if (directive.kind === 'marker') entries.push({ marker: directive.name });
    if (directive.kind === 'default-action') {
      const { actions } = directive;
      defaults.set(phaseOf(actions), {
        disruption: disruptionOf(actions)!.name.toLowerCase(),
        logged: last(actions, 'log', 'nolog')?.name.toLowerCase() !== 'nolog',
        transformations: all(actions, 't'),
      });
    }
    if (directive.kind !== 'rule' && directive.kind !== 'action') continue;
    chain.push(directive);
    if (last(directive.actions, 'chain') !== undefined) continue;
    const rule = readRule(chain, defaults, directives);
    chain = [];
    if (rule.phase <= 2 && !isRemoved(rule, directives)) entries.push({ rule });
  }
  return entries;
}

function readRule(
  chain: readonly (Directive & { kind: 'rule' | 'action' })[],
  byPhase: ReadonlyMap<number, Defaults>,
  directives: readonly Directive[],
): Rule {
  const starter = chain[0]!;
  const id = Number(starter.actions.find(({ name }) => name.toLowerCase() === 'id')!.value);
  const phase = phaseOf(starter.actions);
  const defaults = byPhase.get(phase) ?? NO_DEFAULTS;
  const lists = chain.map(({ actions }, index) => [...actions, ...updatesOf(id, index, directives)]);
  const [first] = lists as [WrittenAction[]];
  const own = disruptionOf(first);
  const said = own?.name.toLowerCase() ?? defaults.disruption;
  const told = last(first, 'log', 'nolog')?.name.toLowerCase();
  const severity = last(first, 'severity')?.value?.toLowerCase() ?? '-1';
  const rule = {
    id,
    phase,
    // `block` is whatever the default is, unless that is to let pass: then it is left to the score.
    disruption: said === 'block' && defaults.disruption !== 'pass' ? defaults.disruption : said,
    scope: own?.value?.toLowerCase() ?? '',
    skipAfter: last(first, 'skipAfter')?.value ?? null,
    logged: told === undefined ? defaults.logged : told === 'log',
    severity: SEVERITIES.includes(severity) ? SEVERITIES.indexOf(severity) : Number(severity),
    tags: all(first, 'tag').map(({ value }) => value ?? ''),
    message: last(first, 'msg')?.value ?? '',
    file: starter.place.file,
    links: [] as Link[],
  };
  for (const [index, directive] of chain.entries()) {
    const actions = lists[index]!;
    const more = index === 0 ? targetUpdates(rule, directives) : [];
    rule.links.push({
      targets: directive.kind === 'rule' ? [...directive.targets, ...more] : null,
      operator: directive.kind === 'rule' ? directive.operator : null,
      transformations: transformationsOf([...defaults.transformations, ...actions]),
      capture: last(actions, 'capture') !== undefined,
      multiMatch: last(actions, 'multiMatch') !== undefined,
      setVars: all(actions, 'setvar').map(({ value }) => value!),
      controls: all(actions, 'ctl').map(({ value }) => value!),
    });
  }
  return rule;
}

function all(actions: readonly WrittenAction[], ...names: string[]): readonly WrittenAction[] {
  const wanted = names.map((name) => name.toLowerCase());
  return actions.filter(({ name }) => wanted.includes(name.toLowerCase()));
}

function last(actions: readonly WrittenAction[], ...names: string[]): WrittenAction | undefined {
  return all(actions, ...names).at(-1);
}

function disruptionOf(actions: readonly WrittenAction[]): WrittenAction | undefined {
  return last(actions, ...DISRUPTIVE);
}

function phaseOf(actions: readonly WrittenAction[]): number {
  const written = last(actions, 'phase')?.value?.toLowerCase() ?? '2';
  return { request: 2, response: 4, logging: 5 }[written] ?? Number(written);
}

/** What stands behind the last `t:none`. */
function transformationsOf(actions: readonly WrittenAction[]): readonly string[] {
  const names = all(actions, 't').map(({ value }) => value!.toLowerCase());
  return names.slice(names.lastIndexOf('none') + 1);
}

function updatesOf(id: number, link: number, directives: readonly Directive[]): readonly WrittenAction[] {
  const subjects = link === 0 ? [String(id), `${id}:0`] : [`${id}:${link}`];
  return directives.flatMap((one) =>
    one.kind === 'update-actions' && subjects.includes(one.subject) ? one.actions : [],
  );
}

type Subject = Pick<Rule, 'id' | 'tags' | 'message'>;

function targetUpdates(rule: Subject, directives: readonly Directive[]): readonly WrittenTarget[] {
  return directives.flatMap((one) =>
    one.kind === 'update-targets' && isNamed(rule, one.by, one.subject) ? one.targets : [],
  );
}

function isRemoved(rule: Subject, directives: readonly Directive[]): boolean {
  return directives.some(
    (one) => one.kind === 'remove' && one.subjects.some((subject) => isNamed(rule, one.by, subject)),
  );
}

/** Whether a directive, or a `ctl`, names a rule: by id or range, or by a pattern found in a tag or the message. */
export function isNamed({ id, tags, message }: Subject, by: 'id' | 'tag' | 'msg', subject: string): boolean {
  if (by === 'tag') return tags.some((tag) => isFound(subject, tag));
  if (by === 'msg') return isFound(subject, message);
  return subject.split(/[\s,]+/).some((piece) => {
    const [from = '', to = from] = piece.split('-');
    return from !== '' && id >= Number(from) && id <= Number(to);
  });
}

function isFound(pattern: string, text: string): boolean {
  return RE2JS.compile(pattern, RE2JS.DOTALL).test(text);
}
