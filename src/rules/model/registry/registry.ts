/**
 * The registry of a domain: consumers with their keys, usage plans and token issuers, to which gateways refer by name
 * (semantics §15). In: lists as a customer wrote them. Out: a registry, or all mistakes, those between its objects among them.
 */
import { type Diagnostic, type FieldPath, quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../../base/text/json-object.ts';
import {
  MAX_CONSUMERS,
  MAX_REGISTRY_KEYS,
  MAX_TOKEN_ISSUERS,
  MAX_USAGE_PLANS,
} from '../../../base/vocabulary/limits.ts';
import { type Fields, type Form, type ReadContext, readForm } from '../form.ts';
import { nearest } from '../nearest.ts';
import { type Problem, type Report, unknownField } from '../report.ts';
import { type Consumer, listedConsumerForm } from './consumer.ts';
import { type TokenIssuer, tokenIssuerForm } from './token-issuer.ts';
import { type UsagePlan, usagePlanForm } from './usage-plan.ts';

/** The objects that gateways of a domain refer to. */
export interface Registry {
  readonly consumers: readonly Consumer[];
  readonly usage_plans: readonly UsagePlan[];
  readonly token_issuers: readonly TokenIssuer[];
}

/** A registry in its sealed form, which nodes fetch by its digest. */
export interface SealedRegistry {
  /** SHA-256 of the sealed registry, 64 lower-case hex digits. */
  readonly digest: string;
}

/** The lists of a registry, by their names in files. */
export const REGISTRY_LISTS = ['consumers', 'usage_plans', 'token_issuers'] as const;
/** One of `REGISTRY_LISTS`. */
export type RegistryList = (typeof REGISTRY_LISTS)[number];

/** A registry without objects. */
export const EMPTY_REGISTRY: Registry = { consumers: [], usage_plans: [], token_issuers: [] };

/** Names that gateways may refer to. */
export interface RegistryNames {
  readonly usage_plans: ReadonlySet<string>;
  readonly token_issuers: ReadonlySet<string>;
}

/** The names in the lists of a registry as they were written; objects with mistakes may be named. */
export function registryNames(given: unknown): RegistryNames {
  const lists = isObject(given) ? given : {};
  return {
    usage_plans: namesOf(lists['usage_plans'], 'name'),
    token_issuers: namesOf(lists['token_issuers'], 'name'),
  };
}

/** Whether a registry has no object. */
export function isEmptyRegistry(registry: Registry): boolean {
  return REGISTRY_LISTS.every((list) => registry[list].length === 0);
}

/**
 * Reads the lists of a registry, of which those that are absent are empty; `null`: a list has another type or is too long. Objects with
 * mistakes are left out. `context.path`: of the object that has the lists.
 */
export function readRegistry(given: unknown, context: ReadContext): Registry | null {
  const { report, path } = context;
  if (!isObject(given)) {
    const message = 'must be an object with `consumers`, `usage_plans` and `token_issuers`';
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(given) });
    return null;
  }
  for (const name of Object.keys(given)) {
    if ((REGISTRY_LISTS as readonly string[]).includes(name)) continue;
    const { problem } = unknownField({ name, value: given[name], known: REGISTRY_LISTS });
    report.add('error', [...path, name], problem);
  }
  const consumers = readObjects(listedConsumerForm, given['consumers'] ?? [], {
    ...context,
    path: [...path, 'consumers'],
    most: MAX_CONSUMERS,
  });
  const plans = readObjects(usagePlanForm, given['usage_plans'] ?? [], {
    ...context,
    path: [...path, 'usage_plans'],
    most: MAX_USAGE_PLANS,
  });
  const issuers = readObjects(tokenIssuerForm, given['token_issuers'] ?? [], {
    ...context,
    path: [...path, 'token_issuers'],
    most: MAX_TOKEN_ISSUERS,
  });
  if (consumers === null || plans === null || issuers === null) return null;
  checkRegistry(
    { consumers, usage_plans: plans, token_issuers: issuers },
    // Objects with mistakes of their own may be named.
    {
      ...context,
      plans: namesOf(given['usage_plans'], 'name'),
      usernames: namesOf(given['consumers'], 'username'),
    },
  );
  return {
    consumers: consumers.map(({ value }) => value),
    usage_plans: plans.map(({ value }) => value),
    token_issuers: issuers.map(({ value }) => value),
  };
}

