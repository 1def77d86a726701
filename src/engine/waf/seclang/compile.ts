/**
 * Compiles SecLang text to a signature program. In: configuration files, and a function that reads the data files
 * they name. Out: the program and diagnostics. Takes seconds for the OWASP Core Rule Set, so it runs ahead of time.
 * Stages: `parse.ts`, `compile.ts`, `specialise.ts` (for each paranoia level), `emit.ts`.
 */
import { type Diagnostic, hasErrors } from '../../../base/diagnostics/diagnostic.ts';
import type { SignatureProgram } from '../../plan/signature-program.ts';
import { type Amendments, amend, collectAmendments } from './amend.ts';
import type {
  Directive,
  DirectivePlace,
  DraftCondition,
  DraftRule,
  SignatureDraft,
  WrittenAction,
} from './draft.ts';
import { emitProgram, type LevelDraft } from './emit.ts';
import {
  type Defaults,
  gather,
  has,
  phaseOf,
  type RuleDirective,
  type RuleGroup,
  reportIgnoredActions,
  reportStateful,
  stateRead,
} from './gather.ts';
import { type LoweredActions, lowerActions } from './lower-actions.ts';
import { lowerOperator, type OperatorContext } from './lower-operator.ts';
import { lowerTargets, type OwnNames } from './lower-targets.ts';
import { parseSecLang } from './parse.ts';
import { createReport, type SecLangReport, type Source, type SourceReader } from './source.ts';
import { specialise } from './specialise.ts';

/** How to compile. */
export interface SignatureOptions {
  /** Returns the text of a data file as Latin-1, or `null` if it does not exist; `from` is the file that names it. */
  readonly readData: (file: string, from: string) => string | null;
  /** Reads the files of `Include`; without it, `Include` is an error. */
  readonly reader?: SourceReader;
  /** The program's name if the text has no `SecComponentSignature`; absent: the first file's name. */
  readonly name?: string;
  /** Gets how many characters of all patterns are compiled, after each pattern. */
  readonly onProgress?: (done: number, all: number) => void;
}

