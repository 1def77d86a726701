/**
 * Reads lines of log entries for the rules that are judged by them. In: the log store, whose threads search, and a domain. Out:
 * for each of a few `waf` and `cache` rules the newest lines of each of the last seven days, unparsed.
 *
 * The work is bounded by the rules, by the lines of a rule and day, by the octets of all lines, and by time; the evidence of a
 * recommendation states how many entries of which period it rests on.
 */
import type { RuleType } from '../base/vocabulary.ts';
import { LogFault } from '../logs/fault.ts';
import type { LogAction, LogStore } from '../logs/log-store.ts';
import type { DomainRow, RuleRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { ENTRIES_OF_DAY, ENTRY_DAYS, MAX_ENTRY_OCTETS, MAX_ENTRY_RULES, READ_ENTRIES_MS } from './limits.ts';

const DAY_MS = 86_400_000;

/** The lines of one rule, newest first. */
export interface EntryLines {
  /** `<type>/<id>`. */
  readonly rule: string;
  readonly lines: readonly string[];
}

/** The parameters of `readEntries`. */
export interface EntriesAsked {
  readonly logs: Pick<LogStore, 'find'>;
  readonly tx: Pick<ReadTransaction, 'rules'>;
  readonly domain: Pick<DomainRow, 'id' | 'created_at'>;
  /** The account that asks: its searches run one after another. */
  readonly account: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Reads the lines; `null`: this server stores no entries. @throws LogFault, StoreFault */
export async function readEntries(asked: EntriesAsked): Promise<readonly EntryLines[] | null> {
  const { tx, domain } = asked;
  const rules = [...(await firstRules(tx, domain.id, 'waf')), ...(await firstRules(tx, domain.id, 'cache'))];
  try {
    return await readByDay(rules.map(searchOf), asked);
  } catch (error) {
    if (error instanceof LogFault && error.code === 'absent') return null;
    throw error;
  }
}

/** The enabled rules of a type that are evaluated first. */
function firstRules(
  { rules }: EntriesAsked['tx'],
  domainId: number,
  type: RuleType,
): Promise<readonly RuleRow[]> {
  return rules.page(domainId, { type, after: null, limit: MAX_ENTRY_RULES, enabled: true, text: null });
}

/** The entries that say something of one rule. */
interface RuleSearch {
  readonly rule: string;
  /** Milliseconds since the epoch: earlier entries are of another version of the rule. */
  readonly since: number;
  readonly action: LogAction | null;
}

function searchOf({ type, id, body, updated_at }: RuleRow): RuleSearch {
  const { action_mode } = JSON.parse(body) as { readonly action_mode?: string };
  const blocked = action_mode === 'dry_run' ? 'would-block' : 'block';
  return { rule: `${type}/${id}`, since: updated_at, action: type === 'waf' ? blocked : null };
}

/** The lines of each search, the newest day first, until a bound is reached. */
async function readByDay(
  searches: readonly RuleSearch[],
  { logs, domain, account, clock }: EntriesAsked,
): Promise<readonly EntryLines[]> {
  const now = clock();
  const found = searches.map(({ rule }) => ({ rule, lines: [] as string[] }));
  let octets = 0;
  for (let day = 0; day < ENTRY_DAYS; day++) {
    for (const [index, { rule, since, action }] of searches.entries()) {
      const to = now + 1 - day * DAY_MS;
      const from = Math.max(to - DAY_MS, since, domain.created_at);
      if (from >= to) continue;
      if (octets > MAX_ENTRY_OCTETS || clock() - now > READ_ENTRIES_MS) return found;
      const page = await logs.find({
        ...{ domainId: domain.id, account, from, to, before: null, limit: ENTRIES_OF_DAY },
        // A counted line has no request to judge a rule by, and its requests are those of the lines beside it.
        ...{ action, rule, ip: null, path: null, onlyDecisions: true },
      });
      for (const { line } of page.entries) {
        octets += line.length;
        found[index]!.lines.push(line);
      }
    }
  }
  return found;
}
