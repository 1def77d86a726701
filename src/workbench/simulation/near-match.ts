/**
 * Finds a request near the given one that a rule matches. It changes only what the rule's failing checks read, and
 * simulates every proposal, so a reported request is known to match.
 */
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { CheckName, CheckTrace, Trace } from '../../engine/evaluator/trace.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { PathFilter, Rule, RuleSet } from '../../rules/model/types.ts';
import { ruleTrace } from './describe.ts';
import type { RuleNote } from './document.ts';
import { type Choices, conditionChoices } from './near-conditions.ts';
import { withEntries } from './near-lists.ts';
import { joinedProposals, type Proposal, stated } from './near-request.ts';
import { type VisitorFact, visitorChoices } from './near-visitor.ts';
import { classified, fixedEvaluator, type SimulatedRequest, type SimulationSubject } from './simulate.ts';

/** Simulations without, and with, what else the request states; each evaluates the whole plan. */
const MOST_RUNS = 48;
/** The number of proposals per check. */
const FEW = 4;

/** Hosts of the rule's filter, and of the records in its scope. */
function hostProposals(rule: Rule, ruleSet: RuleSet): readonly Proposal[] {
  const scoped = ruleSet.records.filter(
    (record) => record.proxied && (rule.record_ids.length === 0 || rule.record_ids.includes(record.id)),
  );
  const names = scoped.flatMap((record) => absoluteName(record.name, ruleSet.domain.name) ?? []);
  const listed = rule.host_match_type === 'regex' ? [] : [...rule.host_includes, rule.host_pattern];
  const hosts = [...listed, ...names]
    .filter((host) => host !== '')
    .map((host) => host.replaceAll('*', 'www'));
  return [...new Set(hosts)].slice(0, FEW).map((host) => ({ host }));
}

/**
 * A text that the entry may match: a wildcard's stars become empty or a letter, a regex loses its anchors and
 * escapes.
 */
function pathTexts(entry: string, regex: boolean): readonly string[] {
  if (!regex) return [entry.replaceAll('*', ''), entry.replaceAll('*', 'x')];
  const bare = entry.replace(/^\^/, '').replace(/\$$/, '');
  const plain = bare.replace(/\(?\.[*+]\)?/g, 'x').replace(/\\(.)/g, '$1');
  return [plain.startsWith('/') ? plain : `/${plain}`];
}

/** Paths of the rule's filter, percent-encoded. */
function pathProposals(filter: PathFilter): readonly Proposal[] {
  const regex = filter.path_match_type === 'regex';
  const entries = filter.path_includes.length === 0 ? ['/'] : filter.path_includes;
  const paths = entries.slice(0, FEW).flatMap((entry) => pathTexts(entry, regex));
  return [...new Set(paths)]
    .map((path) => (path.startsWith('/') ? path : `/${path}`))
    .map((path) => ({
      path: encodeURI(path.replace(/\p{Surrogate}/gu, '\ufffd'))
        .replaceAll('?', '%3F')
        .replaceAll('#', '%23'),
    }));
}

/** The fact of the visitor that a check reads. */
const VISITOR_FACTS: Readonly<Partial<Record<CheckName, VisitorFact>>> = {
  country: 'country',
  ip: 'ip',
  kind: 'bot',
  verified: 'bot',
  ja4: 'ja4',
  ja4h: 'ja4h',
  asn: 'asn',
};

/** What a search for a match knows. */
interface Sought {
  readonly ruleSet: RuleSet;
  /** The trace of the request that was asked. */
  readonly trace: Trace;
}

