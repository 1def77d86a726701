/** The whole page. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { shellWord } from '../../../../workbench/simulation/render-text.ts';
import type { Answered } from '../engine.ts';
import type { PlanEntry } from '../source.ts';
import { type PageState, setForm, setState, type TabName } from '../state.ts';
import { decisionView } from './decision.ts';
import { factsForm } from './facts-form.ts';
import { html, idOfField, mistakesBox, typedIn } from './parts.ts';
import { rulesView } from './rules.ts';
import { tabs } from './tabs.ts';
import { traceView } from './trace.ts';

/** The page of a state. */
export function app({ state }: { readonly state: PageState }): VNode {
  const { source } = state;
  return html`<${topBar} state=${state} />
    <main>
      ${source !== null && html`<${mistakesBox} source=${source} />`}
      <${bench} state=${state} />
    </main>`;
}

/** The request and its result. */
export function bench({ state }: { readonly state: PageState }): VNode {
  const { answer } = state;
  return html`<div>
    <${addressBar} state=${state} />
    <div class="bench">
      <${decisionView} state=${state} />
      <${factsForm} state=${state} />
      ${answer?.ok === true && html`<${tabsView} state=${state} answer=${answer} />`}
    </div>
  </div>`;
}

// The method and the URL. A curl line that is pasted there fills the whole form.

/** Methods that are proposed. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Whether a text is a curl command line (`workbench/simulation/curl-line.ts` reads it). */
function isCurl(text: string): boolean {
  return /^\s*curl(?:\.exe)?\s/.test(text);
}

/** Fills the form from a curl line. */
async function fill(line: string, { form }: PageState): Promise<void> {
  const { formOfCurl } = await import('../engine.ts');
  const read = formOfCurl(line, form);
  if (read.ok) setState({ form: read.value, pasteError: null });
  else setState({ pasteError: read.error });
}

/** The bar. */
function addressBar({ state }: { readonly state: PageState }): VNode {
  const { form, pasteError } = state;
  const methods = METHODS.some((method) => method === form.method) ? METHODS : [form.method, ...METHODS];
  const paste = (event: ClipboardEvent): void => {
    const pasted = event.clipboardData?.getData('text') ?? '';
    if (!isCurl(pasted)) return;
    event.preventDefault();
    void fill(pasted, state);
  };
  const type = (event: Event): void => {
    const text = typedIn(event);
    setState({ pasteError: null });
    setForm({ url: text });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isCurl(form.url)) void fill(form.url, state);
  };
  return html`<form class="address" onSubmit=${submit}>
    <div class="address-line">
      <label class="unseen" for=${idOfField('method')}>Method</label>
      <select id=${idOfField('method')} value=${form.method} onChange=${(event: Event) => setForm({ method: typedIn(event) })}>
        ${methods.map((method) => html`<option value=${method}>${method}</option>`)}
      </select>
      <label class="unseen" for=${idOfField('url')}>URL, or a curl line</label>
      <input id=${idOfField('url')} type="text" inputmode="url" value=${form.url} onInput=${type} onPaste=${paste}
        placeholder="https://example.com/path, or paste a curl line" autocomplete="off" autocapitalize="off" spellcheck=${false}
        aria-describedby=${pasteError === null ? null : 'paste-error'} />
    </div>
    ${pasteError !== null && html`<p id="paste-error" class="refused" role="alert">${pasteError}</p>`}
  </form>`;
}

// The tabs below the decision.

/** The title of each tab. */
const TITLES: Readonly<Record<TabName, string>> = {
  trace: 'Trace',
  rules: 'Rules',
  json: 'JSON',
  curl: 'curl',
  test: 'As a test',
};

/** The content of a tab. */
function panelOf(state: PageState, answer: Answered): VNode {
  const { document } = answer;
  switch (state.tab) {
    case 'trace':
      return html`<${traceView} state=${state} document=${document} />`;
    case 'rules':
      return html`<${rulesView} state=${state} document=${document} />`;
    case 'json':
      return html`<${jsonView} answer=${answer} />`;
    case 'curl':
      return html`<${curlView} answer=${answer} />`;
    case 'test':
      return html`<${testView} answer=${answer} />`;
    default:
      return state.tab satisfies never;
  }
}

/** Tabs and the content of the chosen one. */
function tabsView({ state, answer }: { readonly state: PageState; readonly answer: Answered }): VNode {
  return html`<section class="result" aria-label="Reasons">
    <${tabs} label="Views of the result" titles=${TITLES} chosen=${state.tab} choose=${(tab: TabName) => setState({ tab })}>${panelOf(state, answer)}<//>
  </section>`;
}

// Texts to take away: the trace as JSON, the request as command lines, the outcome as a test.

/** A text with a button that copies it. */
export function copyable({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const [copied, setCopied] = useState('');
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => setCopied('refused'),
    );
  };
  const word =
    copied === text ? 'Copied' : copied === 'refused' ? 'The browser refuses; select the text' : 'Copy';
  return html`<figure class="text">
    <figcaption>${label}<button type="button" class="quiet" onClick=${copy}><span aria-live="polite">${word}</span></button></figcaption>
    <pre tabindex="0" aria-label=${label}>${text}</pre>
  </figure>`;
}

