/**
 * Finds objects of the registry that very likely do something else than meant: consumers that may call less than their `acl` says or
 * have no credentials, what has expired, and what no gateway names. In: gateways and the registry. Out: findings with their places in
 * the lists. What a gateway names counts although the gateway is disabled.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { nearest } from '../../../rules/model/nearest.ts';
import { isLive } from '../../../rules/model/registry/consumer.ts';
import type { Consumer, GatewayRule, Registry } from '../../../rules/model/types.ts';
import type { LintContext, ObjectFinding } from './finding.ts';
import { gatewaysAmong, hasLiveKey, isActive, namesOf, takesConsumer } from './gateways.ts';

/** Checks the registry of a rule set. */
export function lintRegistry({ ruleSet, registry, now }: LintContext): readonly ObjectFinding[] {
  if (registry === null) return [];
  const expired = expiries(registry, now);
  const gateways = gatewaysAmong(ruleSet.rules);
  // A domain may have its consumers before its first gateway.
  if (gateways.length === 0) return expired;
  return [
    ...unknownEntries(registry, gateways),
    ...unusedScopes(registry, gateways),
    ...withoutCredentials(registry, gateways, now),
    ...expired,
    ...unnamed(registry, gateways),
  ];
}

/** Entries of a consumer's list that no operation has: the first, with the number of the others. */
function unknownIn(
  entries: readonly string[],
  known: ReadonlySet<string>,
): { readonly index: number; readonly found: string; readonly more: number } | null {
  const unknown = entries.filter((entry) => !known.has(entry));
  const [found] = unknown;
  return found === undefined ? null : { index: entries.indexOf(found), found, more: unknown.length - 1 };
}

/** Entries of an acl that name no operation. A gateway without operations may get any. */
function unknownEntries({ consumers }: Registry, gateways: readonly GatewayRule[]): readonly ObjectFinding[] {
  if (gateways.some(({ operations }) => operations.length === 0)) return [];
  const known = new Set(gateways.flatMap(({ operations }) => operations.flatMap(namesOf)));
  return consumers.flatMap(({ acl }, consumer): readonly ObjectFinding[] => {
    const unknown = unknownIn(acl, known);
    if (unknown === null) return [];
    const { index, found, more } = unknown;
    const others = more === 0 ? '' : `, as ${more} more of the list`;
    const effect =
      more + 1 === acl.length ? ': the consumer may call no operation that needs credentials' : '';
    const meant = nearest(found, known);
    return [
      {
        path: ['consumers', consumer, 'acl', index],
        code: 'unknown_acl_entry',
        severity: 'warning',
        message: `is no id or tag of an operation of any gateway${others}${effect}`,
        found: quoteValue(found),
        remedy: meant === null ? 'name an operation, or remove it' : `did you mean \`${meant}\`?`,
      },
    ];
  });
}

/** Scopes of consumers that no operation asks for. */
function unusedScopes({ consumers }: Registry, gateways: readonly GatewayRule[]): readonly ObjectFinding[] {
  const asked = new Set(
    gateways.flatMap(({ operations }) => operations.flatMap(({ scopes }) => scopes ?? [])),
  );
  return consumers.flatMap(({ scopes }, consumer): readonly ObjectFinding[] => {
    const unknown = unknownIn(scopes, asked);
    if (unknown === null) return [];
    const { index, found, more } = unknown;
    const meant = nearest(found, asked);
    return [
      {
        path: ['consumers', consumer, 'scopes', index],
        code: 'unused_scope',
        severity: 'info',
        message: `is asked for by no operation${more === 0 ? '' : `, as ${more} more of the list`}`,
        found: quoteValue(found),
        remedy: meant === null ? 'remove it' : `did you mean \`${meant}\`?`,
      },
    ];
  });
}

/** Consumers without a valid key where no gateway takes other credentials of them. */
function withoutCredentials(
  { consumers }: Registry,
  gateways: readonly GatewayRule[],
  now: number,
): readonly ObjectFinding[] {
  const enabled = gateways.filter((gateway) => gateway.enabled);
  if (enabled.length === 0 || enabled.some(takesOthers)) return [];
  return consumers.flatMap((consumer, index): readonly ObjectFinding[] => {
    if (!isActive(consumer, now) || hasLiveKey(consumer, now)) return [];
    return [
      {
        path: ['consumers', index, 'username'],
        code: 'consumer_without_credentials',
        severity: 'warning',
        message: 'has no key that is valid, and no gateway takes tokens or client certificates without one',
        found: quoteValue(consumer.username),
        remedy: 'add a key, or remove the consumer',
      },
    ];
  });
}

/** Whether a gateway takes credentials other than a key. Where an operation needs none, one of several kinds is enough. */
function takesOthers(gateway: GatewayRule): boolean {
  const { auth, operations } = gateway;
  const isOpen = auth.require === 'none' || operations.some((operation) => operation.auth === 'none');
  return takesConsumer(isOpen ? { ...gateway, auth: { ...auth, require: 'any' } } : gateway, false);
}

/** Keys and consumers that have expired. */
function expiries({ consumers }: Registry, now: number): readonly ObjectFinding[] {
  return consumers.flatMap((consumer, index) => {
    const ofConsumer = expiry(consumer, now, ['consumers', index]);
    // The keys of an expired consumer are not valid whatever their own times are.
    if (ofConsumer.length > 0) return ofConsumer;
    return (consumer.keys ?? []).flatMap((key, place) =>
      expiry(key, now, ['consumers', index, 'keys', place]),
    );
  });
}

function expiry(
  { expires_at }: Pick<Consumer, 'expires_at'>,
  now: number,
  path: ObjectFinding['path'],
): readonly ObjectFinding[] {
  if (expires_at === null || isLive({ expires_at }, now)) return [];
  const what = path.length === 2 ? 'every credential of the consumer' : 'the key';
  return [
    {
      path: [...path, 'expires_at'],
      code: 'expired_credential',
      severity: 'info',
      message: `is past: ${what} is refused`,
      found: quoteValue(expires_at),
      remedy: path.length === 2 ? 'remove the consumer, or set a later time' : 'remove the key',
    },
  ];
}

/** Usage plans and token issuers that nothing names. */
function unnamed(
  { consumers, usage_plans, token_issuers }: Registry,
  gateways: readonly GatewayRule[],
): readonly ObjectFinding[] {
  const plans = new Set([
    ...consumers.map(({ usage_plan }) => usage_plan),
    ...gateways.map(({ default_plan }) => default_plan),
  ]);
  const issuers = new Set(gateways.flatMap(({ auth }) => auth.jwt?.issuers ?? []));
  return [
    ...usage_plans.flatMap(({ name }, index): readonly ObjectFinding[] =>
      plans.has(name)
        ? []
        : [
            {
              path: ['usage_plans', index, 'name'],
              code: 'unused_usage_plan',
              severity: 'info',
              message: 'is named by no consumer and by no gateway, so the plan limits nothing',
              found: quoteValue(name),
              remedy: 'name it in `usage_plan` of a consumer or `default_plan` of a gateway, or remove it',
            },
          ],
    ),
    ...token_issuers.flatMap(({ name }, index): readonly ObjectFinding[] =>
      issuers.has(name)
        ? []
        : [
            {
              path: ['token_issuers', index, 'name'],
              code: 'unused_token_issuer',
              severity: 'info',
              message: 'is named by no gateway, so its tokens are taken nowhere',
              found: quoteValue(name),
              remedy: 'name it in `auth.jwt.issuers` of a gateway, or remove it',
            },
          ],
    ),
  ];
}