/** The names of all objects of a list as it was written. */
function namesOf(given: unknown, field: string): ReadonlySet<string> {
  const names = (Array.isArray(given) ? given : []).map((entry) => (isObject(entry) ? entry[field] : null));
  return new Set(names.filter((name) => typeof name === 'string'));
}

/** An object with its place in the list as it was written. */
interface Placed<T> {
  readonly value: T;
  readonly index: number;
}

interface ListContext extends ReadContext {
  readonly most: number;
}

function readObjects<F extends Fields, Out>(
  of: Form<F, Out>,
  given: unknown,
  { most, ...context }: ListContext,
): readonly Placed<Out>[] | null {
  const { report, path } = context;
  if (!Array.isArray(given)) {
    report.add('error', path, { code: 'invalid_type', message: 'must be a list', found: quoteValue(given) });
    return null;
  }
  if (given.length > most) {
    const message = `must have at most ${most} entries`;
    report.add('error', path, { code: 'too_many', message, found: String(given.length) });
    return null;
  }
  const objects: Placed<Out>[] = [];
  for (const [index, entry] of given.entries()) {
    if (report.full()) break;
    const value = readForm(of, entry, { ...context, path: [...path, index] });
    if (value !== null) objects.push({ value, index });
  }
  return objects;
}

/** The objects of a registry with their places. */
interface PlacedRegistry {
  readonly consumers: readonly Placed<Consumer>[];
  readonly usage_plans: readonly Placed<UsagePlan>[];
  readonly token_issuers: readonly Placed<TokenIssuer>[];
}

interface RegistryChecks extends Pick<ReadContext, 'report' | 'path'> {
  /** Names that may be referred to. */
  readonly plans: ReadonlySet<string>;
  readonly usernames: ReadonlySet<string>;
}

/** Adds the mistakes between objects. */
function checkRegistry(
  { consumers, usage_plans: plans, token_issuers: issuers }: PlacedRegistry,
  { report, path, plans: planNames, usernames }: RegistryChecks,
): void {
  const at = (list: RegistryList, index: number, field: string): FieldPath => [...path, list, index, field];
  refuseTwice(plans, { kind: 'usage plan', at: (index) => at('usage_plans', index, 'name'), report });
  refuseTwice(issuers, { kind: 'token issuer', at: (index) => at('token_issuers', index, 'name'), report });
  checkNames(consumers, { path: [...path, 'consumers'], report });
  checkKeys(consumers, { path: [...path, 'consumers'], report });
  for (const { value, index } of consumers) {
    if (report.full()) return;
    const problem = value.usage_plan === null ? null : judgeUsagePlan(value.usage_plan, planNames);
    if (problem !== null) report.add('error', at('consumers', index, 'usage_plan'), problem);
  }
  for (const { value, index } of issuers) {
    const problem = value.default_consumer === null ? null : judgeConsumer(value.default_consumer, usernames);
    if (problem !== null) report.add('error', at('token_issuers', index, 'default_consumer'), problem);
  }
}

/** What is wrong with the name of a usage plan that a consumer or a gateway names; `null`: nothing. */
export function judgeUsagePlan(name: string, known: ReadonlySet<string>): Problem | null {
  if (known.has(name)) return null;
  const problem = { code: 'unknown_usage_plan', message: 'names no usage plan of the domain' } as const;
  return { ...problem, found: quoteValue(name), ...remedyFrom(name, known) };
}

/** What is wrong with the name of a token issuer that a gateway names; `null`: nothing. */
export function judgeTokenIssuer(name: string, known: ReadonlySet<string>): Problem | null {
  if (known.has(name)) return null;
  const problem = { code: 'unknown_token_issuer', message: 'names no token issuer of the domain' } as const;
  return { ...problem, found: quoteValue(name), ...remedyFrom(name, known) };
}

/** What is wrong with the username that a token issuer names; `null`: nothing. */
export function judgeConsumer(name: string, known: ReadonlySet<string>): Problem | null {
  if (known.has(name)) return null;
  const problem = { code: 'unknown_consumer', message: 'names no consumer of the domain' } as const;
  return { ...problem, found: quoteValue(name), ...remedyFrom(name, known) };
}

