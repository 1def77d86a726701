/**
 * A naive interpreter of SecLang: the meaning that the compiled path is held to. Each rule is run in its turn, each target
 * gathered anew, each transformation and operator done again for each value; nothing is looked at ahead, remembered or
 * decided before there is a request. What words mean is the ModSecurity reference manual's; where that leaves a question
 * open, a comment says what was chosen.
 */
import { WAF_TRANSFORMATIONS } from '../../../src/engine/plan/signature-program.ts';
import type {
  InspectionExclusion,
  WafFinding,
  WafInput,
  WafSettings,
} from '../../../src/engine/waf/request/inspection.ts';
import type { WrittenTarget } from '../../../src/engine/waf/seclang/draft.ts';
import { parseSecLang } from '../../../src/engine/waf/seclang/parse.ts';
import { parseTargets } from '../../../src/engine/waf/seclang/parse-words.ts';
import type { Source, SourceReader } from '../../../src/engine/waf/seclang/source.ts';
import { TRANSFORMATIONS } from '../../../src/engine/waf/transformations/transformations.ts';
import { membersOf, type Seen, takes, variableOf } from './members.ts';
import { holds } from './operators.ts';
import { type Entry, isNamed, type Link, type Rule, readEntries } from './read.ts';
import { openBody, openRequest, type RequestState } from './request.ts';
import { assign, createTx, expand, isGiven, scoreNames, scoreOf } from './tx.ts';

export interface OracleOptions {
  readonly readData: (file: string, from: string) => string | null;
  readonly reader?: SourceReader;
}

/** What is compared of a finding. */
export interface NaiveFinding
  extends Pick<WafFinding, 'score' | 'ids' | 'categories' | 'denied' | 'bodyError'> {
  readonly matches: readonly Pick<WafFinding['matches'][number], 'id' | 'severity' | 'category' | 'score'>[];
}

export interface NaiveProgram {
  inspect(input: WafInput, settings: WafSettings): NaiveFinding;
}

/** One inspection under way. */
interface Run extends Seen {
  readonly entries: readonly Entry[];
  readonly options: OracleOptions;
  readonly settings: WafSettings;
  readonly scores: ReadonlySet<string>;
  engine: string;
  stopped: boolean;
  denied: boolean;
  readonly removed: ((rule: Rule) => boolean)[];
  readonly removedTargets: { readonly of: (rule: Rule) => boolean; readonly target: WrittenTarget }[];
  readonly matches: NaiveFinding['matches'][number][];
  readonly categories: Record<string, number>;
}

/** Makes a text ready; it must be one that compiles. */
export function interpretSecLang(sources: readonly Source[], options: OracleOptions): NaiveProgram {
  const { reader } = options;
  const entries = readEntries(parseSecLang(sources, reader === undefined ? {} : { reader }).directives);
  return { inspect: (input, settings) => inspect(entries, options, { input, settings }) };
}

function inspect(
  entries: readonly Entry[],
  options: OracleOptions,
  { input, settings }: { readonly input: WafInput; readonly settings: WafSettings },
): NaiveFinding {
  const run: Run = {
    entries,
    options,
    settings,
    state: openRequest(input),
    tx: createTx(settings),
    scores: scoreNames(entries, settings.paranoia),
    matched: [],
    engine: 'on',
    stopped: false,
    denied: false,
    removed: [({ id }) => settings.excludes.includes(String(id))],
    removedTargets: [],
    matches: [],
    categories: {},
  };
  for (const exclusion of settings.exclusions) exclude(run, exclusion);
  runPhase(run, 1);
  if (!run.stopped) {
    openBody(run.state);
    runPhase(run, 2);
  }
  return {
    score: scoreOf(run.tx, run.scores),
    ids: run.matches.map(({ id }) => id).sort((a, b) => a - b),
    matches: run.matches.sort((a, b) => a.id - b.id),
    categories: run.categories,
    denied: run.denied,
    bodyError: run.state.body?.parsed.error ?? null,
  };
}

function exclude(run: Run, { id, tag, target }: InspectionExclusion): void {
  const of = (rule: Rule): boolean =>
    (id === null || rule.id === id) && (tag === null || rule.tags.includes(tag));
  if (target === null) run.removed.push(of);
  else run.removedTargets.push({ of, target: parseTargets(target).targets[0]! });
}

/** Runs the rules of a phase in order; a jump leads behind its marker, or to the end of the phase where there is none. */
function runPhase(run: Run, phase: number): void {
  let until: string | null = null;
  for (const entry of run.entries) {
    if ('marker' in entry) {
      if (entry.marker === until) until = null;
      continue;
    }
    const { rule } = entry;
    if (until !== null || rule.phase !== phase || run.removed.some((of) => of(rule))) continue;
    const added = runRule(run, rule);
    if (added !== null) {
      settle(run, rule, added);
      until = rule.skipAfter;
      // `allow:phase` is a disruptive action: it takes the engine to be on.
      if (rule.disruption === 'allow' && rule.scope === 'phase' && run.engine === 'on') return;
    }
    if (run.engine === 'off') run.stopped = true;
    if (run.stopped) return;
  }
}

