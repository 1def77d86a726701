/**
 * A fair linear scan: every filter is compiled once to the cheapest closure for it (equality, prefix, suffix,
 * substring, pieces, V8's own regexes; addresses as numbers), and the cheapest filter of a rule is tried first.
 * Requests are read by the same parsers that the evaluator uses, so what is compared is the scan.
 */
import { parseIp, parseIpEntry } from '../../src/base/addresses/ip.ts';
import { parseTarget, type TargetFacts } from '../../src/base/paths/path.ts';
import { classifyUserAgent } from '../../src/base/text/user-agent.ts';
import { BOT_KINDS } from '../../src/base/vocabulary/vocabulary.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { Conditions, Rule, RuleSet, ValueCondition } from '../../src/rules/model/types.ts';
import type { Answer } from '../harness/answer.ts';
import { phasesOf, scan } from './scan.ts';

interface LinearFacts extends TargetFacts {
  request: EdgeRequest;
  host: string;
  /** Records of the host, by id. */
  records: readonly number[];
  family: number;
  readonly ip: Uint32Array;
  country: string;
  /** The bot's kind, or empty. */
  bot: string;
  ja4: string;
}

type Test = (facts: LinearFacts) => boolean;
type TextTest = (text: string) => boolean;

/** Answers requests by trying every rule in turn. The requests must be ones the gate lets through. */
export function linearScan(ruleSet: RuleSet): (request: EdgeRequest) => Answer {
  const phases = phasesOf<LinearFacts>(ruleSet, compileRule);
  const recordsOf = new Map<string, number[]>();
  for (const { name, id } of ruleSet.records) {
    const host = name === '@' ? ruleSet.domain.name : `${name}.${ruleSet.domain.name}`;
    recordsOf.set(host, [...(recordsOf.get(host) ?? []), id]);
  }
  const readsBots = phases.bot_route.length > 0;
  const facts = emptyFacts();
  return (request) => {
    facts.request = request;
    facts.host = request.host as string;
    const records = recordsOf.get(facts.host);
    if (records === undefined || parseTarget(request.target, facts) !== 0)
      throw new Error('refused at the gate');
    facts.records = records;
    facts.family = parseIp(request.ip ?? '', facts.ip);
    facts.country = request.country ?? '';
    facts.ja4 = request.ja4 ?? '';
    if (readsBots) {
      const kind = classifyUserAgent(request.headers!['user-agent'] as string);
      facts.bot = kind < 0 ? '' : BOT_KINDS[kind]!;
    }
    return scan(phases, facts);
  };
}

function emptyFacts(): LinearFacts {
  const target = {
    path: '',
    pathWithoutParameters: null,
    forwarded: '',
    query: null,
    encodedQuery: null,
    authority: null,
  };
  const visitor = { family: 0, ip: new Uint32Array(4), country: '', bot: '', ja4: '' };
  const request: EdgeRequest = { scheme: '', method: '', host: '', target: '' };
  return { ...target, request, authorityScheme: '', host: '', records: [], ...visitor };
}

function compileRule(rule: Rule): Test {
  const tests: Test[] = [];
  if (rule.type === 'drop') tests.push(...visitorTests(rule));
  if (rule.type === 'bot_route') {
    const kinds = new Set<string>(rule.bot_kinds);
    tests.push(
      kinds.has('*') ? (facts) => facts.bot !== '' : (facts) => facts.bot !== '' && kinds.has(facts.bot),
    );
  }
  if (rule.type === 'fingerprint') {
    const listed = anyOf(rule.match_ja4.map((entry) => wildcardTest(entry)));
    tests.push((facts) => listed(facts.ja4));
  }
  if (rule.record_ids.length > 0) {
    const ids = new Set(rule.record_ids);
    tests.push((facts) => facts.records.some((id) => ids.has(id)));
  }
  tests.push(...pathTests(rule), ...hostTests(rule), ...conditionTests(rule.conditions ?? {}));
  return allOf(tests);
}

/** The conditions that rule sets of the bench have. Each test reads query and cookies for itself. */
function conditionTests({
  methods,
  schemes,
  user_agents,
  headers = [],
  query = [],
  cookies = [],
}: Conditions): readonly Test[] {
  const tests: Test[] = [];
  if (methods !== undefined) tests.push(({ request }) => methods.includes(request.method));
  if (schemes !== undefined) tests.push(({ request }) => schemes.includes(request.scheme as 'http'));
  const agents = (entries: readonly string[]): Test => {
    const listed = anyOf(entries.map((entry) => wildcardTest(entry.toLowerCase())));
    return ({ request }) => listed((request.headers!['user-agent'] as string).toLowerCase());
  };
  if (user_agents?.includes !== undefined) tests.push(agents(user_agents.includes));
  if (user_agents?.excludes !== undefined) {
    const listed = agents(user_agents.excludes);
    tests.push((facts) => !listed(facts));
  }
  for (const one of headers)
    tests.push(valueTest(one, ({ request }) => request.headers![one.name] as string | undefined));
  for (const one of query) tests.push(valueTest(one, ({ query: text }) => part(text ?? '', '&', one.name)));
  for (const one of cookies)
    tests.push(
      valueTest(one, ({ request }) => part((request.headers!['cookie'] as string) ?? '', '; ', one.name)),
    );
  return tests;
}

