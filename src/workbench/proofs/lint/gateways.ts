/**
 * Finds gateways and operations that no consumer can call. In: gateways and the registry. Out: findings. Scopes of tokens are the
 * issuer's choice, so where a gateway takes tokens, any consumer may have any scope.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { GatewayOperation } from '../../../rules/model/gateway/operations.ts';
import { isLive } from '../../../rules/model/registry/consumer.ts';
import type { Consumer, GatewayRule, Registry, Rule } from '../../../rules/model/types.ts';
import { isAdmitted, kindsOf } from '../credentials.ts';
import type { GatewayCell } from '../gateway-cells.ts';
import { coversHostsOf } from './filters.ts';
import type { Finding, LintContext, ObjectFinding } from './finding.ts';

/** The gateways among rules. */
export function gatewaysAmong(rules: readonly Rule[]): readonly GatewayRule[] {
  return rules.filter((rule): rule is GatewayRule => rule.type === 'gateway');
}

/** Whether credentials of the consumer may be valid. @param now milliseconds since the epoch */
export function isActive({ enabled, expires_at }: Consumer, now: number): boolean {
  return enabled && isLive({ expires_at }, now);
}

/** Whether a key of the consumer is valid. */
export function hasLiveKey({ keys = [] }: Consumer, now: number): boolean {
  return keys.some((key) => isLive(key, now));
}

/** Whether a consumer with a valid key, or without, may have the credentials that a gateway requires. */
export function takesConsumer(gateway: GatewayRule, hasKey: boolean): boolean {
  const kinds = kindsOf(gateway);
  const possible = kinds.filter((kind) => kind !== 'api_key' || hasKey);
  return gateway.auth.require === 'all' ? possible.length === kinds.length : possible.length > 0;
}

/** Checks every enabled gateway that requires credentials. */
export function lintGateways({ enabled, registry, now }: LintContext): readonly Finding[] {
  if (registry === null) return [];
  const active = registry.consumers.filter((consumer) => isActive(consumer, now));
  const callers = callersOf(active);
  return gatewaysAmong(enabled)
    .filter(({ auth }) => auth.require !== 'none')
    .flatMap((gateway) => {
      const reason = closedFor(gateway, registry.consumers, { active, now });
      const refused = reason === null ? uncallable(gateway, callers) : [closed(gateway, reason)];
      return [...refused, ...sharedNames(gateway, registry)];
    });
}

/** Issuers of a gateway whose tokens name consumers without a prefix, or with the same one. */
function sharedNames(gateway: GatewayRule, { token_issuers }: Registry): readonly Finding[] {
  const taken = token_issuers.filter(({ name }) => gateway.auth.jwt?.issuers.includes(name));
  const prefixes = new Set(taken.map(({ consumer_prefix }) => consumer_prefix));
  return [...prefixes].flatMap((prefix): readonly Finding[] => {
    const issuers = taken.filter(({ consumer_prefix }) => consumer_prefix === prefix);
    if (issuers.length === 1) return [];
    const names = issuers.map(({ name }) => `\`${name}\``).join(', ');
    return [
      {
        rule: gateway,
        field: ['auth', 'jwt', 'issuers'],
        code: 'shared_names',
        severity: 'info',
        message: `tokens of ${names} name consumers alike`,
      },
    ];
  });
}

interface ActiveConsumers {
  readonly active: readonly Consumer[];
  readonly now: number;
}

/** Why a gateway takes no credentials of any consumer; `null`: it takes some. */
function closedFor(
  gateway: GatewayRule,
  consumers: readonly Consumer[],
  { active, now }: ActiveConsumers,
): Pick<Finding, 'message' | 'remedy'> | null {
  if (consumers.length === 0)
    return { message: 'the domain has no consumers', remedy: 'add a consumer, or write `require: none`' };
  if (active.length === 0)
    return { message: 'every consumer is disabled or has expired', remedy: 'enable a consumer' };
  if (!active.some((consumer) => takesConsumer(gateway, hasLiveKey(consumer, now))))
    return { message: 'it requires a key, and no consumer has one that is valid', remedy: 'add a key' };
  if (gateway.operations.length > 0 || active.some(({ acl }) => acl.length === 0)) return null;
  return {
    message: 'every consumer has an `acl`, which names operations, and the gateway has none',
    remedy: 'describe its operations, or empty the `acl` of a consumer',
  };
}

function closed(gateway: GatewayRule, { message, remedy }: Pick<Finding, 'message' | 'remedy'>): Finding {
  const open = gateway.operations.some(({ auth }) => auth === 'none');
  const admits = open ? 'admits only requests that need no credentials' : 'admits no request';
  return {
    rule: gateway,
    field: ['auth'],
    code: 'closed_gateway',
    severity: 'warning',
    message: `${admits}: ${message}`,
    ...(remedy === undefined ? {} : { remedy }),
  };
}

