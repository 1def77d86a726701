/** Prints a recommendation: gives it its id, and its change the form of a fragment of an edge file. */
import { printEdge } from '../../rules/files/print-edge.ts';
import type { DnsRecord } from '../../rules/model/types.ts';
import { MAX_FRAGMENT_CHARACTERS } from './limits.ts';
import type { DraftRecommendation, ProposedChange, Recommendation } from './shapes.ts';

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