/** The value of a name among `name=value` parts; those of the bench have no escapes. */
function part(text: string, separator: string, name: string): string | undefined {
  const found = text.split(separator).find((one) => one === name || one.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

function valueTest({ op, values }: ValueCondition, read: (facts: LinearFacts) => string | undefined): Test {
  if (op === 'present') return (facts) => read(facts) !== undefined;
  if (op === 'absent') return (facts) => read(facts) === undefined;
  const comparison = op.replace('not_', '');
  if (comparison !== 'equals' && comparison !== 'prefix') throw new Error(`the bench has no ${op}`);
  const listed = anyOf(values.map((value) => wildcardTest(comparison === 'prefix' ? `${value}*` : value)));
  const wanted = comparison === op;
  return (facts) => {
    const value = read(facts);
    return (value !== undefined && listed(value)) === wanted;
  };
}

function visitorTests(rule: Extract<Rule, { type: 'drop' }>): readonly Test[] {
  const tests: Test[] = [];
  if (rule.countries.length > 0) {
    const listed = new Set(rule.countries);
    const wanted = rule.country_match_type === 'include';
    tests.push((facts) => listed.has(facts.country) === wanted);
  }
  if (rule.ips.length > 0) {
    const listed = addressTest(rule.ips);
    const wanted = rule.ip_match_type === 'include';
    tests.push(wanted ? listed : (facts) => !listed(facts));
  }
  return tests;
}

function addressTest(entries: readonly string[]): Test {
  const ranges = entries.map((entry) => {
    const parsed = parseIpEntry(entry);
    if (!parsed.ok) throw new Error(`\`${entry}\` is no address`);
    return parsed;
  });
  const four = Uint32Array.from(
    ranges.filter(({ family }) => family === 4).flatMap(({ first, last }) => [first[0]!, last[0]!]),
  );
  const six = ranges.filter(({ family }) => family === 6);
  if (six.length === 0 && four.length === 2) {
    const [low, high] = four as unknown as [number, number];
    return (facts) => facts.family === 4 && facts.ip[0]! >= low && facts.ip[0]! <= high;
  }
  return (facts) => {
    if (facts.family === 4) {
      const address = facts.ip[0]!;
      for (let at = 0; at < four.length; at += 2)
        if (address >= four[at]! && address <= four[at + 1]!) return true;
      return false;
    }
    if (facts.family !== 6) return false;
    for (const { first, last } of six) {
      if (compare(facts.ip, first) >= 0 && compare(facts.ip, last) <= 0) return true;
    }
    return false;
  };
}

function compare(a: Uint32Array, b: Uint32Array): number {
  for (let word = 0; word < 4; word++) if (a[word] !== b[word]) return a[word]! - b[word]!;
  return 0;
}

function pathTests(rule: Rule): readonly Test[] {
  if (!('path_includes' in rule)) return [];
  const textTest = rule.path_match_type === 'regex' ? (entry: string) => regexTest(entry, 's') : wildcardTest;
  const tests: Test[] = [];
  const everything = rule.path_includes.length === 1 && rule.path_includes[0] === '/*';
  if (rule.path_includes.length > 0 && !everything) {
    const included = anyOf(rule.path_includes.map(textTest));
    tests.push((facts) => included(facts.path));
  }
  if (rule.path_excludes.length > 0) {
    const excluded = anyOf(rule.path_excludes.map(textTest));
    tests.push((facts) => !excluded(facts.path));
  }
  return tests;
}

function hostTests(rule: Rule): readonly Test[] {
  const regex = rule.host_match_type === 'regex';
  const textTest = regex ? (entry: string) => regexTest(entry, 'is') : wildcardTest;
  const tests: Test[] = [];
  if (rule.host_includes.length > 0) {
    const included = anyOf(rule.host_includes.map(textTest));
    tests.push((facts) => included(facts.host));
  }
  if (rule.host_excludes.length > 0) {
    const excluded = anyOf(rule.host_excludes.map(textTest));
    tests.push((facts) => !excluded(facts.host));
  }
  return tests;
}

/** V8's own regexes: fast on the bench's patterns, which are not out to make it backtrack. */
function regexTest(source: string, flags: string): TextTest {
  const regex = new RegExp(source, flags);
  return (text) => regex.test(text);
}

function wildcardTest(entry: string): TextTest {
  const pieces = entry.split('*');
  const head = pieces[0]!;
  const tail = pieces.at(-1)!;
  if (pieces.length === 1) return (text) => text === head;
  if (pieces.length === 2) {
    if (tail === '') return (text) => text.startsWith(head);
    if (head === '') return (text) => text.endsWith(tail);
    const least = head.length + tail.length;
    return (text) => text.length >= least && text.startsWith(head) && text.endsWith(tail);
  }
  const inner = pieces.slice(1, -1);
  const [only] = inner;
  if (head === '' && tail === '' && inner.length === 1) return (text) => text.includes(only!);
  return (text) => {
    const end = text.length - tail.length;
    if (head.length > end || !text.startsWith(head) || !text.endsWith(tail)) return false;
    let at = head.length;
    for (const piece of inner) {
      const found = text.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return at <= end;
  };
}

function anyOf(tests: readonly TextTest[]): TextTest {
  const [only, second] = tests;
  if (tests.length === 1) return only!;
  if (tests.length === 2) return (text) => only!(text) || second!(text);
  return (text) => {
    for (const test of tests) if (test(text)) return true;
    return false;
  };
}

function allOf(tests: readonly Test[]): Test {
  const [only, second] = tests;
  if (tests.length === 0) return () => true;
  if (tests.length === 1) return only!;
  if (tests.length === 2) return (facts) => only!(facts) && second!(facts);
  return (facts) => {
    for (const test of tests) if (!test(facts)) return false;
    return true;
  };
}