/** For each thing that must change for a rule to match, the proposals; one without any cannot be changed. */
function choicesFor(written: Rule, checks: readonly CheckTrace[], sought: Sought): readonly Choices[] {
  const rule = withEntries(written, sought.ruleSet.lists ?? []);
  const failed = new Set(checks.filter(({ pass }) => pass !== true).map(({ check }) => check));
  const facts = new Set([...failed].flatMap((check) => VISITOR_FACTS[check] ?? []));
  const { bot } = sought.trace.facts;
  return [
    ...(failed.has('enabled') ? [[]] : []),
    ...(failed.has('scope') || failed.has('host') ? [hostProposals(rule, sought.ruleSet)] : []),
    ...(failed.has('path') ? ['path_includes' in rule ? pathProposals(rule) : []] : []),
    ...[...facts].map((fact) => visitorChoices(rule, fact, bot)),
    ...(rule.conditions === undefined ? [] : conditionChoices(rule.conditions, checks)),
    ...tagChoices(rule, checks, sought),
  ];
}

/** What the rules need that give the request the tags of the rule's conditions. */
function tagChoices(rule: Rule, checks: readonly CheckTrace[], sought: Sought): readonly Choices[] {
  const { includes, excludes } = rule.conditions?.tags ?? {};
  const failed = checks.filter(({ check, pass }) => check === 'tag' && pass !== true);
  const isExcluded = failed.some(({ entry }) => entry?.startsWith('conditions.tags.excludes') === true);
  if (excludes !== undefined && isExcluded) return [[]];
  if (includes === undefined) return [];
  const tagging = includes.flatMap((tag) => taggingRule(tag, sought.ruleSet) ?? []);
  const traces = tagging.map((one) => ruleTrace(sought.trace.phases, one));
  const given = traces.findIndex((one) => one?.outcome === 'matched');
  const place = Math.max(0, given);
  const [chosen, trace] = [tagging[place], traces[place]];
  if (chosen === undefined || trace === undefined) return [[]];
  return choicesFor(chosen, trace.checks, sought);
}

/** The rule of a tag: `<type>/<id>`, `<type>/<key>` or a key. */
function taggingRule(tag: string, { rules, keys }: RuleSet): Rule | undefined {
  return rules.find(({ type, id }) => {
    const key = keys?.rules.get(id);
    return tag === `${type}/${id}` || (key !== undefined && (tag === key || tag === `${type}/${key}`));
  });
}

/** All combinations of one proposal for each thing that must change, up to `MOST_RUNS`. */
function combinations(lists: readonly Choices[]): readonly Proposal[] {
  let combined: readonly Proposal[] = [{}];
  for (const list of lists)
    combined = combined
      .flatMap((left) => list.map((right) => joinedProposals(left, right)))
      .slice(0, MOST_RUNS);
  return combined;
}

/**
 * Returns the command-line arguments of a request near `asked` that the rule matches; `null` when none was found,
 * or when the rule's fields are unknown. What the request states besides its URL is repeated only if the rule needs it.
 */
export function nearMatch(
  subject: SimulationSubject,
  asked: SimulatedRequest,
  failed: RuleNote,
): string | null {
  const { ruleSet } = subject;
  const rule = ruleSet?.rules.find(
    (candidate) => candidate.id === failed.id && candidate.type === failed.type,
  );
  if (ruleSet === null || rule === undefined || failed.outcome !== 'skipped') return null;
  if (failed.checks.every(({ pass }) => pass === true)) return null;
  const { request } = classified(subject, asked);
  const trace = fixedEvaluator(subject, asked.world).explain(request);
  const lists = choicesFor(rule, failed.checks, { ruleSet, trace });
  if (lists.some((list) => list.length === 0)) return null;
  for (const whole of [false, true]) {
    for (const proposal of combinations(lists)) {
      const tried = stated(proposal, request, whole);
      if (tried !== null && isMatched(rule, tried.request, { subject, asked })) return tried.words;
    }
  }
  return null;
}

/** Whether the rule matches a request, or would if the response had the status. */
function isMatched(
  rule: Rule,
  request: EdgeRequest,
  { subject, asked }: { readonly subject: SimulationSubject; readonly asked: SimulatedRequest },
): boolean {
  const tried = classified(subject, { ...asked, request });
  const { phases } = fixedEvaluator(subject, asked.world).explain(tried.request);
  const outcome = ruleTrace(phases, rule)?.outcome;
  return outcome === 'matched' || outcome === 'conditional';
}
