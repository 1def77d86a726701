/** The page over the management API: sign-in, then the sections of a domain. */
import type { FunctionComponent, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiState, NodeEntry, RecordShown, RevisionEntry } from '../../api/documents.ts';
import { chooseDomain, readNodes, report, signIn, signOut } from '../../api/session.ts';
import { getApi, may, SIGNED_OUT } from '../../api/state.ts';
import { deleteRecord, recordPath } from '../../api/writes.ts';
import { goTo, type PageState, SECTIONS, type SectionName, setState } from '../../state.ts';
import { bench, besideChoice } from '../app.ts';
import { html, typedIn } from '../parts.ts';
import { draftView } from './draft.ts';
import { editor, type FieldGroup } from './editor.ts';
import { historyView } from './history.ts';
import { confirmDialog, modal, noticeBox, waitLine, whenText } from './modal.ts';
import { rulesSection } from './rules.ts';

/** The title of each section. */
const TITLES: Readonly<Record<SectionName, string>> = {
  request: 'Request',
  rules: 'Rules',
  gateways: 'Gateways',
  draft: 'Draft',
  records: 'Records',
  history: 'History',
  nodes: 'Nodes',
};

/** The navigation. */
function sections({ section }: PageState): VNode {
  return html`<nav class="sections" aria-label="Sections">${SECTIONS.map(
    (name) => html`<button type="button" key=${name} aria-current=${name === section ? 'page' : null}
      onClick=${() => goTo(name)}>${TITLES[name]}</button>`,
  )}</nav>`;
}

/** The content of the chosen section. */
function sectionOf(state: PageState): VNode {
  switch (state.section) {
    case 'request':
      return html`<${bench} state=${state} />`;
    case 'rules':
      return html`<${rulesSection} state=${state} />`;
    case 'gateways':
      return html`<${laterSection} key="gateways" state=${state} load=${loadGateways} />`;
    case 'draft':
      return html`<${draftView} />`;
    case 'records':
      return html`<${recordsView} state=${state} />`;
    case 'history':
      return html`<${historyView} state=${state} />`;
    case 'nodes':
      return html`<${nodesView} state=${state} />`;
    default:
      return state.section satisfies never;
  }
}

// Sections that are chunks of their own: many domains never open them.

/** What draws a section. */
type SectionView = FunctionComponent<{ readonly state: PageState }>;

async function loadGateways(): Promise<SectionView> {
  return (await import('../gateways/gateways-section.ts')).gatewaysSection;
}

/** A section whose chunk loads when it is first opened. */
function laterSection({
  state,
  load,
}: {
  readonly state: PageState;
  readonly load: () => Promise<SectionView>;
}): VNode {
  const [view, setView] = useState<{ readonly draw: SectionView } | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (failed) return;
    load().then(
      (draw) => setView({ draw }),
      () => setFailed(true),
    );
  }, [load, failed]);
  if (view !== null) return html`<${view.draw} state=${state} />`;
  if (!failed) return html`<p class="empty">Loading…</p>`;
  return html`<p class="empty" role="alert">The server did not send this part of the page.${' '}
    <button type="button" class="link" onClick=${() => setFailed(false)}>Try again</button></p>`;
}

/** What is shown while no domain is. */
function waitingText({ domains, session }: NonNullable<PageState['api']>): string {
  if (session === 'in' && domains.length === 0)
    return 'This account has no domain yet. Add one with the API or with edgeplan apply, then reload this page.';
  return 'Loading the domain…';
}

/** The page of a state. */
export function shell({ state }: { readonly state: PageState }): VNode {
  const api = state.api ?? SIGNED_OUT;
  if (api.session !== 'in') return html`<${signInView} api=${api} />`;
  return html`<${sessionBar} state=${state} api=${api} />
    ${sections(state)}
    <main tabindex="-1">
      <${noticeBox} api=${api} />
      ${api.domain === null ? html`<p class="empty">${waitingText(api)}</p>` : sectionOf(state)}
    </main>`;
}

// How far the current revision has come: what each node has reported.

/** The state of a node in words. */
function stateOf({ current, outcome, reason }: NodeEntry): VNode {
  if (outcome === 'nack') return html`<span class="bad">✘ refused it: ${reason}</span>`;
  if (current) return html`<span class="good">✔ serves the current revision</span>`;
  return outcome === null
    ? html`<span class="dim">has reported nothing yet</span>`
    : html`<span class="warn">◌ serves an older revision</span>`;
}

