/**
 * What is written first when nothing is compiled: every rule of every request goes through micromatch and ipaddr.js,
 * as their documentation shows. The visitor's address is parsed once per request.
 */
import ipaddr from 'ipaddr.js';
import micromatch from 'micromatch';
import { classifyUserAgent } from '../../src/base/text/user-agent.ts';
import { BOT_KINDS } from '../../src/base/vocabulary/vocabulary.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { Rule, RuleSet } from '../../src/rules/model/types.ts';
import type { Answer } from '../harness/answer.ts';
import { phasesOf, scan } from './scan.ts';

/** The options under which micromatch's `*` is ours: any run of characters, `/` included, and nothing else special. */
const GLOB = { bash: true, dot: true, nonegate: true, noext: true, nobrace: true };

interface NaiveFacts {
  readonly host: string;
  readonly path: string;
  readonly ip: ipaddr.IPv4 | ipaddr.IPv6;
  readonly country: string;
  readonly bot: string;
  readonly ja4: string;
  readonly records: readonly number[];
}

/** Answers requests rule by rule, with nothing prepared. */
export function naiveScan(ruleSet: RuleSet): (request: EdgeRequest) => Answer {
  const phases = phasesOf<NaiveFacts>(ruleSet, (rule) => (facts) => matches(rule, facts));
  const { name: domain } = ruleSet.domain;
  return (request) => {
    const host = request.host as string;
    const kind = classifyUserAgent(request.headers!['user-agent'] as string);
    const records = ruleSet.records.filter(
      ({ name }) => (name === '@' ? domain : `${name}.${domain}`) === host,
    );
    return scan(phases, {
      host,
      path: request.target.split('?')[0]!,
      ip: ipaddr.process(request.ip!),
      country: request.country ?? '',
      bot: kind < 0 ? '' : BOT_KINDS[kind]!,
      ja4: request.ja4 ?? '',
      records: records.map(({ id }) => id),
    });
  };
}

function matches(rule: Rule, facts: NaiveFacts): boolean {
  if (rule.record_ids.length > 0 && !facts.records.some((id) => rule.record_ids.includes(id))) return false;
  if (rule.type === 'drop' && !visitorMatches(rule, facts)) return false;
  if (rule.type === 'fingerprint' && !rule.match_ja4.includes(facts.ja4)) return false;
  if (rule.type === 'bot_route') {
    const { bot } = facts;
    if (bot === '' || !rule.bot_kinds.some((kind) => kind === '*' || kind === bot)) return false;
  }
  if (!textMatches(facts.host, rule.host_includes, rule.host_excludes)) return false;
  if (!('path_includes' in rule)) return true;
  if (rule.path_match_type === 'wildcard')
    return textMatches(facts.path, rule.path_includes, rule.path_excludes);
  return rule.path_includes.some((source) => new RegExp(source, 's').test(facts.path));
}

function textMatches(text: string, includes: readonly string[], excludes: readonly string[]): boolean {
  if (includes.length > 0 && !micromatch.isMatch(text, includes, GLOB)) return false;
  return excludes.length === 0 || !micromatch.isMatch(text, excludes, GLOB);
}

function visitorMatches(rule: Extract<Rule, { type: 'drop' }>, facts: NaiveFacts): boolean {
  if (rule.countries.length > 0 && !rule.countries.includes(facts.country)) return false;
  return rule.ips.length === 0 || rule.ips.some((entry) => covers(entry, facts.ip));
}

function covers(entry: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (!entry.includes('/')) return ipaddr.parse(entry).toString() === address.toString();
  const [base, bits] = ipaddr.parseCIDR(entry);
  return base.kind() === address.kind() && address.match(base, bits);
}
