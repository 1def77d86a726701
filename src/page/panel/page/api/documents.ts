/** Answers of the management API as the page reads them, by the types of the OpenAPI document. */
import type { RuleType } from '../../../../base/vocabulary/vocabulary.ts';
import type { components, paths } from '../../../../control/client/schema.ts';

/** The JSON of a path's 200. */
type Got<Path extends keyof paths> = paths[Path] extends {
  readonly get: { readonly responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;
/** One entry of a list. */
type EntryOf<List> = List extends readonly (infer One)[] ? One : never;

export type DomainEntry = components['schemas']['DomainSummary'];
export type DomainShown = components['schemas']['Domain'];
export type RecordShown = components['schemas']['DnsRecord'];
export type RevisionEntry = EntryOf<Got<'/domains/{domain}/plans/'>>;
export type NodeEntry = EntryOf<Got<'/domains/{domain}/nodes/'>>;
export type LintEntry = EntryOf<Got<'/domains/{domain}/analysis'>>;
export type HitsShown = Got<'/domains/{domain}/rules/hits/'>;
export type DraftShown = Got<'/domains/{domain}/draft'>;
export type DraftDiffShown = Got<'/domains/{domain}/draft/diff'>;
export type InvariantsProved = Got<'/domains/{domain}/invariants/proof'>;

/** A rule of any type. */
export interface RuleShown extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly type: RuleType;
  readonly enabled: boolean;
  readonly priority: number;
  readonly action_mode: 'enforce' | 'dry_run';
}

/** The path segment of each rule type (API document, "Edge rules"). */
const SLUGS: Partial<Readonly<Record<RuleType, string>>> = {
  bot_route: 'bot-route',
  rate_limit: 'rate-limit',
  error_page: 'error-page',
};

/** The path of the rules of a type. */
export function rulesPath(domain: string, type: RuleType): string {
  return `${domainPath(domain)}/rules/${SLUGS[type] ?? type}/`;
}

/** The path of a domain. */
export function domainPath(domain: string): string {
  return `/domains/${encodeURIComponent(domain)}`;
}
