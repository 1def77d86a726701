/**
 * Credentials of requests as proofs see them (semantics §15): whose they are and which scopes they have. In: a gateway, the registry,
 * the words of an invariant. Out: for each kind of credentials that the gateway distinguishes a representative, and whether
 * the gateway admits it.
 *
 * Any consumer may have a key and a token of each issuer, and no consumer is past its expiry: keys and time change without an edit of
 * rules. Scopes of tokens count where the gateway takes tokens.
 */

import { CREDENTIAL_KINDS, type CredentialKind } from '../../base/vocabulary/vocabulary.ts';
import type { RequestIdentity } from '../../engine/evaluator/request.ts';
import { validationOf } from '../../rules/model/gateway/validation.ts';
import type { IdentityWords, NamedEntries } from '../../rules/model/invariant-identity.ts';
import { NO_CONSUMER } from '../../rules/model/invariant-identity.ts';
import type { Registry } from '../../rules/model/registry/registry.ts';
import type { Consumer, GatewayRule, Rule, RuleSet, UsagePlan } from '../../rules/model/types.ts';
import type { GatewayCell } from './gateway-cells.ts';
import { type IssuedCredentials, issuedTo, type RegisteredGateway } from './issued-credentials.ts';

/** Credentials of a request. */
export interface Credentials {
  /** `null`: it has none that are valid. */
  readonly consumer: Consumer | null;
  /** Scopes of the token. */
  readonly scopes: readonly string[];
  /** The kinds that are valid; `null`: all that the gateway takes. */
  readonly verified: readonly CredentialKind[] | null;
  /** Who has issued them, where gateways of two rule sets are compared. */
  readonly issued?: IssuedCredentials;
}

/** What distinguishes credentials. */
export interface CredentialWorld {
  readonly registry: Registry;
  /** Every scope, id and tag that an operation or an invariant names. */
  readonly scopes: readonly string[];
  readonly names: ReadonlySet<string>;
  readonly words: IdentityWords | null;
}

/** Any credentials. */
const ANY: NamedEntries = { wanted: null, unwanted: [] };

/** The world of gateways and of an invariant. */
export function credentialWorld(
  registry: Registry,
  gateways: readonly GatewayRule[],
  words: IdentityWords | null,
): CredentialWorld {
  const operations = gateways.flatMap((gateway) => gateway.operations);
  const { wanted, unwanted } = words?.scopes ?? ANY;
  const scopes = [
    ...operations.flatMap((operation) => operation.scopes ?? []),
    ...(wanted ?? []),
    ...unwanted,
  ];
  const names = operations.flatMap(({ operation_id, tags = [] }) =>
    operation_id === undefined ? tags : [operation_id, ...tags],
  );
  return { registry, scopes: [...new Set(scopes)], names: new Set(names), words };
}

/** The kinds of credentials that a gateway takes. */
export function kindsOf({ auth }: GatewayRule): readonly CredentialKind[] {
  const takes = {
    api_key: auth.api_key !== undefined,
    jwt: auth.jwt !== undefined,
    mtls: auth.mtls !== undefined,
  };
  return CREDENTIAL_KINDS.filter((kind) => takes[kind]);
}

/**
 * Credentials that are meant, one for each kind that the gateway distinguishes, those without a consumer first. `null`: of requests
 * that no gateway reads credentials of, of which the first is enough.
 */
export function credentialsFor(
  { registry, scopes, names, words }: CredentialWorld,
  gateway: GatewayRule | null,
): readonly Credentials[] {
  const kinds = gateway === null ? CREDENTIAL_KINDS : kindsOf(gateway);
  const { consumers, scopes: meant } = words ?? { consumers: ANY, scopes: ANY };
  const none: readonly Credentials[] =
    isNamed(NO_CONSUMER, consumers) && meant.wanted === null
      ? [{ consumer: null, scopes: [], verified: null }]
      : [];
  const takesTokens = kinds.length === 0 || kinds.includes('jwt');
  const ways: readonly Credentials['verified'][] =
    gateway?.auth.require === 'all' && kinds.length > 1 ? [null, kinds.slice(0, 1)] : [null];
  const distinct = new Map<string, Consumer>();
  for (const consumer of registry.consumers) {
    if (!consumer.enabled || !isNamed(consumer.username, consumers)) continue;
    const isLimited = gateway !== null && hasLimit(gateway, registry, consumer);
    const kind = JSON.stringify([
      ...[consumer.acl.length > 0, consumer.acl.filter((entry) => names.has(entry))],
      ...[scopes.filter((scope) => consumer.scopes.includes(scope)), isLimited],
    ]);
    if (!distinct.has(kind)) distinct.set(kind, consumer);
  }
  const all = [...distinct.values()].flatMap((consumer) =>
    scopeSets(consumer, { scopes: takesTokens ? scopes : [], meant }).flatMap((own) =>
      ways.map((verified): Credentials => ({ consumer, scopes: own, verified })),
    ),
  );
  return [...none, ...all];
}