/** The trace document, as `edgeplan simulate --json` prints it. */
function jsonView({ answer }: { readonly answer: Answered }): VNode {
  return html`<${copyable} label="edgeplan simulate --json" text=${JSON.stringify(answer.document, null, 2)} />`;
}

/** The options of curl for the request's message. */
function messageOptions({ asked: { request } }: Answered): readonly string[] {
  const words: string[] = [];
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    for (const one of Array.isArray(value) ? value : [String(value)])
      words.push(
        name === 'user-agent'
          ? `-A ${shellWord(one)}`
          : `-H ${shellWord(one === '' ? `${name};` : `${name}: ${one}`)}`,
      );
  }
  if (typeof request.body === 'string') words.push(`--data-raw ${shellWord(request.body)}`);
  return words;
}

/** The options of `edgeplan simulate` for what curl cannot state. */
function factOptions({ asked: { request, world, response } }: Answered): readonly string[] {
  const { bot } = request;
  const botText =
    bot === null
      ? 'none'
      : bot === undefined
        ? undefined
        : `${bot.kind}${bot.verified === true ? ':verified' : ''}`;
  const facts = {
    ip: request.ip,
    country: request.country,
    asn: request.asn == null ? undefined : String(request.asn),
    bot: botText,
    ja4: request.ja4,
    ja4h: request.ja4h,
  };
  return [
    ...Object.entries(facts).flatMap(([name, value]) =>
      value == null ? [] : [`--${name} ${shellWord(value)}`],
    ),
    ...(request.cleared ?? []).map((ref) => `--cleared ${shellWord(ref)}`),
    ...[...(world.counted ?? [])].map(([rule, requests]) => `--counted ${shellWord(`${rule}=${requests}`)}`),
    ...(world.nowGiven ? [`--at ${new Date(world.now).toISOString()}`] : []),
    ...(response === undefined
      ? []
      : [`--status ${response.status}${response.madeBy === 'edge' ? ':edge' : ''}`]),
    ...world.down.map((origin) => `--origin-down ${shellWord(origin)}`),
    ...(world.nodeId === null ? [] : [`--node-id ${world.nodeId}`]),
  ];
}

/** The method as an option; empty if it is implied. */
function methodOption({ asked: { request } }: Answered): readonly string[] {
  const implied = typeof request.body === 'string' ? 'POST' : 'GET';
  if (request.method === implied) return [];
  return [request.method === 'HEAD' ? '-I' : `-X ${shellWord(request.method)}`];
}

/** The request as command lines. */
function curlView({ answer }: { readonly answer: Answered }): VNode {
  const url = shellWord(answer.asked.url);
  const message = [...methodOption(answer), ...messageOptions(answer)];
  const lines = (words: readonly string[]): string => words.join(' \\\n  ');
  const file = answer.subject.name;
  return html`<${copyable} label="curl" text=${lines([`curl ${url}`, ...message])} />
    <${copyable} label="edgeplan, with what curl cannot state" text=${lines([`edgeplan simulate -f ${shellWord(file)} ${url}`, ...message, ...factOptions(answer)])} />`;
}

/** The outcome as a test; the printer of YAML loads with the first one. */
function testView({ answer }: { readonly answer: Answered }): VNode {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void import('../test-writer.ts').then(({ testOf }) => {
      if (isCurrent) setText(testOf(answer));
    });
    return () => {
      isCurrent = false;
    };
  }, [answer]);
  if (text === null) return html`<p class="note">Loading…</p>`;
  return html`<${copyable} label="an entry of tests: in edge.test.yaml" text=${text} />`;
}

// The top of the page: what the plans are made of, whether changes arrive, and the plan to compare with.

/** The time of a plan, by the browser's clock. */
function timeOf({ at }: PlanEntry): string {
  return new Date(at).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
}

/** The choice of the plan beside the newest. */
export function besideChoice({ state }: { readonly state: PageState }): VNode | null {
  const [, ...older] = state.source?.plans ?? [];
  if (older.length === 0) return null;
  const chosen = older.some(({ digest }) => digest === state.older) ? state.older : '';
  return html`<div class="beside">
    <label for="beside">Compare with</label>
    <select id="beside" value=${chosen} onChange=${(event: Event) => setState({ older: typedIn(event) || null, olderAnswer: null })}>
      <option value="">no other plan</option>
      ${older.map((plan) => html`<option value=${plan.digest}>${plan.label} of ${timeOf(plan)}</option>`)}
    </select>
  </div>`;
}

/** The bar. */
function topBar({ state }: { readonly state: PageState }): VNode {
  const { source } = state;
  const [newest] = source?.plans ?? [];
  return html`<header class="top">
    <h1>edgeplan</h1>
    ${
      source !== null &&
      html`<p class="subject"><b>${source.title}</b>
      ${newest !== undefined && html`<span>plan ${newest.label}, ${newest.rules !== null && `${newest.rules} ${newest.rules === 1 ? 'rule' : 'rules'}, `}${timeOf(newest)}</span>`}
      <span class=${source.live ? 'live' : 'live off'}>${source.live ? 'live' : 'not connected: edgeplan does not answer'}</span></p>`
    }
    <${besideChoice} state=${state} />
  </header>`;
}
