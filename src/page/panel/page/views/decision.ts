/** The decision: what happens to the request and by what; below it what `dry_run` rules would do, and what was assumed. */
import type { VNode } from 'preact';
import {
  type Headline,
  type RuleNote,
  refOf,
  type TraceDocument,
} from '../../../../workbench/simulation/document.ts';
import { labelOf } from '../../../../workbench/simulation/render-rule.ts';
import type { Answer } from '../engine.ts';
import type { RequestForm } from '../form.ts';
import { type PageState, setState } from '../state.ts';
import { focusField, html } from './parts.ts';
import { chooseRule } from './rules.ts';

/** The word, the symbol and the tone of each action. */
const SHOWN: Readonly<
  Record<Headline['action'], { readonly word: string; readonly symbol: string; readonly tone: string }>
> = {
  forward: { word: 'Forward', symbol: '✔', tone: 'good' },
  block: { word: 'Block', symbol: '✘', tone: 'bad' },
  challenge: { word: 'Challenge', symbol: '?', tone: 'warn' },
  redirect: { word: 'Redirect', symbol: '→', tone: 'accent' },
  respond: { word: 'Answer', symbol: '●', tone: 'accent' },
  refuse: { word: 'Refuse', symbol: '✘', tone: 'bad' },
};

/** The rules of a document. */
function rulesOf({ phases }: TraceDocument): readonly RuleNote[] {
  return phases.flatMap(({ rules }) => rules);
}

/** A rule that is named. */
interface RuleLinkProps {
  readonly rule: { readonly type: string; readonly id: number; readonly key: string | null };
  /** What the button shows. Default: type, id and key. */
  readonly text?: string;
}

/** A rule as a button that opens it in the trace. */
function ruleLink({ rule, text = labelOf(rule) }: RuleLinkProps): VNode {
  return html`<button type="button" class="link" onClick=${() => chooseRule(refOf(rule))}>${text}</button>`;
}

/** The main part of the headline: where the request goes, or with which status it ends. */
function targetOf({ decision, effective }: TraceDocument, headline: Headline): string {
  if (headline !== decision) return headline.text;
  if (headline.action === 'forward') {
    const query = effective.query === null ? '' : `?${effective.query}`;
    return effective.origin === 'application:'
      ? 'the application answers'
      : `${effective.origin ?? ''}${effective.path ?? ''}${query}`;
  }
  return headline.action === 'redirect' ? (effective.location ?? '') : '';
}

/** Whose error page is shown. */
const PAGES = { svc: 'the standard page', custom: 'its own page', origin: "the origin's page" } as const;

/** A fact of the outcome; `null` and empty values are left out. */
type Fact = readonly [name: string, value: unknown];

/** What else the outcome consists of. */
function factsOf(document: TraceDocument, headline: Headline): readonly Fact[] {
  const { effective, phases } = document;
  const rules = rulesOf(document);
  const acting = headline.by === null ? undefined : rules.find((rule) => refOf(rule) === refOf(headline.by!));
  const gate = phases.find(({ name }) => name === 'gate')?.note ?? null;
  const rewrite = rules.find((rule) => rule.effect === 'rewrite');
  const { cache } = effective;
  const record = effective.record === null ? null : `record ${effective.record.id} ${effective.record.name}`;
  const by =
    headline.by === null
      ? headline.action === 'forward'
        ? record
        : headline.action === 'respond'
          ? 'the edge itself'
          : null
      : headline.by.type === 'record'
        ? labelOf(headline.by)
        : html`<${ruleLink} rule=${headline.by} />`;
  const facts: readonly Fact[] = [
    ['By', by],
    ['Because', acting?.reason.text ?? (headline.action === 'refuse' ? gate : null)],
    ['Written at', acting?.at ?? null],
  ];
  if (headline !== document.decision) return facts;
  const page = document.error_page;
  return [
    ...facts,
    ['Host header', effective.host_header],
    [
      'Rewritten by',
      rewrite === undefined || headline.action !== 'forward' ? null : html`<${ruleLink} rule=${rewrite} />`,
    ],
    [
      'Cache',
      cache === null ? null : `${cache.mode}${cache.edge_ttl_sec === null ? '' : ` ${cache.edge_ttl_sec} s`}`,
    ],
    ['Tags', effective.tags.join(', ')],
    ['Retry-After', effective.retry_after === null ? null : `${effective.retry_after} s`],
    [
      'Error page',
      page === null || page.by === null
        ? null
        : html`${PAGES[page.page ?? 'svc']}, by <${ruleLink} rule=${page.by} />`,
    ],
  ];
}

/** One outcome. */
interface OutcomeProps {
  readonly document: TraceDocument;
  readonly headline: Headline;
  /** What the outcome belongs to, where two outcomes are shown; else `null`. */
  readonly caption: string | null;
}

/** The card of an outcome. */
function outcomeCard({ document, headline, caption }: OutcomeProps): VNode {
  const { word, symbol, tone } = SHOWN[headline.action];
  const status = headline.status === null ? '' : ` ${headline.status}`;
  const target = targetOf(document, headline);
  const facts = factsOf(document, headline).filter(([, value]) => value !== null && value !== '');
  return html`<section class="outcome ${tone}" aria-label=${caption ?? 'Decision'}>
    ${caption !== null && html`<p class="caption">${caption}</p>`}
    <h2><span class="verdict"><span class="symbol" aria-hidden="true">${symbol}</span> ${word}${status}</span>${' '}<span class="target">${target}</span></h2>
    <dl>${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </section>`;
}

