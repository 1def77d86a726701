/** The printed form of a plan: JSON for people and for line diffs. No code reads it back. */
import { SWITCH_LIST } from '../../base/vocabulary/switches.ts';
import { BOT_KINDS, DOMAIN_STATUSES, LIST_KINDS, RECORD_SCHEMES } from '../../base/vocabulary/vocabulary.ts';
import {
  COUNTRIES,
  decodeString,
  FILTER,
  FLAG,
  GROUP,
  LIST,
  listDigest,
  listedEntries,
  META,
  MONITORED,
  NODE,
  NONE,
  PATTERN,
  PATTERN_KIND,
  type Plan,
  RECORD,
  ruleTypeOf,
  SLOT,
  sectionsOf,
} from '../plan/layout.ts';
import { REGISTRY_HEADER, REGISTRY_KIND } from '../plan/registry.ts';
import type { OpenedPlan } from '../plan/seal.ts';
import { printConditions } from './conditions.ts';
import { printAddresses } from './print-addresses.ts';
import { listAt } from './print-lists.ts';
import { type Printed, printFields } from './rule-types.ts';

// The indexes of a plan in their printed form.

/** Each index as `key → rules filed under it`. */
function printIndexes(plan: Plan): Printed {
  const { meta, words } = plan;
  const rows = (postings: number, names: readonly string[]): Printed =>
    postings === NONE
      ? {}
      : Object.fromEntries(
          names.flatMap((name, index) => {
            const posting = words[postings + index]!;
            return posting === NONE ? [] : [[name, printPosting(plan, posting)]];
          }),
        );
  const countries = Array.from({ length: COUNTRIES }, (_, number) => countryText(number));
  const always = meta[META.always]!;
  return {
    path: printTree(plan, meta[META.pathTree]!),
    path_suffix_reversed: printTree(plan, meta[META.suffixTree]!),
    host_reversed: printTree(plan, meta[META.hostTree]!),
    ja4: printTree(plan, meta[META.ja4Tree]!),
    ja4h: printTree(plan, meta[META.ja4hTree]!),
    inner_literals: meta[META.inner] === 1 ? plan.literals[1] : 0,
    address_boundaries: { ipv4: plan.cidr4.length / 2, ipv6: plan.cidr6.length / 5 },
    country: rows(meta[META.countries]!, countries),
    bot: rows(meta[META.bots]!, [...BOT_KINDS, 'any other']),
    always: always === NONE ? [] : printPosting(plan, always),
  };
}

function printPosting(plan: Plan, posting: number): readonly string[] {
  const start = plan.postings[posting * 2]!;
  const slots = plan.postingSlots.subarray(start, start + plan.postings[posting * 2 + 1]!);
  return [...slots].map((slot) => slotName(plan, slot));
}

/** A tree as its literals; one that others may follow ends in `*`. */
function printTree(plan: Plan, root: number): Printed {
  if (root === NONE) return {};
  const found: Record<string, readonly string[]> = {};
  const pending = [{ node: root, text: '' }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const row = next.node * NODE.size;
    const label = plan.labels
      .subarray(plan.nodes[row + NODE.label]!)
      .subarray(0, plan.nodes[row + NODE.length]!);
    const text = next.text + String.fromCharCode(...label);
    const exact = plan.nodes[row + NODE.exact]!;
    const prefix = plan.nodes[row + NODE.prefix]!;
    if (exact !== NONE) found[text] = printPosting(plan, exact);
    if (prefix !== NONE) found[`${text}*`] = printPosting(plan, prefix);
    for (let child = 0; child < plan.nodes[row + NODE.count]!; child++) {
      pending.push({ node: plan.nodes[row + NODE.children]! + child, text });
    }
  }
  return found;
}

/** `type/id` of a slot. */
function slotName(plan: Plan, slot: number): string {
  const row = slot * SLOT.size;
  return `${ruleTypeOf(plan.slots[row + SLOT.flags]!)}/${plan.slots[row + SLOT.id]}`;
}

/** The alpha-2 code of a country's number. */
function countryText(number: number): string {
  return String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26));
}

/** The plan as JSON-safe data: the domain, its hosts, every rule in evaluation order, every index with its keys. */
export function printPlan({ plan, revision, version }: OpenedPlan): Printed {
  const { meta } = plan;
  const until = meta[META.developerHigh]! * 2 ** 32 + meta[META.developerLow]!;
  const slots = Array.from({ length: meta[META.slots]! }, (_, slot) => printRule(plan, slot));
  return {
    format: 'edgeplan.plan/v1',
    version,
    revision,
    domain: {
      name: decodeString(plan, meta[META.domain]!),
      status: DOMAIN_STATUSES[meta[META.status]!],
      suspended: meta[META.suspended] === 1,
      developer_mode_until: until === 0 ? null : new Date(until).toISOString(),
      cache_cap_mb: meta[META.cacheCapMb],
      cache_l2_max_gb: meta[META.diskMaxGb],
      cache_l2_ttl_days: meta[META.diskTtlDays],
      ...printSwitches(meta[META.switches]!),
    },
    hosts: printHosts(plan),
    rules: slots,
    indexes: printIndexes(plan),
    ...printLists(plan),
    octets: Object.fromEntries(sectionsOf(version).map(({ name }) => [name, plan[name].byteLength])),
  };
}

function printSwitches(bits: number): Printed {
  return Object.fromEntries(SWITCH_LIST.map(({ name, bit }) => [name, (bits & bit) !== 0]));
}

