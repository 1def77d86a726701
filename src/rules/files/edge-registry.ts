/**
 * Consumers, usage plans and token issuers of an edge file, and how they are printed. In: the lists of the file and of its parts.
 * Out: a registry as the model has it, and mistakes with file and line.
 */
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import type { Fields } from '../model/form.ts';
import { createPatternBook } from '../model/pattern.ts';
import { LISTED_CONSUMER_FIELDS } from '../model/registry/consumer.ts';
import {
  EMPTY_REGISTRY,
  REGISTRY_LISTS,
  type Registry,
  type RegistryList,
  type RegistryNames,
  readRegistry,
  registryNames,
} from '../model/registry/registry.ts';
import { TOKEN_ISSUER_FIELDS } from '../model/registry/token-issuer.ts';
import { USAGE_PLAN_FIELDS, type UsagePlan } from '../model/registry/usage-plan.ts';
import { createReport } from '../model/report.ts';
import { placed } from './edge-diagnostics.ts';
import { isMapping, type YamlFile } from './yaml.ts';

/** The fields of the entries of each list. */
export const REGISTRY_FIELDS: Readonly<Record<RegistryList, Fields>> = {
  consumers: LISTED_CONSUMER_FIELDS,
  usage_plans: USAGE_PLAN_FIELDS,
  token_issuers: TOKEN_ISSUER_FIELDS,
};

/** The keys of the entries of each list, in their order. */
export const REGISTRY_ORDERS: Readonly<Record<RegistryList, readonly string[]>> = {
  consumers: Object.keys(LISTED_CONSUMER_FIELDS),
  usage_plans: Object.keys(USAGE_PLAN_FIELDS),
  token_issuers: Object.keys(TOKEN_ISSUER_FIELDS),
};

/** A registry with the diagnostics of reading it. Objects with mistakes are left out. */
export interface FileRegistry {
  readonly registry: Registry;
  /** What gateways may name: objects with mistakes, too. */
  readonly names: RegistryNames;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the registry of an edge file. */
export function readFileRegistry(yaml: YamlFile): FileRegistry {
  if (!isMapping(yaml.value)) return { registry: EMPTY_REGISTRY, names: registryNames({}), diagnostics: [] };
  const file = yaml.value;
  const lists = REGISTRY_LISTS.filter((list) => Object.hasOwn(file, list));
  const report = createReport();
  const given = Object.fromEntries(lists.map((list) => [list, file[list]]));
  const read = readRegistry(given, { report, patterns: createPatternBook(), path: [] });
  const diagnostics = report.diagnostics().map((one) => placed(one, yaml));
  return { registry: read ?? EMPTY_REGISTRY, names: registryNames(given), diagnostics };
}

type Shown = Readonly<Record<string, unknown>>;

/** The lists of a registry as a file has them, without what is usual; those without entries are left out. */
export function shortRegistry(
  registry: Registry,
  withoutDefaults: (values: Shown, fields: Fields) => Shown,
): Readonly<Record<string, readonly Shown[]>> {
  const consumers = registry.consumers.map(({ keys, ...consumer }) => ({
    ...withoutDefaults(consumer, LISTED_CONSUMER_FIELDS),
    ...(keys === undefined ? {} : { keys: keys.map(withoutNull) }),
  }));
  const plans = registry.usage_plans.map(({ name, throttle, quota, concurrency }) => ({
    name,
    ...(throttle === null ? {} : { throttle: shortThrottle(throttle) }),
    ...(quota === null ? {} : { quota }),
    ...(concurrency === null ? {} : { concurrency }),
  }));
  const issuers = registry.token_issuers.map((issuer) => withoutDefaults(issuer, TOKEN_ISSUER_FIELDS));
  const lists = { consumers, usage_plans: plans, token_issuers: issuers };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

function shortThrottle({ rate, per_sec, burst }: NonNullable<UsagePlan['throttle']>): Shown {
  return { rate, ...(per_sec === 1 ? {} : { per_sec }), ...(burst === 0 ? {} : { burst }) };
}

function withoutNull(values: object): Shown {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
