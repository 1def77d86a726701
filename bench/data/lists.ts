/** Rule sets whose first rule names a list, and requests of which some are aimed at entries that lists of every size have. */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { readEntries } from '../../src/rules/model/lists.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { type Random, seeded } from '../../test/support/generate-random.ts';
import { mixed } from './mixed.ts';
import { flat } from './requests.ts';
import { SECTIONS } from './words.ts';
import { ruleSetOf } from './written.ts';

/** Kinds of lists whose size is compared. */
export type ListKind = 'ip' | 'path' | 'user_agent';

/** What a rule set with a list is made of. */
interface ListedInput {
  /** Entries of the list; those of a smaller one are the first of a larger. */
  readonly size: number;
  /** Requests. */
  readonly pool: number;
}

interface Listed {
  readonly ruleSet: RuleSet;
  /** The same with the entries in the rule. */
  readonly written: RuleSet;
  readonly requests: readonly EdgeRequest[];
}

/** Entry `at` of a list: networks of 256 addresses, whole paths, whole User-Agents. */
function entryOf(kind: ListKind, at: number): string {
  // Neighbours in the list are far apart as addresses and as texts.
  const spread = Math.imul(at + 1, 0x9e3779b1) >>> 0;
  switch (kind) {
    case 'ip':
      // Of a block that other requests do not come from (RFC 1112 §4).
      return `${240 + (spread >>> 28)}.${(spread >>> 20) & 255}.${(spread >>> 12) & 255}.0/24`;
    case 'path':
      return `/${SECTIONS[at % SECTIONS.length]}/old-${spread.toString(36)}.html`;
    case 'user_agent':
      return `Mozilla/5.0 (compatible; crawler-${spread.toString(36)}/1.${at % 90})`;
    default:
      return kind satisfies never;
  }
}

/** The filter of the rule that is first. */
function filterOf(kind: ListKind, entries: readonly string[]): Readonly<Record<string, unknown>> {
  if (kind === 'ip') return { ips: entries };
  if (kind === 'path') return { path_includes: entries };
  return { conditions: { user_agents: { includes: entries } } };
}

/** A request that the entry matches. */
function aimedAt(kind: ListKind, entry: string, request: EdgeRequest): EdgeRequest {
  if (kind === 'ip') return { ...request, ip: flat(entry.replace('.0/24', '.77')) };
  if (kind === 'path') return { ...request, target: flat(entry) };
  return { ...request, headers: { ...request.headers, 'user-agent': flat(entry) } };
}

/** A hundred mixed rules after one that names a list. */
export function listed(kind: ListKind, { size, pool }: ListedInput): Listed {
  const { ruleSet: others, requests } = mixed(100, pool);
  const entries = Array.from({ length: size }, (_, at) => entryOf(kind, at));
  const read = readEntries(kind, entries);
  if (!read.ok) throw new Error(`the bench wrote a list that is refused: ${read.diagnostics[0]?.message}`);
  const lists = [{ name: 'listed', kind, entries: read.entries }];
  const of = (filter: readonly string[], more: { readonly lists?: typeof lists }): RuleSet => {
    const input = { domain: others.domain.name, records: ['@'], ...more };
    const [first] = ruleSetOf({ ...input, rules: [{ type: 'drop', ...filterOf(kind, filter) }] }).rules;
    return { ...others, rules: [{ ...first!, id: 1_000_000, priority: 0 }, ...others.rules], ...more };
  };
  const random: Random = seeded(13);
  return {
    ruleSet: of(['@listed'], { lists }),
    // Of the large list only the requests are used, and a rule does not have so many entries.
    written: of(entries.slice(0, 100), {}),
    requests: requests.map((request) =>
      random.chance(0.25) ? aimedAt(kind, entries[random.int(Math.min(size, 100))]!, request) : request,
    ),
  };
}
