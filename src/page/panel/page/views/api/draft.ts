/** The draft: which rules wait, what they would decide differently, which invariants hold; published at once or thrown away. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { callJson } from '../../api/call.ts';
import {
  type DraftDiffShown,
  type DraftShown,
  domainPath,
  type InvariantsProved,
} from '../../api/documents.ts';
import { sentence } from '../../api/session.ts';
import { getApi, may } from '../../api/state.ts';
import { discardDraft, publishDraft, setPublishMode } from '../../api/writes.ts';
import { EMPTY_FORM, FIELDS } from '../../form.ts';
import { setState } from '../../state.ts';
import { html } from '../parts.ts';
import { confirmDialog, whenText } from './modal.ts';

/** Outcomes that are listed; the others are counted. */
const MAX_LISTED = 50;

/** What the buttons of the section do. */
interface DraftActions {
  readonly publish: () => void;
  readonly discard: () => void;
  readonly mode: (wanted: 'automatic' | 'manual') => void;
}

/** The section. */
export function draftView(): VNode {
  const [review, setReview] = useState<Review | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [asked, setAsked] = useState<'publish' | 'discard' | null>(null);
  const { domain, rules } = getApi();
  const begun = useRef(0);
  const read = async (): Promise<void> => {
    begun.current += 1;
    const mine = begun.current;
    // An older answer that comes later would show a draft that is no more.
    const isNewest = (): boolean => mine === begun.current;
    try {
      const found = await readReview();
      if (!isNewest()) return;
      setReview(found);
      setError(null);
    } catch (fault) {
      if (isNewest()) setError(sentence(fault));
    }
  };
  // Rules are read again after each write of this page and each new revision.
  useEffect(() => {
    if (rules !== null) void read();
  }, [domain?.name, rules]);
  if (error !== null) return html`<p class="refused">${error}</p>`;
  if (review === null) return html`<p class="empty">Comparing the draft with the published rules…</p>`;
  const actions: DraftActions = {
    publish: () => setAsked('publish'),
    discard: () => setAsked('discard'),
    mode: (wanted) => void setPublishMode(wanted).then(read),
  };
  const { changed } = review.draft;
  const amount = `${changed} ${changed === 1 ? 'rule' : 'rules'}`;
  return html`<section class="list" aria-label="Draft">
    ${head(review, actions)}
    ${review.diff !== null && changesView(review)}
    ${review.diff !== null && outcomesView(review.diff)}
    ${review.proof.invariants.length > 0 && invariantsView(review)}
    ${
      asked === 'publish' &&
      html`<${confirmDialog} title="Publish the draft?" word="Publish" close=${() => setAsked((now) => (now === 'publish' ? null : now))}
        act=${() => publishDraft(review.tag)}
        text=${`The changes of ${amount} go to every node as one revision. If the draft was changed since this page read it, nothing is published.`} />`
    }
    ${
      asked === 'discard' &&
      html`<${confirmDialog} title="Throw the draft away?" word="Throw away" close=${() => setAsked((now) => (now === 'discard' ? null : now))}
        act=${() => discardDraft(review.tag)}
        text=${`The changes of ${amount} are lost: the rules are again those that are published.`} />`
    }
  </section>`;
}

/** The state of the draft in a sentence, and what can be done with it. */
function head({ draft: { publish_mode, changed } }: Review, { publish, discard, mode }: DraftActions): VNode {
  const isManual = publish_mode === 'manual';
  const text = !isManual
    ? 'Every change of a rule is published at once. A domain can collect changes in a draft instead, to be reviewed and published together.'
    : changed === 0
      ? 'Changes of rules wait here until the draft is published. Nothing waits.'
      : 'Nodes run the published rules until these changes are published together.';
  return html`<div class="list-head"><div><h2>Draft</h2><p class="note">${text}</p></div>
    <div class="actions straight">
      ${isManual && changed > 0 && may('rules.edit') && html`<button type="button" class="quiet" onClick=${discard}>Throw away</button>`}
      ${isManual && changed > 0 && may('rules.edit') && html`<button type="button" class="primary" onClick=${publish}>Publish the draft</button>`}
      ${isManual && changed === 0 && may('domain.settings') && html`<button type="button" class="quiet" onClick=${() => mode('automatic')}>Publish every change at once</button>`}
      ${!isManual && may('domain.settings') && html`<button type="button" class="quiet" onClick=${() => mode('manual')}>Collect changes in a draft</button>`}
    </div></div>`;
}

/** The rules that the draft changes, with the fields that differ. */
function changesView({ draft: { changes, changed }, diff }: Review): VNode {
  const fields = new Map(diff?.rules.map((rule) => [rule.rule, rule.fields]) ?? []);
  const left = changed - changes.length;
  return html`<h3 class="diff-title">Changed rules</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Changed rules"><table>
      <thead><tr><th scope="col">Rule</th><th scope="col">Change</th><th scope="col">Fields</th><th scope="col">Who</th><th scope="col">When</th></tr></thead>
      <tbody>${changes.map(
        ({ rule, change, account, at }) => html`<tr key=${rule}><th scope="row">${rule}</th><td>${change}</td>
          <td class="why">${change === 'changed' && fieldLines(fields.get(rule) ?? [])}</td>
          <td>${account ?? ''}</td><td class="when">${at === null ? '' : whenText(at)}</td></tr>`,
      )}</tbody>
    </table></div>
    ${left > 0 && html`<p class="note">and ${left} more</p>`}`;
}