function isNamed(name: string, { wanted, unwanted }: NamedEntries): boolean {
  return (wanted === null || wanted.includes(name)) && !unwanted.includes(name);
}

/** The fewest and the most scopes that a token of the consumer may have, so that the scopes of both are meant. */
function scopeSets(
  consumer: Consumer,
  {
    scopes,
    meant: { wanted, unwanted },
  }: { readonly scopes: readonly string[]; readonly meant: NamedEntries },
): readonly (readonly string[])[] {
  if (unwanted.some((scope) => consumer.scopes.includes(scope))) return [];
  const most = scopes.filter((scope) => !unwanted.includes(scope));
  const hasOne = wanted === null || wanted.some((scope) => consumer.scopes.includes(scope));
  const fewest = hasOne ? [[]] : wanted.filter((scope) => most.includes(scope)).map((scope) => [scope]);
  const isMost = fewest.length === 0 || fewest.some(({ length }) => length === most.length);
  return isMost ? fewest : [most, ...fewest];
}

/** Whether the gateway admits requests of a cell with these credentials, whatever their usage plan counts. */
export function isAdmitted(gateway: GatewayRule, cell: GatewayCell, credentials: Credentials): boolean {
  const { kind, operation } = cell;
  if (kind === 'preflight') return false;
  if (kind !== 'operation' && gateway.on_unknown_operation === 'block') return false;
  if (isOpen(gateway, cell)) return true;
  const { consumer, scopes, verified } = credentials;
  if (consumer?.enabled !== true || !hasKinds(gateway, verified)) return false;
  const names = operation === null ? [] : [operation.operation_id, ...(operation.tags ?? [])];
  const isListed = names.some((name) => name !== undefined && consumer.acl.includes(name));
  if (consumer.acl.length > 0 && !isListed) return false;
  return (operation?.scopes ?? []).every(
    (scope) => scopes.includes(scope) || consumer.scopes.includes(scope),
  );
}

/** Credentials that the gateway admits to a cell, without scopes of the token that neither the operation nor the invariant asks for. */
export function withoutNeedless(
  { words }: CredentialWorld,
  { operation }: GatewayCell,
  credentials: Credentials,
): Credentials {
  const own = credentials.consumer?.scopes ?? [];
  const needed = (operation?.scopes ?? []).filter((scope) => !own.includes(scope));
  const wanted = words?.scopes.wanted ?? null;
  const isMeant = wanted === null || [...own, ...needed].some((scope) => wanted.includes(scope));
  const added = isMeant ? [] : credentials.scopes.filter((scope) => wanted.includes(scope)).slice(0, 1);
  return { ...credentials, scopes: credentials.scopes.filter((one) => [...needed, ...added].includes(one)) };
}

/** Whether the valid kinds of credentials are those that the gateway requires. */
function hasKinds(gateway: GatewayRule, verified: Credentials['verified']): boolean {
  if (verified === null) return true;
  const kinds = kindsOf(gateway);
  const isValid = (kind: CredentialKind): boolean => verified.includes(kind);
  return gateway.auth.require === 'all' ? kinds.every(isValid) : kinds.some(isValid);
}

/** Credentials of the consumers that a gateway distinguishes, with no scopes of tokens. */
type IssuedTo = readonly { readonly consumer: Consumer; readonly issued: IssuedCredentials }[];

/**
 * Credentials of each consumer that a gateway or those of another domain distinguish. Consumers that nothing distinguishes have
 * credentials that are read alike.
 */
export function issuedBy(
  { registry, scopes, names }: CredentialWorld,
  gateway: GatewayRule,
  others: readonly RegisteredGateway[],
): IssuedTo {
  const own = { gateway, registry };
  const distinction = (consumer: Consumer | null): unknown =>
    consumer?.enabled === true && [
      ...[consumer.acl.length > 0, consumer.acl.filter((entry) => names.has(entry))],
      scopes.filter((scope) => consumer.scopes.includes(scope)),
    ];
  const distinct = new Map<string, IssuedTo>();
  for (const consumer of registry.consumers) {
    if (!consumer.enabled) continue;
    const issued = issuedTo(consumer, own, others);
    const kind = JSON.stringify([
      distinction(consumer),
      issued.map(({ verified, readings }) => [
        verified,
        ...[...readings.values()].map(
          (one) => one && [one.verified, one.hasScopes, distinction(one.consumer)],
        ),
      ]),
    ]);
    if (!distinct.has(kind))
      distinct.set(
        kind,
        issued.map((one) => ({ consumer, issued: one })),
      );
  }
  return [...distinct.values()].flat();
}

