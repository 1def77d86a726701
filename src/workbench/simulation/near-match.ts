/**
 * Finds a request near the given one that a rule matches. It changes only what the rule's failing checks read, and
 * simulates every proposal, so a reported request is known to match.
 */
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { CheckName } from '../../engine/evaluator/trace.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { PathFilter, Rule, RuleSet } from '../../rules/model/types.ts';
import { ruleTrace } from './describe.ts';
import type { RuleNote } from './document.ts';
import { shellWord } from './render-text.ts';
import { classified, fixedEvaluator, type SimulatedRequest, type SimulationSubject } from './simulate.ts';

/** The largest number of simulations; each evaluates the whole plan. */
const MOST_RUNS = 48;
/** The number of proposals per check. */
const FEW = 4;

/** A change of the request. */
interface Proposal {
  readonly host?: string;
  readonly path?: string;
  /** Facts besides the URL. */
  readonly facts?: Partial<EdgeRequest>;
  /** The flags of `simulate` that state these facts. */
  readonly flags?: readonly string[];
}

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

/** An autonomous system of the list, or a number for documentation (RFC 5398) that is not excluded. */
function asnProposals({ conditions }: Rule): readonly Proposal[] {
  const { includes, excludes = [] } = conditions?.asns ?? {};
  const candidates = includes ?? Array.from({ length: 16 }, (_, at) => 64_496 + at);
  const asn = candidates.find((number) => !excludes.includes(number));
  return asn === undefined ? [] : [{ facts: { asn }, flags: [`--asn ${asn}`] }];
}

/** A country of the list, or one outside an allowlist. */
function countryProposals(rule: Rule): readonly Proposal[] {
  if (!('countries' in rule) || rule.countries.length === 0) return [];
  const outside = ['US', 'DE', 'JP', 'BR', 'ZA'].filter((code) => !rule.countries.includes(code));
  const codes = rule.country_match_type === 'include' ? rule.countries : outside;
  return codes.slice(0, 1).map((country) => ({ facts: { country }, flags: [`--country ${country}`] }));
}

/** Addresses of the documentation blocks (RFC 5737, RFC 3849), for rules that exclude their own list. */
const ELSEWHERE = ['203.0.113.7', '198.51.100.7', '2001:db8::7'];

/** An address of the list, or one outside an allowlist. */
function addressProposals(rule: Rule): readonly Proposal[] {
  if (!('ips' in rule) || rule.ips.length === 0) return [];
  const listed = rule.ips.map((entry) => entry.replace(/[/-].*$/, ''));
  const addresses = rule.ip_match_type === 'include' ? listed.slice(0, 2) : ELSEWHERE;
  return addresses.map((ip) => ({ facts: { ip }, flags: [`--ip ${ip}`] }));
}

/** A bot of the list, verified if the rule requires it. */
function botProposals(rule: Rule): readonly Proposal[] {
  if (!('bot_kinds' in rule)) return [];
  const listed = rule.bot_kinds.find((kind) => kind !== '*') ?? 'gptbot';
  const bot = { kind: listed, verified: rule.require_verified };
  return [{ facts: { bot }, flags: [`--bot ${bot.kind}${bot.verified ? ':verified' : ''}`] }];
}

/** A fingerprint of the list, without its star. */
function fingerprintProposals(rule: Rule, field: 'ja4' | 'ja4h'): readonly Proposal[] {
  if (!('match_ja4' in rule)) return [];
  const listed = field === 'ja4' ? rule.match_ja4 : rule.match_ja4h;
  return listed.slice(0, 1).map((entry) => {
    const value = entry.replace(/\*$/, '');
    return { facts: { [field]: value }, flags: [`--${field} ${shellWord(value)}`] };
  });
}

/** The proposals for one failing check. */
function proposalsFor(check: CheckName, rule: Rule, ruleSet: RuleSet): readonly Proposal[] {
  switch (check) {
    case 'enabled':
      return [];
    case 'scope':
    case 'host':
      return hostProposals(rule, ruleSet);
    case 'path':
      return 'path_includes' in rule ? pathProposals(rule) : [];
    case 'country':
      return countryProposals(rule);
    case 'ip':
      return addressProposals(rule);
    case 'kind':
    case 'verified':
      return botProposals(rule);
    case 'asn':
      return asnProposals(rule);
    case 'ja4':
    case 'ja4h':
      return fingerprintProposals(rule, check);
    case 'method':
    case 'scheme':
    case 'user_agent':
    case 'tag':
    case 'header':
    case 'query':
    case 'cookie':
      return [];
    default:
      return check satisfies never;
  }
}

/** All combinations of one proposal per failing check, up to `MOST_RUNS`. */
function combinations(lists: readonly (readonly Proposal[])[]): readonly Proposal[] {
  let combined: readonly Proposal[] = [{}];
  for (const list of lists) {
    combined = combined
      .flatMap((left) =>
        list.map((right) => ({
          ...left,
          ...right,
          facts: { ...left.facts, ...right.facts },
          flags: [...new Set([...(left.flags ?? []), ...(right.flags ?? [])])],
        })),
      )
      .slice(0, MOST_RUNS);
  }
  return combined;
}

/** The changed request, and the arguments of `simulate` that state it. */
function apply(proposal: Proposal, request: EdgeRequest): { request: EdgeRequest; words: string } {
  const host = proposal.host ?? String(request.host);
  const target = proposal.path ?? request.target;
  const url = shellWord(`${request.scheme}://${host}${target}`);
  const words = [url, ...(proposal.flags ?? [])].join(' ');
  return { request: { ...request, ...proposal.facts, host, target }, words };
}

/**
 * Returns the command-line arguments of a request near `asked` that the rule matches; `null` when none was found,
 * or when the rule's fields are unknown.
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
  const checks = failed.checks.filter((check) => check.pass !== true).map((check) => check.check);
  const lists = checks.map((check) => proposalsFor(check, rule, ruleSet));
  if (checks.length === 0 || lists.some((list) => list.length === 0)) return null;
  const { request } = classified(subject, asked);
  for (const proposal of combinations(lists)) {
    const tried = apply(proposal, request);
    const { phases } = fixedEvaluator(subject, asked.world).explain(tried.request);
    const outcome = ruleTrace(phases, rule)?.outcome;
    if (outcome === 'matched' || outcome === 'conditional') return tried.words;
  }
  return null;
}