/** A rule matched: it is reported, and what is disruptive about it is done when the engine is on. */
function settle(run: Run, { id, severity, tags, logged, disruption, scope }: Rule, added: number): void {
  const category = tags.find((tag) => tag.startsWith('attack-'))?.slice('attack-'.length) ?? '';
  if (added !== 0 && category !== '') run.categories[category] = (run.categories[category] ?? 0) + added;
  if (logged) run.matches.push({ id, severity, category, score: added });
  if (run.engine !== 'on') return;
  if (disruption === 'deny' || disruption === 'drop') run.denied = true;
  if (run.denied || (disruption === 'allow' && scope !== 'phase')) run.stopped = true;
}

/** Runs a rule, link by link; gives what it added to the score, `null` when some link did not hold. */
function runRule(run: Run, rule: Rule): number | null {
  run.matched = [];
  // What a rule takes away from itself comes too late for it.
  const removed = run.removedTargets.filter(({ of }) => of(rule)).map(({ target }) => target);
  let added = 0;
  for (const link of rule.links) {
    if (link.targets === null) {
      added += act(run, rule, link);
      continue;
    }
    let held = false;
    for (const member of membersOf(run, link.targets)) {
      if (removed.some((target) => takes(target, member))) continue;
      for (const value of stages(link, member.value)) {
        if (!matches(run, rule, { link, value })) continue;
        held = true;
        run.matched.push({ name: member.told, value });
        added += act(run, rule, link);
      }
    }
    if (!held) return null;
  }
  return added;
}

/** The value after its transformations; with `multiMatch` also as it came, and after each that changed it. */
function stages({ transformations, multiMatch }: Link, value: string): readonly string[] {
  const all = [value];
  for (const written of transformations) {
    const name = written.replace(/^normalise/, 'normalize');
    const transform = TRANSFORMATIONS[WAF_TRANSFORMATIONS.find((one) => one.toLowerCase() === name)!];
    const next = transform(all.at(-1)!);
    if (next !== all.at(-1)) all.push(next);
  }
  return multiMatch ? all : all.slice(-1);
}

/**
 * Whether the operator holds. What it found is captured: a pattern's groups (one that took no part is empty), a phrase, or
 * the value. The groups of earlier captures go, as in ModSecurity 2; a negated operator finds a value, or nothing.
 */
function matches(
  run: Run,
  rule: Rule,
  { link, value }: { readonly link: Link; readonly value: string },
): boolean {
  const { name, argument, negated } = link.operator!;
  const operator = name.toLowerCase();
  const found = holds(value, {
    operator,
    argument: expand(operator === 'rx' ? argument : argument.trim(), macros(run, rule)),
    read: (file) => run.options.readData(file, rule.file)!,
    groups: link.capture,
  });
  if ((found !== null) === negated) return false;
  const searches = ['rx', 'pm', 'pmf', 'pmfromfile'].includes(operator);
  const captured = found ?? (searches ? null : [value]);
  if (link.capture && captured !== null) {
    for (let group = 0; group <= 9; group++) run.tx.delete(String(group));
    for (const [group, text] of captured.slice(0, 10).entries()) run.tx.set(String(group), text);
  }
  return true;
}

/** What a link does each time it holds for a value, whatever the rest of its chain says; gives what that adds to the score. */
function act(run: Run, rule: Rule, { targets, setVars, controls }: Link): number {
  let added = 0;
  for (const setVar of setVars) {
    if (targets === null && rule.links.length === 1 && isGiven(setVar)) continue;
    added += assign(run.tx, setVar, { scores: run.scores, macros: macros(run, rule) });
  }
  for (const control of controls) obey(run, control);
  return added;
}

function obey(run: Run, control: string): void {
  const [, name = '', value = ''] = /^\s*(\w+)\s*=\s*(.*?)\s*$/s.exec(control)!;
  const action = name.toLowerCase();
  const [subject = '', target = ''] = value.split(/;(.*)/s);
  const removal = /^ruleremove(target)?by(id|tag|msg)$/.exec(action);
  if (removal !== null) {
    const by = removal[2] as 'id' | 'tag' | 'msg';
    const of = (rule: Rule): boolean => isNamed(rule, by, subject.trim());
    if (removal[1] === undefined) run.removed.push(of);
    else run.removedTargets.push({ of, target: parseTargets(target).targets[0]! });
  }
  if (action === 'ruleengine') run.engine = value.toLowerCase();
  if (action === 'forcerequestbodyvariable') run.state.forced = value.toLowerCase() === 'on';
  if (action === 'decoderequestbody') run.state.decodes = value.toLowerCase() === 'on';
  if (action === 'requestbodyprocessor') {
    run.state.processor = value.toUpperCase() as RequestState['processor'];
  }
}

/** What `%{…}` stands for; `undefined`: nothing that is known. */
function macros(run: Run, rule: Rule): (variable: string, name: string | null) => string | undefined {
  return (variable, name) => {
    if (variable === 'RULE') return { id: String(rule.id), msg: rule.message }[name ?? ''] ?? '';
    if (variable === 'TX' && name === null) return '';
    const wanted = name?.toLowerCase();
    return (
      variableOf(run, variable).find((one) => wanted === undefined || one.name.toLowerCase() === wanted)
        ?.value ?? ''
    );
  };
}