/** The section. */
function nodesView(): VNode {
  const { nodes, revisions, domain } = getApi();
  useEffect(() => {
    readNodes().catch(report);
  }, [domain?.name]);
  if (nodes === null) return html`<p class="empty">Loading the nodes…</p>`;
  const live = nodes.filter(({ current }) => current).length;
  const [newest] = revisions;
  return html`<section class="list" aria-label="Nodes">
    <div class="list-head"><div><h2>Nodes</h2>
      <p class="note">Each node reports the revision that it serves, or why it refuses one and goes on with the one before. The list follows as reports come in.</p></div></div>
    ${nodes.length === 0 && html`<p class="empty">No node serves this domain yet. <code>edgeplan node-token create</code> makes a token for one.</p>`}
    ${
      nodes.length > 0 &&
      html`<p class="progress-line"><progress max=${nodes.length} value=${live} aria-label="Nodes that serve the current revision"></progress>
      <span>${live} of ${nodes.length} ${nodes.length === 1 ? 'node serves' : 'nodes serve'}${newest === undefined ? ' it' : ` revision ${newest.revision}`}</span></p>
    <div class="scroll" tabindex="0" role="region" aria-label="List of nodes"><table>
      <thead><tr><th scope="col">Node</th><th scope="col">Revision</th><th scope="col">State</th><th scope="col">Reported</th></tr></thead>
      <tbody>${nodes.map(
        (
          node,
        ) => html`<tr key=${node.id}><th scope="row">${node.name}</th><td>${node.revision === null ? '' : `#${node.revision}`}</td><td>${stateOf(node)}</td>
          <td>${node.reported_at === null ? '' : whenText(node.reported_at)}</td></tr>`,
      )}</tbody>
    </table></div>`
    }
  </section>`;
}

// The sign-in: an API key, which stays in the memory of this page.

/** Keys begin so (API document, "API key"). */
const PREFIX = 'svc_';

/** What is wrong with the text before any server sees it; `null`: nothing. */
function mistakeIn(text: string): string | null {
  if (text === '') return 'Type or paste an API key.';
  if (!/^[\x21-\x7e]+$/.test(text))
    return 'A key has letters, digits and underscores only. Was more than the key pasted?';
  return text.startsWith(PREFIX) ? null : `A key begins with ${PREFIX}.`;
}

/** The form. */
function signInView({ api }: { readonly api: ApiState }): VNode {
  const [key, setKey] = useState('');
  const [mistake, setMistake] = useState<string | null>(null);
  const opening = api.session === 'opening';
  const input = useRef<HTMLInputElement>(null);
  // Also after a refused key and after the end of a session, when what had the focus is gone.
  useEffect(() => {
    if (!opening) input.current!.focus();
  }, [opening]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const text = key.trim();
    const found = mistakeIn(text);
    setMistake(found);
    if (found !== null) return;
    setKey('');
    void signIn(text);
  };
  const problem = mistake ?? api.refused;
  return html`<main class="sign-in">
    <h1>edgeplan</h1>
    <p class="lead">See what the edge does with any request, and why. Change the rules, and see the difference.</p>
    <form onSubmit=${submit}>
      <label for="key">API key</label>
      <input id="key" ref=${input} type="password" value=${key} autocomplete="off" autocapitalize="off" spellcheck=${false}
        placeholder="svc_…" aria-invalid=${problem === null ? null : 'true'} aria-describedby="key-note key-problem"
        onInput=${(event: Event) => setKey(typedIn(event))} disabled=${opening} />
      <p id="key-problem" class="refused" role="alert">${opening ? null : problem}</p>
      <button type="submit" class="primary" disabled=${opening}>${opening ? 'Signing in…' : 'Sign in'}</button>
      <p id="key-note" class="note">The key stays in the memory of this page until you close it, reload it or sign out. It is sent to this server only.${' '}
        <code>edgeplan try</code> prints a key; <code>edgeplan key create</code> makes one.</p>
    </form>
    <div role="status"><${waitLine} waiting=${api.waiting} /></div>
    <p class="note"><a href="../docs/">API reference</a></p>
  </main>`;
}

// The top of the page: the domain, the revision that decides, the one beside it, and the end of the session.

/** What the key may do, in two or three words; `null`: everything. */
function limitOf({ domain, readOnlyKey }: ApiState): string | null {
  if (domain === null) return null;
  if (readOnlyKey) return 'read-only key';
  return may('rules.edit') ? null : `${domain.my_role}: may not change rules`;
}

/** The choice of the domain. */
function domainChoice({ domains }: ApiState, { domain }: PageState): VNode {
  return html`<div class="choice">
    <label for="domain">Domain</label>
    <select id="domain" value=${domain ?? ''} onChange=${(event: Event) => void chooseDomain(typedIn(event))}>
      ${domains.map(({ name, status }) => html`<option key=${name} value=${name}>${name}${status === 'active' ? '' : ` (${status})`}</option>`)}
    </select>
  </div>`;
}

/** The newest revision as a choice. */
function newestText(newest: RevisionEntry | undefined): string {
  if (newest === undefined) return 'nothing is published';
  return `#${newest.revision}, the newest${newest.digest === null ? ': refuses every request' : ''}`;
}

/** The choice of the revision that decides. */
function planChoice({ revisions }: ApiState, { revision }: PageState): VNode {
  const choose = (event: Event): void => {
    const text = typedIn(event);
    setState({ revision: text === '' ? null : Number(text) });
  };
  const [newest] = revisions;
  const others = revisions.filter((one) => one !== newest && one.digest !== null && !one.pruned);
  const shown = others.some((one) => one.revision === revision) ? revision : null;
  return html`<div class="choice">
    <label for="plan">Plan</label>
    <select id="plan" value=${shown === null ? '' : String(shown)} onChange=${choose}>
      <option value="">${newestText(newest)}</option>
      ${others.map((one) => html`<option key=${one.revision} value=${String(one.revision)}>#${one.revision}, ${whenText(one.created_at)}</option>`)}
    </select>
  </div>`;
}

/** The bar. */
function sessionBar({ state, api }: { readonly state: PageState; readonly api: ApiState }): VNode {
  const limit = limitOf(api);
  return html`<header class="top">
    <h1>edgeplan</h1>
    <div class="choices">
      ${api.domains.length > 0 && domainChoice(api, state)}
      ${api.domain !== null && planChoice(api, state)}
      <${besideChoice} state=${state} />
    </div>
    ${limit !== null && html`<span class="badge">${limit}</span>`}
    <span class=${api.live ? 'live' : 'live off'}>${api.live ? 'live' : 'not connected: the server does not answer'}</span>
    <button type="button" class="quiet" onClick=${() => signOut(null)}>Sign out</button>
  </header>`;
}

// The DNS records of the domain, and which of them go through the edge.

/** Fields that matter only to proxied records. */
const EDGE: ReadonlySet<string> = new Set(['captcha', 'scheme', 'port', 'host_header', 'monitor', 'timeout']);

/** What a new record begins with. */
const PROPOSED = { type: 'A' } as const;

/** What is open above the list. */
type Open =
  | { readonly kind: 'edit' | 'delete'; readonly record: RecordShown }
  | { readonly kind: 'new' }
  | { readonly kind: 'nothing' };

const NOTHING: Open = { kind: 'nothing' };

function groupsOf(isNew: boolean): readonly FieldGroup[] {
  const all = getApi().fields?.record.fields ?? [];
  // The type of a record cannot change.
  const fields = all.filter(({ name }) => isNew || name !== 'type');
  return [
    { title: 'The record', fields: fields.filter(({ name }) => !EDGE.has(name)) },
    { title: 'Through the edge', fields: fields.filter(({ name }) => EDGE.has(name)) },
  ];
}

/** Dialogs. @param close closes this one: another may be open by the time that its change is made */
function dialogOf(open: Open, close: () => void): VNode | null {
  if (open.kind === 'nothing') return null;
  if (open.kind === 'delete') {
    const { record } = open;
    const effect = record.proxied ? ' The edge refuses requests for it then.' : '';
    return html`<${confirmDialog} title=${`Delete ${record.name} ${record.type}?`} word="Delete the record" close=${close}
      text=${`Its destination is ${record.destination}.${effect}`} act=${() => deleteRecord(record)} />`;
  }
  const isNew = open.kind === 'new';
  const title = open.kind === 'new' ? 'New record' : `Record ${open.record.name} ${open.record.type}`;
  const path = recordPath(open.kind === 'new' ? null : open.record.id);
  return html`<${modal} title=${title} close=${close} wide>
    <${editor} path=${path} isNew=${isNew} groups=${groupsOf(isNew)} options=${{}} proposed=${PROPOSED} editable=${may('records.edit')}
      done=${isNew ? 'The record is added.' : `${title} is saved.`} close=${close} />
  <//>`;
}

/** The section. */
function recordsView(): VNode {
  const [open, setOpen] = useState<Open>(NOTHING);
  const { records } = getApi();
  if (records === null) return html`<p class="empty">Loading the records…</p>`;
  const editable = may('records.edit');
  return html`<section class="list" aria-label="Records">
    <div class="list-head">
      <div><h2>Records</h2><p class="note">Requests for a proxied record go through the edge, where the rules apply; of the others only the DNS answers.</p></div>
      ${editable && html`<button type="button" class="primary" onClick=${() => setOpen({ kind: 'new' })}>New record</button>`}
    </div>
    ${records.length === 0 && html`<p class="empty">This domain has no records yet.</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="List of records"><table>
      <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Destination</th><th scope="col">Edge</th>${editable && html`<th scope="col"><span class="unseen">Actions</span></th>`}</tr></thead>
      <tbody>${records.map(
        (record) => html`<tr key=${record.id}>
          <th scope="row"><button type="button" class="link" onClick=${() => setOpen({ kind: 'edit', record })}>${record.name}</button></th>
          <td>${record.type}</td><td class="place">${record.destination}</td>
          <td>${record.proxied ? html`<span class="badge proxied">proxied</span>` : html`<span class="dim">DNS only</span>`}</td>
          ${editable && html`<td class="end"><button type="button" class="quiet" aria-label=${`Delete ${record.name} ${record.type}`} onClick=${() => setOpen({ kind: 'delete', record })}>Delete</button></td>`}
        </tr>`,
      )}</tbody>
    </table></div>
    ${dialogOf(open, () => setOpen((now) => (now === open ? NOTHING : now)))}
  </section>`;
}
