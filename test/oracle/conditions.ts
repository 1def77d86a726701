/** Whether the conditions of a rule hold for a request (semantics §12). Every member must; a member that is absent asks nothing. */
import type { Conditions, ValueCondition } from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import { listed } from './filters.ts';
import { covers } from './ip.ts';
import { isFingerprint } from './patterns.ts';
import { compares, cookieValues, headerValues, queryValues, type ReadValue, valueHolds } from './values.ts';

/** Whether the rule of an earlier phase that an entry of `tags` names has tagged the request. */
export type Tagged = (entry: string) => boolean;

/** A member with both lists; either may be absent. */
interface Inclusion<Entry> {
  readonly includes?: readonly Entry[] | undefined;
  readonly excludes?: readonly Entry[] | undefined;
}

/** `has` says whether the request's fact is of the entry, which an unknown fact never is. */
function inclusionHolds<Entry>(
  member: Inclusion<Entry> | undefined,
  has: (entry: Entry) => boolean,
): boolean {
  if (member === undefined) return true;
  const { includes, excludes } = member;
  return (includes === undefined || includes.some(has)) && (excludes === undefined || !excludes.some(has));
}

function tokenHolds(member: readonly string[] | undefined, token: unknown): boolean {
  return member === undefined || member.some((one) => one === token);
}

function botHolds({ bot_kinds, verified_bot }: Conditions, bot: Facts['bot']): boolean {
  const verified = bot?.verified === true;
  return (
    inclusionHolds(bot_kinds, (kind) => bot !== null && (kind === '*' || kind === bot.kind)) &&
    (verified_bot === undefined || verified_bot === verified)
  );
}

function all(member: readonly ValueCondition[] | undefined, find: (name: string) => ReadValue[]): boolean {
  return (member ?? []).every((condition) => valueHolds(condition, find(condition.name)));
}

/** Whether all members hold. */
export function conditionsHold(conditions: Conditions | undefined, facts: Facts, tagged: Tagged): boolean {
  if (conditions === undefined) return true;
  const { request, ip, country, asn, ja4, query } = facts;
  const { headers } = request;
  const agents = headerValues(headers, 'user-agent');
  const any = (entry: string, has: (one: string) => boolean) => listed(entry, facts).some(has);
  const agent = { comparison: 'wildcard', ignoreCase: true } as const;
  return (
    tokenHolds(conditions.methods, facts.method) &&
    !(conditions.except_methods ?? []).some((one) => one === facts.method) &&
    tokenHolds(conditions.schemes, facts.scheme) &&
    inclusionHolds(conditions.ips, (entry) => ip !== null && any(entry, (one) => covers(one, ip))) &&
    inclusionHolds(conditions.countries, (entry) => any(entry, (one) => one === country)) &&
    inclusionHolds(conditions.asns, (entry) => any(String(entry), (one) => one === String(asn))) &&
    botHolds(conditions, facts.bot) &&
    inclusionHolds(conditions.ja4, (entry) => isFingerprint(entry, ja4)) &&
    inclusionHolds(conditions.user_agents, (entry) =>
      any(entry, (one) => agents.some((line) => compares(line, one, agent))),
    ) &&
    inclusionHolds(conditions.tags, tagged) &&
    all(conditions.headers, (name) => headerValues(headers, name)) &&
    all(conditions.query, (name) => queryValues(query, name)) &&
    all(conditions.cookies, (name) => cookieValues(headers, name))
  );
}