/** Consumers that differ in what they may call, by the entries of their acl. */
interface Callers {
  /** Those without an acl. */
  readonly free: readonly Consumer[];
  readonly byEntry: ReadonlyMap<string, readonly Consumer[]>;
}

function callersOf(active: readonly Consumer[]): Callers {
  // PERF: a domain has 10,000 consumers, of few kinds.
  const kinds = new Map(
    active.map((consumer) => [JSON.stringify([consumer.acl, consumer.scopes]), consumer]),
  );
  const byEntry = new Map<string, Consumer[]>();
  for (const consumer of kinds.values()) {
    for (const entry of consumer.acl) {
      const others = byEntry.get(entry);
      if (others === undefined) byEntry.set(entry, [consumer]);
      else others.push(consumer);
    }
  }
  return { free: [...kinds.values()].filter(({ acl }) => acl.length === 0), byEntry };
}

/** The operations of a gateway that no consumer may call. */
function uncallable(gateway: GatewayRule, { free, byEntry }: Callers): readonly Finding[] {
  const takesTokens = kindsOf(gateway).includes('jwt');
  return gateway.operations.flatMap((operation, index): readonly Finding[] => {
    const cell: GatewayCell = { kind: 'operation', operation, rule: null, without: [] };
    const scopes = takesTokens ? (operation.scopes ?? []) : [];
    const may = (consumer: Consumer | null): boolean =>
      isAdmitted(gateway, cell, { consumer, scopes, verified: null });
    // Without credentials: the operation needs none.
    if (may(null)) return [];
    const listed = [...free, ...namesOf(operation).flatMap((name) => byEntry.get(name) ?? [])];
    if (listed.some(may)) return [];
    return [
      {
        rule: gateway,
        field: ['operations', index],
        code: 'uncallable_operation',
        severity: 'warning',
        ...refusal(operation, listed.length > 0),
        found: quoteValue(nameOf(operation)),
      },
    ];
  });
}

/** Why every consumer is refused, and what would change that. */
function refusal(operation: GatewayOperation, isListed: boolean): Pick<Finding, 'message' | 'remedy'> {
  const { operation_id, tags = [], scopes = [] } = operation;
  if (isListed) {
    const needed = scopes.map((scope) => `\`${scope}\``).join(', ');
    return {
      message: `no consumer that may call it has all of its scopes (${needed}), and the gateway takes no tokens, which could have them`,
      remedy: 'list them in `scopes` of a consumer',
    };
  }
  const isNamed = operation_id !== undefined || tags.length > 0;
  return {
    message: 'every consumer has an `acl`, and none names the operation',
    remedy: isNamed
      ? 'list its `operation_id` or one of its tags in `acl` of a consumer'
      : 'give it an `operation_id`, and list that in `acl` of a consumer',
  };
}

/** What an acl may name an operation by. */
export function namesOf({ operation_id, tags = [] }: GatewayOperation): readonly string[] {
  return operation_id === undefined ? tags : [operation_id, ...tags];
}

/** An operation in words. */
export function nameOf({ operation_id, methods, path }: GatewayOperation): string {
  return operation_id ?? `${methods.join(',')} ${path}`;
}

/** Captchas of records whose every request belongs to an enforced gateway (semantics §15), where none acts. */
export function lintRecordCaptchas({ ruleSet, zone, enabled }: LintContext): readonly ObjectFinding[] {
  const taking = gatewaysAmong(enabled).filter(
    ({ action_mode, base_path, conditions }) =>
      action_mode === 'enforce' && base_path === '/' && conditions === undefined,
  );
  return ruleSet.records.flatMap((record, index): readonly ObjectFinding[] => {
    if (!record.proxied || !record.captcha) return [];
    const ofRecord = (gateway: GatewayRule): GatewayRule => ({
      ...gateway,
      ...EVERY_HOST,
      record_ids: [record.id],
    });
    if (!taking.some((gateway) => coversHostsOf(zone, gateway, ofRecord(gateway)))) return [];
    return [
      {
        path: ['records', index, 'captcha'],
        code: 'captcha_on_gateway',
        severity: 'warning',
        message:
          'never acts: a gateway takes every request of the record; gateways admit API clients, and a captcha never acts there',
        remedy: 'write `captcha: false`, or give the gateway a `base_path`',
      },
    ];
  });
}

/** A host filter that admits every host. */
const EVERY_HOST = { host_match_type: '', host_pattern: '', host_includes: [], host_excludes: [] } as const;
