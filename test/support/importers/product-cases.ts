/** Cases of importers: a configuration of a product, the report that it gives, and decisions as its documentation says. */
import { expect } from 'vitest';
import type { Decision, HeaderChange } from '../../../src/engine/evaluator/decision.ts';
import type { ImportedEdge, ImportOutcome, ImportRefusal } from '../../../src/workbench/importers/report.ts';
import { evaluateImport } from './evaluate-import.ts';

/** What a request is, in short: URL, then what else matters. An `https` GET without headers is its URL alone. */
export interface CaseRequest {
  readonly url: string;
  readonly method?: string;
  readonly ip?: string;
  readonly country?: string;
  readonly asn?: number;
  readonly ja4?: string;
  readonly agent?: string;
  /** Names in lower case; a list is one of lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/**
 * A decision in short: `forward`, `forward /path?query`, `forward origin`, `block`, `challenge`, `301 https://…`, `429`, `cache
 * bypass`, `request set x-a: b` and `response remove x-a` for changes of headers, joined with `, `.
 */
export type CaseDecision = string;

/** One configuration. */
export interface ProductCase {
  readonly name: string;
  /** The documents of the export. */
  readonly documents: readonly unknown[];
  /** Outcomes of the report, in its order, without those that are not needed. */
  readonly outcomes: readonly ImportOutcome[];
  readonly decisions: readonly (readonly [string | CaseRequest, CaseDecision])[];
}

function matches(decision: Decision, expected: string): string {
  const { action, status, location, origin, path, query, cache } = decision;
  if (expected.startsWith('request ')) return changesOf('request', decision.requestHeaders);
  if (expected.startsWith('response ')) return changesOf('response', decision.responseHeaders);
  if (action === 'redirect') return `${status} ${location}`;
  if (/^block \d/.test(expected)) return `${action} ${status}`;
  if (action !== 'forward') return action === 'block' && status === 429 ? '429' : action;
  if (expected.startsWith('forward /')) return `forward ${path}${query === null ? '' : `?${query}`}`;
  if (expected.startsWith('cache ')) return `cache ${cache?.mode ?? 'none'} ${cache?.edgeTtl ?? ''}`.trim();
  if (expected.startsWith('forward '))
    return `forward ${origin!.scheme}://${origin!.address}:${origin!.port}`;
  return 'forward';
}

function changesOf(side: string, changes: readonly HeaderChange[] = []): string {
  const shown = changes.map(({ op, name, value }) =>
    op === 'remove' ? `${op} ${name}` : `${op} ${name}: ${value}`,
  );
  return `${side} ${shown.join(', ')}`;
}

/** Imports the documents and checks report and decisions. */
export function checkCase(
  { documents, outcomes, decisions }: ProductCase,
  translate: (files: readonly { name: string; text: string }[]) => ImportedEdge | ImportRefusal,
): void {
  const files = documents.map((one, index) => ({ name: `${index}.json`, text: JSON.stringify(one) }));
  const imported = evaluateImport(translate(files));
  const { entries } = imported.edge;
  const shown = entries.filter(({ outcome }) => outcome !== 'not_needed');
  const report = shown.map(({ outcome, source, reasons }) => `${outcome} ${source} ${reasons.join('; ')}`);
  expect(
    shown.map(({ outcome }) => outcome),
    report.join('\n'),
  ).toEqual(outcomes);
  for (const { outcome, reasons, becomes } of entries) {
    if (outcome !== 'exact') expect(reasons).not.toEqual([]);
    const isPartial = reasons.includes('the other alternatives of its condition have rules');
    if (outcome === 'not_carried' && !isPartial) expect(becomes).toEqual([]);
  }
  for (const [request, expected] of decisions) {
    const {
      url,
      agent,
      headers = {},
      ...facts
    } = typeof request === 'string' ? ({ url: request } as CaseRequest) : request;
    const [, scheme, host, target] = /^(https?):\/\/([^/]+)(.*)$/.exec(url)!;
    const decision = imported.decide({
      scheme: scheme!,
      host: host!,
      target: target === '' ? '/' : target!,
      ...facts,
      headers: agent === undefined ? headers : { ...headers, 'user-agent': agent },
    });
    expect(matches(decision, expected), `${JSON.stringify(request)}\n${imported.edge.text}`).toBe(expected);
  }
}
