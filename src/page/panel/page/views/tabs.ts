/** The tabs below the decision (WAI-ARIA APG, "Tabs"): arrow keys move among them. */
import type { VNode } from 'preact';
import type { Answered } from '../engine.ts';
import { type PageState, setState, TABS, type TabName } from '../state.ts';
import { html } from './html.ts';
import { rulesView } from './rules.ts';
import { curlView, jsonView, testView } from './texts.ts';
import { traceView } from './trace.ts';

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

/** The tab that a key moves the focus to; `null`: the key moves it nowhere. */
function tabOfKey(key: string, tab: TabName): TabName | null {
  const at = TABS.indexOf(tab);
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    Home: 0,
    End: TABS.length - 1,
  };
  const step = steps[key];
  return step === undefined ? null : TABS[(step + TABS.length) % TABS.length]!;
}

/** Tabs and the content of the chosen one. */
export function tabsView({ state, answer }: { readonly state: PageState; readonly answer: Answered }): VNode {
  const { tab } = state;
  const press = (event: KeyboardEvent): void => {
    const next = tabOfKey(event.key, tab);
    if (next === null) return;
    event.preventDefault();
    setState({ tab: next });
    document.getElementById(`tab-${next}`)?.focus();
  };
  return html`<section class="result" aria-label="Reasons">
    <div role="tablist" aria-label="Views of the result" onKeyDown=${press}>
      ${TABS.map(
        (
          name,
        ) => html`<button type="button" role="tab" id=${`tab-${name}`} key=${name} aria-selected=${name === tab} aria-controls="tab-panel"
          tabindex=${name === tab ? 0 : -1} onClick=${() => setState({ tab: name })}>${TITLES[name]}</button>`,
      )}
    </div>
    <div role="tabpanel" id="tab-panel" aria-labelledby=${`tab-${tab}`}>${panelOf(state, answer)}</div>
  </section>`;
}