/** The result. */
export interface CompiledSignatures {
  /** `null` if and only if a diagnostic is an error. */
  readonly program: SignatureProgram | null;
  /** Of all stages, in the order of the stages; at most `MAX_DIAGNOSTICS`. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The paranoia levels. */
const LEVELS = [1, 2, 3, 4] as const;

/** Compiles the files of one signature set, in their order. */
export function compileSignatures(sources: readonly Source[], options: SignatureOptions): CompiledSignatures {
  const report = createReport();
  const { reader } = options;
  const parsed = parseSecLang(sources, reader === undefined ? {} : { reader });
  report.add(parsed.diagnostics);
  const draft = lowerDirectives(parsed.directives, report, { readData: options.readData });
  const stateful = new Set<DraftRule>();
  const levels = LEVELS.map((level) => specialise(draft, { level, report, stateful }));
  reportStateful([...stateful], report);
  const name = draft.name ?? options.name ?? sources[0]?.file ?? '';
  const { onProgress = () => undefined } = options;
  const program = emitProgram(levels, { name, report, onProgress });
  if (draft.responseRules > 0) {
    const rules = draft.responseRules === 1 ? '1 rule' : `${draft.responseRules} rules`;
    const message = `${rules} of phases 3 to 5 left out: signatures inspect requests only`;
    report.inform('responses_left_out', null, { message });
  }
  // With an error, a rule is missing for a reason of its own.
  if (!hasErrors(report.diagnostics)) reportUnmatched(draft.rules, levels, report);
  return { program: hasErrors(report.diagnostics) ? null : program, diagnostics: report.diagnostics };
}

/** Ids that one diagnostic lists at most: a line or two. */
const MOST_IDS = 20;

/** Reports the rules that are in no level, since no request matches them with the settings of the set. */
function reportUnmatched(
  rules: readonly DraftRule[],
  levels: readonly LevelDraft[],
  report: SecLangReport,
): void {
  const left = new Set(levels.flatMap((level) => level.rules.map(({ rule }) => rule.id)));
  const ids = rules.filter(({ id, reported }) => reported && !left.has(id)).map(({ id }) => id);
  if (ids.length === 0) return;
  const which = ids.length === 1 ? '1 rule that matches' : `${ids.length} rules that match`;
  const more = ids.length > MOST_IDS ? ` and ${ids.length - MOST_IDS} more` : '';
  const listed = `${ids.slice(0, MOST_IDS).join(', ')}${more}`;
  const message = `${which} no request with the settings of the set left out: ${listed}`;
  report.inform('unmatched_left_out', null, { message });
}

// Lowers directives to draft rules: resolves names, interprets actions, joins chains, applies defaults and updates,
// reads data files. Rules of phases 3 to 5 are counted and left out; anything else that is not supported is an
// error.

/** How to lower. */
export interface LowerOptions {
  readonly readData: OperatorContext['readData'];
}

/** The state of the pass. */
interface Lowering {
  readonly report: SecLangReport;
  /** `SignatureOptions.readData`. */
  readonly readData: OperatorContext['readData'];
  readonly amendments: Amendments;
  /** By id, the place of each rule so far. */
  readonly places: Map<number, DirectivePlace>;
}

/** Lowers the directives of one text. */
function lowerDirectives(
  directives: readonly Directive[],
  report: SecLangReport,
  options: LowerOptions,
): SignatureDraft {
  const { groups, markers, name } = gather(directives, report);
  const lowering: Lowering = {
    report,
    readData: options.readData,
    amendments: collectAmendments(directives, report),
    places: new Map(),
  };
  const rules: DraftRule[] = [];
  let responseRules = 0;
  for (const group of groups) {
    const [starter] = group.links;
    const id = readId(starter, lowering);
    const phase = phaseOf(starter.actions);
    if (phase >= 3) {
      responseRules++;
      continue;
    }
    const rule = id === null ? null : lowerGroup(group, { id, phase: phase === 1 ? 1 : 2 }, lowering);
    if (rule !== null) rules.push(rule);
  }
  reportIgnoredActions(directives, groups, report);
  const amended = amend(rules, lowering.amendments, { report, known: lowering.places });
  return { name, rules: amended, markers, responseRules };
}

/** The id of a rule; `null`: it has none, or it is malformed or not unique, which is reported. */
function readId({ actions, place }: RuleDirective, { report, places }: Lowering): number | null {
  const written = actions.find(({ name }) => name.toLowerCase() === 'id')?.value ?? null;
  if (written === null || !/^[1-9]\d{0,9}$/.test(written) || Number(written) > 0xffff_ffff) {
    report.error('id', place, {
      message: written === null ? 'the rule has no id' : 'an id is a whole number from 1 to 4294967295',
      ...(written === null ? {} : { found: written }),
      remedy: 'give each rule an `id` of its own',
    });
    return null;
  }
  const id = Number(written);
  const before = places.get(id);
  if (before !== undefined) {
    const message = `the id is taken by the rule at ${before.file}:${before.line}`;
    report.error('id_twice', place, { message, found: written, remedy: 'give each rule an `id` of its own' });
    return null;
  }
  places.set(id, place);
  return id;
}

/** The id and phase of a rule. */
interface Identity {
  readonly id: number;
  readonly phase: 1 | 2;
}

/** Lowers one rule. */
function lowerGroup(group: RuleGroup, { id, phase }: Identity, lowering: Lowering): DraftRule | null {
  const { report } = lowering;
  const [starter] = group.links;
  const defaults = group.defaults.get(phase) ?? { disruption: 'pass' as const, log: true, actions: [] };
  const own = ownNames(id, starter);
  const lists: LoweredActions[] = [];
  const conditions = group.links.map((directive, index) => {
    const { condition, actions } = lowerLink(
      directive,
      { defaults, own, updates: lowering.amendments.actions(id, index) },
      lowering,
    );
    lists.push(actions);
    if (index > 0) checkLink(actions, directive, report);
    return condition;
  });
  const [list] = lists as [LoweredActions];
  const written = list.disruption ?? defaults.disruption;
  const resolved = written === 'block' && defaults.disruption !== 'pass' ? defaults.disruption : written;
  const [first, ...rest] = conditions as [DraftCondition, ...DraftCondition[]];
  return {
    place: starter.place,
    order: group.order,
    id,
    phase,
    conditions: [first, ...rest],
    disruption: resolved === 'drop' ? 'deny' : resolved,
    skipAfter: list.skipAfter,
    readsState: stateRead(group),
    reported: list.log ?? defaults.log,
    message: list.message ?? [],
    logData: lists.findLast(({ logData }) => logData !== null)?.logData ?? [],
    severity: list.severity ?? -1,
    tags: list.tags,
    category: categoryOf(list.tags),
    paranoia: paranoiaOf(list.tags),
  };
}

/** The macros of a rule's own properties: `%{rule.id}`, `%{rule.msg}`, `%{rule.severity}`. */
function ownNames(id: number, { actions }: RuleDirective): OwnNames {
  const actionValue = (wanted: string): string => {
    return actions.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
  };
  return {
    'rule.id': String(id),
    'rule.msg': actionValue('msg'),
    'rule.severity': actionValue('severity'),
    'rule.logdata': '',
  };
}

/** What a link of a chain needs besides its directive. */
interface LinkContext {
  readonly defaults: Defaults;
  /** The macros of the rule's own properties. */
  readonly own: OwnNames;
  /** Actions added by `SecRuleUpdateActionById`. */
  readonly updates: readonly WrittenAction[];
}

/** Lowers one link of a chain. */
function lowerLink(
  directive: RuleDirective,
  { defaults, own, updates }: LinkContext,
  { report, readData, amendments }: Lowering,
): { readonly condition: DraftCondition; readonly actions: LoweredActions } {
  const { place } = directive;
  const all = [...defaults.actions, ...directive.actions, ...updates];
  const actions = lowerActions(all, { own, rules: amendments.finder, inherited: [] });
  const findings = [...actions.findings];
  const unsupported = [...actions.unsupported];
  const shared = {
    place,
    chain: actions.chain,
    capture: actions.capture,
    multiMatch: actions.multiMatch,
    setVars: actions.setVars,
    controls: actions.controls,
  };
  let condition: DraftCondition;
  if (directive.kind === 'action') {
    const operator = { kind: 'unconditionalMatch' } as const;
    condition = { ...shared, targets: null, operator, negated: false, unsupported };
  } else {
    const targets = lowerTargets(directive.targets);
    const operator = lowerOperator(directive.operator, { place, own, readData });
    findings.push(...targets.findings, ...operator.findings);
    unsupported.push(...targets.unsupported, ...operator.unsupported);
    condition = {
      ...shared,
      targets: targets.targets,
      operator: operator.operator,
      negated: directive.operator.negated,
      unsupported,
    };
  }
  for (const finding of findings) report.error('unsupported', place, finding);
  return { condition, actions };
}

/** Reports actions of a later link that only the first link may have. */
function checkLink(
  actions: LoweredActions,
  { place, actions: written }: RuleDirective,
  report: SecLangReport,
): void {
  const misplaced = [
    ...(actions.disruption === null
      ? []
      : [actions.disruption === 'allowPhase' ? 'allow:phase' : actions.disruption]),
    ...(actions.skipAfter === null ? [] : ['skipAfter']),
    ...(['id', 'phase'] as const).filter((name) => has(written, name)),
  ];
  for (const found of misplaced) {
    const remedy = 'move it to the rule that starts the chain';
    report.error('chained_action', place, {
      message: 'this action is allowed only in the first rule of a chain',
      found,
      remedy,
    });
  }
}

/** The category: the first tag `attack-…`, without this prefix; `''`: absent. */
function categoryOf(tags: readonly string[]): string {
  return tags.find((tag) => tag.startsWith('attack-'))?.slice('attack-'.length) ?? '';
}

/** The paranoia level of the tag `paranoia-level/…`; 1 without it. */
function paranoiaOf(tags: readonly string[]): number {
  const tag = tags.find((one) => /^paranoia-level\/[1-4]$/.test(one));
  return tag === undefined ? 1 : Number(tag.at(-1));
}