function printHosts(plan: Plan): readonly Printed[] {
  const { meta, words } = plan;
  const marked = (meta[META.switches]! & MONITORED) !== 0;
  return Array.from({ length: meta[META.groupCount]! }, (_, index) => {
    const group = words[meta[META.groups]! + index]!;
    const records = Array.from({ length: words[group + GROUP.count]! }, (_record, place) => {
      const row = group + GROUP.records + place * RECORD.size;
      return {
        id: words[row + RECORD.id],
        destination: decodeString(plan, words[row + RECORD.destination]!),
        port: words[row + RECORD.port] === 0 ? null : words[row + RECORD.port],
        scheme: RECORD_SCHEMES[words[row + RECORD.scheme]!],
        host_header: decodeString(plan, words[row + RECORD.hostHeader]!),
        timeout: words[row + RECORD.timeout] === 0 ? null : words[row + RECORD.timeout],
      };
    });
    const name = decodeString(plan, words[group + GROUP.records + RECORD.name]!);
    const captcha = words[group + GROUP.captcha]!;
    const monitored = marked && words[group + GROUP.records + records.length * RECORD.size] === 1;
    return { name, captcha_record: captcha === 0 ? null : captcha, monitored, records };
  });
}

/** The lists that the rules name and the registry, with the digest of those that the plan refers to. */
function printLists(plan: Plan): Printed {
  const lists: Printed[] = [];
  let registry: Printed = {};
  for (let row = 0; row < plan.lists.length; row += LIST.size) {
    const name = decodeString(plan, plan.lists[row + LIST.name]!);
    const kind = plan.lists[row + LIST.kind]!;
    const isContained = plan.lists[row + LIST.at] !== NONE;
    const where = isContained ? { octets: plan.lists[row + LIST.octets] } : { digest: listDigest(plan, row) };
    if (kind === REGISTRY_KIND) registry = { registry: isContained ? containedRegistry(plan, row) : where };
    else lists.push({ name, kind: LIST_KINDS[kind], ...where });
  }
  return { ...(lists.length === 0 ? {} : { lists }), ...registry };
}

/** The size of the registry that a plan contains, and its checksum: printed plans are equal only if it is. */
function containedRegistry({ lists, listData }: Plan, row: number): Printed {
  const from = lists[row + LIST.at]!;
  const octets = lists[row + LIST.octets]!;
  const view = new DataView(listData.buffer, listData.byteOffset + from, octets);
  const checksum = view.getUint32(REGISTRY_HEADER.checksum * 4, true);
  return { octets, checksum: checksum.toString(16).padStart(8, '0') };
}

function printRule(plan: Plan, slot: number): Printed {
  const row = plan.slots.subarray(slot * SLOT.size, (slot + 1) * SLOT.size);
  const flags = row[SLOT.flags]!;
  const type = ruleTypeOf(flags);
  const conditions = printConditions(plan, slot);
  return {
    type,
    id: row[SLOT.id],
    ...printKey(plan, slot),
    priority: row[SLOT.priority],
    action_mode: (flags & FLAG.dryRun) === 0 ? 'enforce' : 'dry_run',
    enabled: (flags & FLAG.enabled) !== 0,
    scope:
      row[SLOT.scope] === NONE ? null : listAt(plan, row[SLOT.scope]!).map((group) => groupName(plan, group)),
    host: printFilter(plan, row[SLOT.host]!),
    path: printFilter(plan, row[SLOT.path]!),
    ...(row[SLOT.countries] === NONE
      ? {}
      : {
          country_match_type: (flags & FLAG.excludeCountries) === 0 ? 'include' : 'exclude',
          countries: listedEntries(plan, row[SLOT.countries]!, (at) => listAt(plan, at).map(countryText)),
        }),
    ...(row[SLOT.addresses] === NONE
      ? {}
      : {
          ip_match_type: (flags & FLAG.excludeAddresses) === 0 ? 'include' : 'exclude',
          ips: printAddresses(plan, row[SLOT.addresses]!),
        }),
    ...printFields(plan, type, row),
    ...(conditions === null ? {} : { conditions }),
  };
}

/** What the rule goes by across plans, if that is not its id. */
function printKey(plan: Plan, slot: number): Printed {
  const key = plan.ruleKeys[slot] ?? 0;
  return key === 0 ? {} : { key: decodeString(plan, key) };
}

function groupName(plan: Plan, group: number): string {
  const offset = plan.words[plan.meta[META.groups]! + group]!;
  return decodeString(plan, plan.words[offset + GROUP.records + RECORD.name]!);
}

const KIND_NAMES = Object.fromEntries(Object.entries(PATTERN_KIND).map(([name, kind]) => [kind, name]));

/** A pattern filter at an offset of `words`, its patterns in the order in which they were listed; `null`: no filter. */
export function printFilter(plan: Plan, offset: number): Printed | null {
  if (offset === NONE) return null;
  const from = offset + FILTER.patterns;
  const middle = from + plan.words[offset + FILTER.includes]!;
  const end = middle + plan.words[offset + FILTER.excludes]!;
  const print = (pattern: number): Printed => ({
    kind: KIND_NAMES[plan.patterns[pattern * PATTERN.size + PATTERN.kind]!],
    source: decodeString(plan, plan.patterns[pattern * PATTERN.size + PATTERN.source]!),
  });
  return {
    includes: [...plan.words.subarray(from, middle)].map(print),
    excludes: [...plan.words.subarray(middle, end)].map(print),
  };
}