function remedyFrom(name: string, known: ReadonlySet<string>): { readonly remedy?: string } {
  const meant = nearest(name, known);
  return meant === null ? {} : { remedy: `did you mean \`${meant}\`?` };
}

interface NamedPlace {
  readonly kind: string;
  readonly at: (index: number) => FieldPath;
  readonly report: Report;
}

function refuseTwice(
  objects: readonly Placed<{ readonly name: string }>[],
  { kind, at, report }: NamedPlace,
): void {
  const seen = new Set<string>();
  for (const { value, index } of objects) {
    if (seen.has(value.name)) {
      const message = `is the name of an earlier ${kind}; names must differ`;
      report.add('error', at(index), { code: 'duplicate_name', message, found: quoteValue(value.name) });
    }
    seen.add(value.name);
  }
}

interface ConsumersPlace {
  readonly path: FieldPath;
  readonly report: Report;
}

/** Refuses two consumers that a token could mean with one name: each username and `custom_id` names one consumer. */
function checkNames(consumers: readonly Placed<Consumer>[], { path, report }: ConsumersPlace): void {
  const usernames = new Map<string, number>();
  for (const { value, index } of consumers) {
    if (usernames.has(value.username)) {
      const problem = twice('username', value.username);
      report.add('error', [...path, index, 'username'], problem);
    } else usernames.set(value.username, index);
  }
  const ids = new Set<string>();
  for (const { value, index } of consumers) {
    if (value.custom_id === null) continue;
    const owner = usernames.get(value.custom_id);
    if (ids.has(value.custom_id))
      report.add('error', [...path, index, 'custom_id'], twice('custom_id', value.custom_id));
    else if (owner !== undefined && owner !== index)
      report.add('error', [...path, index, 'custom_id'], twice('username', value.custom_id));
    ids.add(value.custom_id);
  }
}

function twice(field: string, name: string): Problem {
  const message = `is the \`${field}\` of another consumer, so a token with it would mean either`;
  return { code: 'duplicate_consumer', message, found: quoteValue(name) };
}

/** Refuses a key that two entries have, and more keys than a registry may have. */
function checkKeys(consumers: readonly Placed<Consumer>[], { path, report }: ConsumersPlace): void {
  const owners = new Map<string, string>();
  let total = 0;
  for (const { value, index } of consumers) {
    for (const [number, { sha256 }] of (value.keys ?? []).entries()) {
      total++;
      const owner = owners.get(sha256);
      if (owner !== undefined) {
        const message = `is the hash of a key of consumer \`${owner}\` already`;
        const at = [...path, index, 'keys', number, 'sha256'];
        report.add('error', at, { code: 'duplicate_hash', message, found: null });
      } else owners.set(sha256, value.username);
    }
  }
  if (total <= MAX_REGISTRY_KEYS) return;
  const message = `must have at most ${MAX_REGISTRY_KEYS} keys together`;
  report.add('error', path, { code: 'too_many', message, found: String(total) });
}

/** Warnings of a registry that edges get without a control plane, by what only that one does. Paths are those in an edge file. */
export function withoutControlPlane(registry: Registry): readonly Diagnostic[] {
  return [...keysNotFetched(registry), ...quotasNotCounted(registry)];
}

function keysNotFetched({ token_issuers }: Registry): readonly Diagnostic[] {
  return token_issuers.flatMap(({ jwks_url, keys = [] }, index): readonly Diagnostic[] => {
    if (jwks_url === null || keys.length > 0) return [];
    return [
      {
        code: 'keys_not_fetched',
        severity: 'warning',
        path: ['token_issuers', index, 'jwks_url'],
        message: 'is fetched by a control plane alone: without one every token of the issuer is refused',
        remedy: 'list the public keys of the issuer in `keys`',
      },
    ];
  });
}

function quotasNotCounted({ usage_plans }: Registry): readonly Diagnostic[] {
  return usage_plans.flatMap(({ quota }, index): readonly Diagnostic[] => {
    if (quota === null) return [];
    return [
      {
        code: 'quota_not_counted',
        severity: 'warning',
        path: ['usage_plans', index, 'quota'],
        message: 'is counted by a control plane alone: without one no consumer is refused for it',
        remedy: 'apply the file to a control plane, or limit consumers by `throttle`',
      },
    ];
  });
}