type FieldChange = NonNullable<Review['diff']>['rules'][number]['fields'][number];

function fieldLines(fields: readonly FieldChange[]): readonly VNode[] {
  return fields.map(
    ({ field, was, now }) =>
      html`<div key=${field}><code>${field}</code> <span class="deleted">${valueText(was)}</span> → <span class="added">${valueText(now)}</span></div>`,
  );
}

/** A value of a plan; patterns as they were written. */
function valueText(value: unknown): string {
  if (value === undefined) return 'none';
  const sources = Array.isArray(value)
    ? value.map((one: { readonly source?: unknown } | null) => one?.source)
    : [];
  const isPatterns = sources.length > 0 && sources.every((source) => typeof source === 'string');
  return isPatterns ? sources.join(', ') : JSON.stringify(value);
}

/** What would be decided differently, each with a request that shows it. */
function outcomesView({ proof, outcomes = [] }: NonNullable<Review['diff']>): VNode {
  const shown = outcomes.filter(({ kind }) => kind !== 'other_rule');
  const listed = shown.slice(0, MAX_LISTED);
  const note =
    proof?.equivalent === true
      ? 'Proved: the draft decides every request as the published rules do.'
      : proof?.complete === false
        ? 'Not everything is proved; there may be more outcomes than these.'
        : shown.length === 1
          ? 'Proved: this outcome changes, and no other.'
          : 'Proved: these outcomes change, and no others.';
  return html`<h3 class="diff-title">What would be decided differently</h3>
    <p class="note">${note}</p>
    <ul class="changes">${listed.map(
      ({ was, now, command, request }) => html`<li key=${`${was} ${now} ${command}`}>
        <div><span class="deleted">${was}</span> → <span class="added">${now}</span></div>
        <code>${command}</code>
        <button type="button" class="quiet" aria-label=${`Try it: ${command}`} onClick=${() => tryRequest(request)}>Try it</button></li>`,
    )}</ul>
    ${shown.length > listed.length && html`<p class="note">and ${shown.length - listed.length} more; <code>edgeplan draft diff</code> lists all</p>`}`;
}

/** Fills the form with a request that a proof has found. */
function tryRequest(request: Readonly<Record<string, unknown>>): void {
  const bot = request['bot'] as { readonly kind: string; readonly verified: boolean } | null;
  const given = Object.fromEntries(
    FIELDS.flatMap((name) => (typeof request[name] === 'string' ? [[name, request[name]]] : [])),
  );
  const cleared = Array.isArray(request['cleared']) ? request['cleared'].join(' ') : '';
  const kind = bot === null ? 'none' : `${bot.kind}${bot.verified ? ':verified' : ''}`;
  setState({ form: { ...EMPTY_FORM, ...given, bot: kind, cleared }, section: 'request' });
}

/** The invariants that the domain requires. */
function invariantsView({ proof: { invariants } }: Review): VNode {
  return html`<h3 class="diff-title">Required invariants</h3>
    <ul class="changes">${invariants.map(
      ({ name, claim, result, outcome, command, open }) => html`<li key=${name}>
        <div class=${result === 'proved' ? 'good' : 'bad'}>${result === 'proved' ? '✔' : '✘'} ${name}</div>
        <div class="dim">${
          result === 'proved'
            ? `proved: ${claim}`
            : result === 'broken'
              ? html`${claim}, but <code>${command}</code> gets ${outcome}`
              : result === 'empty'
                ? 'no request that the domain serves is meant'
                : `not decided within the budget: ${open}`
        }</div></li>`,
    )}</ul>`;
}

// What a review of the draft shows: which rules it changes, what it would decide differently, which invariants hold.

/** A draft as it is reviewed. */
interface Review {
  readonly draft: DraftShown;
  /** The tag of the draft that was compared; a publication names it. */
  readonly tag: string;
  /** `null`: it changes nothing. */
  readonly diff: DraftDiffShown | null;
  readonly proof: InvariantsProved;
}

/** Reads the draft of the domain with its comparison; `null`: no domain is chosen. @throws CallFault */
async function readReview(): Promise<Review | null> {
  const { domain } = getApi();
  if (domain === null) return null;
  const path = domainPath(domain.name);
  const { body: draft, headers } = await callJson<DraftShown>(`${path}/draft`);
  const tag = headers.get('etag') ?? '"none"';
  if (draft.publish_mode === 'automatic')
    return { draft, tag, diff: null, proof: { holds: true, invariants: [] } };
  const { body: proof } = await callJson<InvariantsProved>(`${path}/invariants/proof`);
  if (draft.changed === 0) return { draft, tag, diff: null, proof };
  const compared = await callJson<DraftDiffShown>(`${path}/draft/diff`);
  return { draft, tag: compared.headers.get('etag') ?? tag, diff: compared.body, proof };
}
