/**
 * Recommends changes of a domain. In: stored facts. Out: recommendations, the most severe first, each with its evidence and,
 * where a change of rules or records helps, that change. The list of families is below; each is a pure function of the facts,
 * in a file of its own. Facts are read by `read-facts.ts`; a recommendation disappears with its facts.
 */
import type { Severity } from '../../base/diagnostics/severity.ts';
import { timeText } from '../../base/text/time.ts';
import { printEdge } from '../../rules/files/print-edge.ts';
import type { DnsRecord } from '../../rules/model/types.ts';
import { type Circle, likelyCircles } from '../../workbench/proofs/circles.ts';
import { cacheKey } from './cache-key.ts';
import { certificates } from './certificates.ts';
import { dryRun } from './dry-run.ts';
import { exposedOrigins } from './exposed-origins.ts';
import { findings } from './findings.ts';
import { KEY_MS, MAX_FRAGMENT_CHARACTERS } from './limits.ts';
import type { DraftRecommendation, ProposedChange, Recommendation } from './shapes.ts';
import { ruleName, ruleSetOf, type StoredFacts } from './stored-facts.ts';
import { unknownOperations } from './unknown-operations.ts';
import { unusedKeys, unusedOperations } from './unused-calls.ts';
import { unusedRules } from './unused-rules.ts';
import { wafExclusions } from './waf-exclusions.ts';

// API keys that expire soon. In: the keys of the account that asks, never of another one. Out: a recommendation for each that
// is neither revoked nor expired. A key can be made by an operator alone, so that there is no change to propose.

/** The family. */
export function expiringKeys({ keys, now }: StoredFacts): readonly DraftRecommendation[] {
  return keys.flatMap(({ id, name, expires_at, revoked_at, last_used_at }): DraftRecommendation[] => {
    if (expires_at === null || revoked_at !== null) return [];
    if (expires_at <= now || expires_at > now + KEY_MS) return [];
    return [
      {
        kind: 'expiring_key',
        subject: `key/${id}`,
        severity: 'warning',
        message: `your API key \`${name}\` expires on ${timeText(expires_at).slice(0, 10)}; the operator makes another one with \`edgeplan key create\``,
        evidence: {
          key: id,
          name,
          expires_at: timeText(expires_at),
          last_used_at: last_used_at === null ? null : timeText(last_used_at),
        },
        change: null,
      },
    ];
  });
}

// Redirects of several rules that lead visitors round in a circle. In: rules and records. Out: a recommendation for the first
// rule of each circle, with a URL for every step of it. Circles are walked with the evaluator,
// in a bounded number of requests: the proofs about all rules are left to `…/analysis`. Which of the rules is wrong is not
// known, so no change is proposed.

/** The family. */
export function redirectCircles(facts: StoredFacts): readonly DraftRecommendation[] {
  const circles = likelyCircles(ruleSetOf(facts, facts.rules));
  // Another circle of the same first rule follows when this one is gone.
  const byFirst = new Map([...circles].reverse().map((circle) => [circle.rules[0], circle]));
  return circles.filter((circle) => byFirst.get(circle.rules[0]) === circle).map(describe);
}

function describe({ rules, urls }: Circle): DraftRecommendation {
  const names = rules.map(({ type, ref: { id } }) => ruleName({ type, id }));
  const [first = ''] = names;
  const way = [...names, first].map((name) => `\`${name}\``).join(' → ');
  return {
    kind: 'redirect_circle',
    subject: first,
    severity: 'error',
    message: `redirects lead visitors of \`${urls[0]}\` round in a circle: ${way}; let one of these rules lead elsewhere, or exclude the path that it leads to`,
    evidence: { rules: [...names], urls: [...urls] },
    change: null,
  };
}

/** Every family, in the order in which recommendations of one severity are listed. */
const FAMILIES: readonly ((facts: StoredFacts) => readonly DraftRecommendation[])[] = [
  certificates,
  expiringKeys,
  exposedOrigins,
  findings,
  redirectCircles,
  wafExclusions,
  dryRun,
  unknownOperations,
  unusedRules,
  unusedOperations,
  unusedKeys,
  cacheKey,
];

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info'];

/** All recommendations: by severity, then by family. The same facts give the same list. */
export function recommend(facts: StoredFacts): readonly DraftRecommendation[] {
  const drafts = FAMILIES.flatMap((family) => family(facts));
  return SEVERITIES.flatMap((severity) => drafts.filter((draft) => draft.severity === severity));
}

// Prints a recommendation: gives it its id, and its change the form of a fragment of an edge file.

/** The domain that a recommendation is for. */
export interface PrintedFor {
  /** The canonical name. */
  readonly domain: string;
  readonly records: readonly DnsRecord[];
}

/** The recommendation as the API shows it. */
export function printRecommendation(draft: DraftRecommendation, of: PrintedFor): Recommendation {
  const { subject, change, kind, severity, message, evidence } = draft;
  const id = `${kind}:${subject}`;
  const text = change === null ? null : fragmentOf(change, of);
  const fix =
    change === null || text === null
      ? null
      : {
          summary: change.summary,
          edge_yaml: text,
          command: `edgeplan recommend ${of.domain} --fix ${id} | edgeplan apply -f -`,
        };
  const byHand =
    change !== null && text === null
      ? ` (${change.summary}: by hand, the rule is too long to print here)`
      : '';
  return { id, kind, severity, message: `${message}${byHand}`, evidence, fix } as Recommendation;
}

/** The change as a fragment, with the records that its rules name; `null`: it is too long. */
function fragmentOf({ rules = [], records = [] }: ProposedChange, of: PrintedFor): string | null {
  const named = new Set(rules.flatMap(({ record_ids }) => record_ids));
  const scope = of.records.filter(({ id }) => named.has(id) && !records.some((one) => one.id === id));
  const { text } = printEdge({
    domain: { name: of.domain },
    records: [...records, ...scope],
    rules,
    ids: true,
    fragment: true,
  });
  return text.length > MAX_FRAGMENT_CHARACTERS ? null : text;
}
