/** Proves the invariants of a domain: for the draft before it is published, and as an answer of the API. */
import { assert } from '../../base/diagnostics/assert.ts';
import { parseInvariants } from '../../rules/model/invariant.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { proveInvariants } from '../../workbench/proofs/invariants.ts';
import { breachText } from '../../workbench/rule-tests/run.ts';
import { witnessText } from '../../workbench/simulation/render-changes.ts';
import { readDomainRows, toRuleSet } from '../publishing/rule-set.ts';
import type { Snapshots } from '../store/database/snapshots.ts';
import type { InvariantsJob } from './job.ts';

/** What is known of one invariant. */
interface InvariantDocument {
  readonly name: string;
  readonly claim: string;
  readonly result: 'proved' | 'broken' | 'empty' | 'unknown';
  /** What the request gets. */
  readonly outcome: string | null;
  readonly request: object | null;
  /** The request as arguments of `edgeplan simulate`. */
  readonly command: string | null;
  /** What was not decided within the budget. */
  readonly open: string | null;
}

/** Proves stored invariants. `body`: their JSON text. */
function documentsOf(ruleSet: RuleSet, body: string): readonly InvariantDocument[] {
  const parsed = parseInvariants(JSON.parse(body));
  assert(parsed.ok, 'stored invariants were read before they were stored');
  return proveInvariants(ruleSet, parsed.invariants).map(({ invariant: { name, claim }, result }) => ({
    name,
    claim,
    result: result.kind,
    outcome: result.kind === 'broken' ? breachText(result) : null,
    request: result.kind === 'broken' ? result.witness : null,
    command: result.kind === 'broken' ? witnessText(result.witness) : null,
    open: result.kind === 'unknown' ? result.open : null,
  }));
}

/** The JSON text of what is proved of the stored rules. @throws StoreFault */
export async function provedText({ domain }: InvariantsJob, snapshots: Snapshots): Promise<string> {
  const { rows, required } = await snapshots.read(async (tx) => ({
    rows: await readDomainRows(tx, domain),
    required: await tx.invariants.get(domain.id),
  }));
  const invariants = required === null ? [] : documentsOf(toRuleSet(rows), required.body);
  const holds = invariants.every(({ result }) => result === 'proved');
  return JSON.stringify({ holds, invariants });
}

/** Broken invariants that a message describes; the others are counted. */
const MAX_NAMED = 3;

/** Why rules must not be published; `null`: every invariant is proved. */
export function brokenText(ruleSet: RuleSet, body: string): string | null {
  const wrong = documentsOf(ruleSet, body).filter(({ result }) => result !== 'proved');
  if (wrong.length === 0) return null;
  const more = wrong.length > MAX_NAMED ? `, and ${wrong.length - MAX_NAMED} more` : '';
  return `${wrong.slice(0, MAX_NAMED).map(sentence).join('; ')}${more}`;
}

function sentence({ name, claim, result, outcome, command, open }: InvariantDocument): string {
  const invariant = `the invariant \`${name}\` (${claim})`;
  switch (result) {
    case 'broken':
      return `${invariant} is broken: \`${command}\` gets ${outcome}`;
    case 'empty':
      return `${invariant} means no request that the domain serves`;
    default:
      return `${invariant} is not proved within its budget: ${open}`;
  }
}
