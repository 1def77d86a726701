/**
 * Finds operations that another gateway takes the requests of, and paths that differ from a base path in letter case alone, whose
 * requests come to no gateway. In: enabled rules. Out: findings.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { parseTemplate } from '../../../base/paths/path-template.ts';
import { gatewayBase } from '../../../engine/compiler/draft.ts';
import { isContentAddressed } from '../../../engine/evaluator/identity.ts';
import type { GatewayRule, Rule, RuleSet } from '../../../rules/model/types.ts';
import {
  admitsPath,
  coversHostsOf,
  hasPaths,
  inScope,
  mayAdmit,
  type PathRule,
  pathIncludes,
} from './filters.ts';
import type { Finding, LintContext } from './finding.ts';
import { gatewaysAmong, nameOf } from './gateways.ts';

/** Checks the base paths of enabled gateways. */
export function lintBasePaths({ enabled, zone, ruleSet, paths }: LintContext): readonly Finding[] {
  const gateways = gatewaysAmong(enabled);
  const enforced = gateways.filter(({ action_mode }) => action_mode === 'enforce');
  if (enforced.length === 0) return [];
  const closed = enforced.filter(({ auth }) => auth.require !== 'none');
  const around = { enforced, closed, zone, ruleSet, paths };
  return [
    ...gateways.flatMap((gateway) => takenOperations(gateway, around)),
    ...closed.flatMap((gateway) => caseOfGateway(gateway, around)),
    ...enabled.filter(hasPaths).flatMap((rule) => casesOfRule(rule, around)),
  ];
}

/** The enforced gateways of a domain, with its hosts. */
interface Around extends Pick<LintContext, 'zone' | 'ruleSet' | 'paths'> {
  readonly enforced: readonly GatewayRule[];
  /** Those that require credentials. */
  readonly closed: readonly GatewayRule[];
}

/** Operations below the longer base path of another gateway, which takes every request there. */
function takenOperations(gateway: GatewayRule, { enforced, zone, ruleSet }: Around): readonly Finding[] {
  const base = gatewayBase(gateway);
  const below = enforced.filter(
    (other) =>
      gatewayBase(other).startsWith(`${base}/`) &&
      other.conditions === undefined &&
      coversHostsOf(zone, other, gateway),
  );
  if (below.length === 0) return [];
  return gateway.operations.flatMap((operation, index): readonly Finding[] => {
    const start = `${base}/${literalStart(operation.path).join('/')}`;
    const taking = below.find((other) => isBelow(start, gatewayBase(other)));
    if (taking === undefined) return [];
    return [
      {
        rule: gateway,
        field: ['operations', index],
        code: 'unreachable_operation',
        severity: 'warning',
        message: `is never reached: \`${nameIn(ruleSet, taking)}\` takes every request below \`${taking.base_path}\`, since of several gateways the longest base path wins`,
        found: quoteValue(nameOf(operation)),
        remedy: 'move the operation to that gateway, or remove it',
      },
    ];
  });
}

/** The segments of a template before the first that has a parameter. */
function literalStart(template: string): readonly string[] {
  const parsed = parseTemplate(template);
  if (!parsed.ok) return [];
  const open = parsed.segments.findIndex(({ texts }) => texts.length > 1);
  const literal = open < 0 ? parsed.segments : parsed.segments.slice(0, open);
  return literal.map(({ texts }) => texts[0]!);
}

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`);
}

/** A base path that differs from that of an earlier gateway in letter case alone: other spellings come to neither. */
function caseOfGateway(gateway: GatewayRule, around: Around): readonly Finding[] {
  const base = gatewayBase(gateway);
  const earlier = around.closed.slice(0, around.closed.indexOf(gateway));
  const other = earlier.find(
    (one) => isOtherCase(gatewayBase(one), base) && sharesHost(one, gateway, around),
  );
  if (other === undefined || isTaken(base.slice(0, base.lastIndexOf('/')), gateway, around)) return [];
  return [
    {
      rule: gateway,
      field: ['base_path'],
      ...CASE,
      message: `differs from the base path of \`${nameIn(around.ruleSet, other)}\` in letter case alone: requests with a third spelling come to neither gateway, and reach the origin without credentials`,
      found: quoteValue(gateway.base_path),
      remedy: 'drop the other spellings with a regex that has `(?i)`',
    },
  ];
}

const CASE = { code: 'base_path_case', severity: 'warning' } as const;

/** Whether two base paths differ in letter case alone. */
function isOtherCase(one: string, other: string): boolean {
  return one !== other && one.toLowerCase() === other.toLowerCase();
}

/** Rules that answer requests themselves, so that none of their requests reaches the origin. */
const ANSWERING: readonly Rule['type'][] = ['drop', 'redirect'];

/** Entries of a rule below a base path in another letter case, whose requests pass the gateway. */
function casesOfRule(rule: PathRule, around: Around): readonly Finding[] {
  if (ANSWERING.includes(rule.type)) return [];
  return pathIncludes(rule).flatMap((entry): readonly Finding[] => {
    const start = entry.glob?.[0] ?? '';
    const gateway = around.closed.find((one) => {
      const base = gatewayBase(one);
      const own = start.slice(0, base.length);
      const ends = start.length === base.length || start[base.length] === '/';
      return isOtherCase(own, base) && ends && sharesHost(one, rule, around);
    });
    if (gateway === undefined || isTaken(start, rule, around) || isAnswered(start, rule, around)) return [];
    const name = nameIn(around.ruleSet, gateway);
    return [
      {
        rule,
        field: entry.field,
        ...CASE,
        message: `differs from the base path of \`${name}\` in letter case alone: its requests do not come to that gateway, and reach the origin without credentials`,
        found: quoteValue(entry.text),
        remedy: `write \`${gateway.base_path}\` as the gateway does, or drop the other spellings`,
      },
    ];
  });
}

/** Whether a rule about paths answers requests with a path itself. */
function isAnswered(path: string, rule: Rule, { paths, zone }: Around): boolean {
  return ANSWERING.flatMap((type) => paths.candidates(type, path)).some(
    (other) =>
      hasPaths(other) &&
      pathIncludes(other).length > 0 &&
      admitsPath(other, path) &&
      coversHostsOf(zone, other, rule),
  );
}

/** Whether an enforced gateway that may share a host with a rule takes a path. */
function isTaken(path: string, rule: Rule, around: Around): boolean {
  return around.enforced.some((one) => isBelow(path, gatewayBase(one)) && sharesHost(one, rule, around));
}

/** Whether two rules may act on requests of one host, as far as single names say. */
function sharesHost(one: Rule, other: Rule, { zone }: Pick<Around, 'zone'>): boolean {
  const hosts = inScope(zone, other).filter((served) => mayAdmit(other, served));
  return inScope(zone, one).some((served) => hosts.includes(served) && mayAdmit(one, served));
}

/** `<type>/<key>`, or `<type>/<id>` if its author gave it no key. */
function nameIn({ keys }: RuleSet, { type, id }: Rule): string {
  const key = keys?.rules.get(id);
  return `${type}/${key === undefined || isContentAddressed(key) ? id : key}`;
}