/** An answer, or the mistake in the form. */
function answerCard({
  answer,
  caption,
  enforced,
}: {
  readonly answer: Answer;
  readonly caption: string | null;
  readonly enforced: boolean;
}): VNode {
  if (!answer.ok) return html`<section class="outcome none"><p class="refused">${answer.error}</p></section>`;
  const { document } = answer;
  const headline = enforced ? (document.shadow ?? document.decision) : document.decision;
  return html`<${outcomeCard} document=${document} headline=${headline} caption=${caption} />`;
}

/** What `dry_run` rules would have done, with a switch that shows the decision as if they were enforced. */
function dryRunStrip({
  document,
  enforced,
}: {
  readonly document: TraceDocument;
  readonly enforced: boolean;
}): VNode | null {
  const { would_have, shadow } = document;
  if (would_have.length === 0) return null;
  return html`<section class="dry-run" aria-label="Dry run">
    <ul>${would_have.map(
      ({ by, text }) =>
        html`<li><span class="symbol" aria-hidden="true">◇</span> ${text}${by.key !== null && html` <${ruleLink} rule=${by} text=${by.key} />`}</li>`,
    )}</ul>
    ${
      shadow !== null &&
      html`<label class="switch"><input type="checkbox" role="switch" checked=${enforced}
        onChange=${(event: Event) => setState({ enforced: (event.target as HTMLInputElement).checked })} /> Show if enforced</label>`
    }
  </section>`;
}

/** The field of the form that states an assumed input. */
const FIELD_OF: Readonly<
  Record<string, { readonly field: keyof RequestForm | null; readonly word: string }>
> = {
  ip: { field: 'ip', word: 'IP address' },
  country: { field: 'country', word: 'country' },
  asn: { field: 'asn', word: 'AS number' },
  ja4: { field: 'ja4', word: 'JA4' },
  ja4h: { field: 'ja4h', word: 'JA4H' },
  body: { field: 'body', word: 'body' },
  clock: { field: 'at', word: 'clock' },
  rate_counters: { field: 'counted', word: 'rate counters' },
  challenge: { field: 'cleared', word: 'challenge' },
  origin_health: { field: 'down', word: 'origins' },
  origin_turns: { field: null, word: 'turns of origins' },
  node_id: { field: 'node', word: 'node' },
  waf_signatures: { field: null, word: 'signatures' },
};

/** What was assumed, where it matters; a click leads to the field. */
function assumptionsLine({ document }: { readonly document: TraceDocument }): VNode | null {
  const { assumptions } = document;
  if (assumptions.length === 0) return null;
  return html`<p class="assumed"><span>Assumed, and it matters:</span>${assumptions.map(
    ({ input, value, affects }) => {
      const { field, word } = FIELD_OF[input]!;
      const title = `decides ${affects.join(', ')}`;
      return field === null
        ? html`<span key=${input} class="chip" title=${title}>${word} ${value}</span>`
        : html`<button key=${input} type="button" class="chip" title=${title} onClick=${() => focusField(field)}>${word} ${value}</button>`;
    },
  )}</p>`;
}

/** The decision of the newest plan, and of the one beside it. */
export function decisionView({ state }: { readonly state: PageState }): VNode {
  const { answer, olderAnswer, enforced, source, older } = state;
  const refuses = source?.refuses ?? null;
  if (refuses !== null && source?.plans.length === 0)
    return html`<div class="decision"><section class="outcome bad" role="status" aria-label="Decision">
      <h2><span class="verdict"><span class="symbol" aria-hidden="true">✘</span> Refuse</span></h2>
      <p>${refuses} An older revision under “Plan” shows what it would decide.</p></section></div>`;
  if (answer === null)
    return html`<div class="decision"><section class="outcome none"><p>${waitingText(state)}</p></section></div>`;
  const beside = source?.plans.find(({ digest }) => digest === older);
  const now = beside === undefined ? null : `Now, plan ${source?.plans[0]?.label ?? ''}`;
  return html`<div class="decision">
    ${refuses !== null && html`<p class="notice warn">${refuses} Below is what revision ${source?.plans[0]?.label} would decide.</p>`}
    <div class=${beside === undefined ? 'outcomes' : 'outcomes two'} role="status">
      <${answerCard} answer=${answer} caption=${now} enforced=${enforced} />
      ${beside !== undefined && olderAnswer !== null && html`<${answerCard} answer=${olderAnswer} caption=${`Before, plan ${beside.label}`} enforced=${enforced} />`}
    </div>
    ${answer.ok && html`<${dryRunStrip} document=${answer.document} enforced=${enforced} /><${assumptionsLine} document=${answer.document} />`}
  </div>`;
}

function waitingText({ source, form, fault }: PageState): string {
  if (fault !== null) return fault;
  if (source === null) return 'Loading the plan…';
  if (source.plans.length === 0) return 'There is no plan yet.';
  return form.url.trim() === ''
    ? 'Type a URL above to see what the edge does with it.'
    : 'Loading the evaluator…';
}