/** Credentials that the gateway admits to a cell, so few that it admits no fewer: none at all if that is enough. */
export function leastCredentials(
  gateway: GatewayRule,
  cell: GatewayCell,
  issuedTo: IssuedTo,
): readonly Credentials[] {
  if (isAdmitted(gateway, cell, NONE)) return [NONE];
  const needed = cell.operation?.scopes ?? [];
  return issuedTo
    .map(({ consumer, issued }): Credentials => {
      const { verified } = issued;
      const missing = needed.filter((scope) => !consumer.scopes.includes(scope));
      return { consumer, scopes: verified.includes('jwt') ? missing : [], verified, issued };
    })
    .filter((credentials) => isAdmitted(gateway, cell, credentials));
}

/** Credentials of a request that has none. */
export const NONE: Credentials = { consumer: null, scopes: [], verified: null };

/** Credentials as a gateway of another domain reads them; `null`: not known. */
export function readBy(gateway: GatewayRule, { issued, scopes }: Credentials): Credentials | null {
  const reading = issued === undefined ? undefined : issued.readings.get(gateway);
  if (reading === null) return null;
  if (reading === undefined || reading.consumer === null) return NONE;
  const { consumer, verified, hasScopes } = reading;
  return { consumer, scopes: hasScopes ? scopes : [], verified };
}

/** Whether requests of a cell need no credentials. */
function isOpen({ auth }: GatewayRule, { operation }: GatewayCell): boolean {
  return auth.require === 'none' || operation?.auth === 'none';
}

/** Whether a usage plan or `limits` of the operation may refuse requests of a cell with these credentials. */
export function isCounted(
  { gateway, cell }: { readonly gateway: GatewayRule; readonly cell: GatewayCell },
  registry: Registry,
  { consumer }: Credentials,
): boolean {
  return cell.operation?.limits !== undefined || hasLimit(gateway, registry, consumer);
}

/** Whether the usage plan of a consumer may refuse it. A quota counts consumers alone, throttle and concurrency addresses, too. */
function hasLimit(gateway: GatewayRule, registry: Registry, consumer: Consumer | null): boolean {
  const plan = planNamed(registry, consumer?.usage_plan ?? gateway.default_plan ?? '');
  if (plan === undefined) return false;
  const { throttle, quota, concurrency } = plan;
  return throttle !== null || concurrency !== null || (consumer !== null && quota !== null);
}

function planNamed({ usage_plans }: Registry, name: string): UsagePlan | undefined {
  return usage_plans.find((plan) => plan.name === name);
}

/** Whether a gateway that admits requests of a cell may refuse them by their bodies. */
export function comparesBodies({ validation: common }: GatewayRule, { operation }: GatewayCell): boolean {
  const validation = validationOf(common, operation?.validation);
  if (validation === null || operation?.body === undefined) return false;
  const { on_invalid, on_uninspected } = validation;
  return on_invalid === 'block' || (on_invalid === 'log' && on_uninspected === 'block');
}

/** Whether a gateway compares bodies of some operation. */
export function mayCompareBodies({ validation, operations }: GatewayRule): boolean {
  return validation !== undefined || operations.some((operation) => operation.validation !== undefined);
}

/** The rule set in which gateways take any body: witnesses have none. */
export function withoutBodies(ruleSet: RuleSet): RuleSet {
  const rules = ruleSet.rules.map((rule): Rule => {
    if (rule.type !== 'gateway') return rule;
    const { validation: _, ...open } = rule;
    return { ...open, operations: open.operations.map(({ validation: __, ...operation }) => operation) };
  });
  return { ...ruleSet, rules };
}

/** The identity that the evaluator takes. */
export function identityOf({ consumer, scopes, verified }: Credentials): RequestIdentity {
  if (consumer === null) return { consumer: null, failure: 'missing' };
  return {
    consumer: consumer.username,
    ...(verified === null ? {} : { verified }),
    ...(scopes.length === 0 ? {} : { scopes }),
  };
}
