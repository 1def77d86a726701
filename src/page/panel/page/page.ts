/**
 * The page: evaluates the request of the form in the browser, on the octets of the plan, and shows the decision with its reasons. This
 * file connects the parts: source → plans → evaluator → state → views → address.
 */
import { render } from 'preact';
import type * as Engine from './engine.ts';
import { EMPTY_FORM, FIELDS, type RequestForm } from './form.ts';
import { partsOfPage } from './sources/source-of-page.ts';
import { getState, onState, type PageState, SECTIONS, setState, TABS, type TabName } from './state.ts';
import { html } from './views/parts.ts';

// The state of the page in the URL's fragment: a link opens the same request in the same view. It never leaves the browser.

/** The part of the state that a link has. */
type Linked = Pick<
  PageState,
  'form' | 'tab' | 'older' | 'rule' | 'enforced' | 'section' | 'place' | 'domain' | 'revision'
>;

/** Milliseconds without a change before the address is written; browsers bound how often. */
const SETTLE_MS = 250;

/** The fragment of a state, without `#`. */
export function fragmentOf(state: Linked): string {
  const { form, tab, older, rule, enforced, section, place, domain, revision } = state;
  const given = FIELDS.filter((name) => form[name] !== EMPTY_FORM[name]);
  const words = new URLSearchParams(given.map((name) => [name, form[name]]));
  if (tab !== 'trace') words.set('tab', tab);
  if (older !== null) words.set('before', older);
  if (rule !== null) words.set('rule', rule);
  if (enforced) words.set('enforced', '1');
  if (section !== 'request') words.set('section', section);
  if (place !== '') words.set('place', place);
  if (domain !== null) words.set('domain', domain);
  if (revision !== null) words.set('revision', String(revision));
  return words.toString();
}

/** The state of a fragment; unknown names are ignored. */
function stateOfFragment(fragment: string): Linked {
  const words = new URLSearchParams(fragment.replace(/^#/, ''));
  const form = Object.fromEntries(FIELDS.map((name) => [name, words.get(name) ?? EMPTY_FORM[name]]));
  const tab = TABS.find((name) => name === words.get('tab')) ?? ('trace' satisfies TabName);
  return {
    form: form as unknown as RequestForm,
    tab,
    older: words.get('before'),
    rule: words.get('rule'),
    enforced: words.get('enforced') === '1',
    section: SECTIONS.find((name) => name === words.get('section')) ?? 'request',
    place: words.get('place') ?? '',
    domain: words.get('domain'),
    revision: /^[1-9]\d{0,14}$/.test(words.get('revision') ?? '') ? Number(words.get('revision')) : null,
  };
}

let writing: ReturnType<typeof setTimeout> | undefined;
/** The fragment that the state was read from, or that was written last. */
let known = location.hash;

/** The state of the address. */
function readAddress(): Linked {
  known = location.hash;
  return stateOfFragment(known);
}

/** Writes the state into the address once it settles. */
function writeFragment(state: Linked): void {
  clearTimeout(writing);
  writing = setTimeout(() => {
    // A fragment that somebody has just put there is read by the event that follows, not overwritten.
    if (location.hash !== known) return;
    const fragment = fragmentOf(state);
    if (fragment === location.hash.slice(1)) return;
    history.replaceState(null, '', fragment === '' ? location.pathname : `#${fragment}`);
    known = location.hash;
  }, SETTLE_MS);
}

const { source, view } = await partsOfPage();
/** The evaluator's chunk; it loads while the page is drawn. */
const engine: Promise<typeof Engine> = import('./engine.ts');
/** Plans by digest. PERF: a plan with its rules is read once. */
const opened = new Map<string, Promise<Engine.ReadyPlan>>();

/** The plan of a digest, ready for evaluations. */
function readyPlan(digest: string): Promise<Engine.ReadyPlan> {
  let opening = opened.get(digest);
  if (opening === undefined) {
    opening = Promise.all([engine, source.plan(digest)]).then(([{ openSource }, plan]) => openSource(plan));
    // A failed load is tried again by the next change.
    opening.catch(() => opened.delete(digest));
    opened.set(digest, opening);
  }
  return opening;
}

/** The answer of a plan to the form; `null`: no plan, or nothing was typed. */
async function answerOf(digest: string | null, form: RequestForm): Promise<Engine.Answer | null> {
  if (digest === null || form.url.trim() === '') return null;
  const [{ answerTo }, plan] = await Promise.all([engine, readyPlan(digest)]);
  return answerTo(plan, form);
}

/** Raised by each evaluation, so that the answer of an earlier one is not shown. */
let turn = 0;

/** Evaluates the form with the newest plan and with the one beside it. */
async function evaluate({ form, source: known, older }: PageState): Promise<void> {
  const mine = ++turn;
  const plans = known?.plans ?? [];
  const beside = plans.some(({ digest }) => digest === older) ? older : null;
  try {
    const [answer, olderAnswer] = await Promise.all([
      answerOf(plans[0]?.digest ?? null, form),
      answerOf(beside, form),
    ]);
    if (mine === turn) {
      const { subject, conditions } = answer?.ok === true ? answer : getState();
      setState({ answer, olderAnswer, subject, conditions, fault: null });
    }
  } catch (error) {
    if (mine === turn) setState({ fault: error instanceof Error ? error.message : String(error) });
  }
  const current = new Set(plans.map(({ digest }) => digest));
  for (const digest of opened.keys()) if (!current.has(digest)) opened.delete(digest);
}

const root = document.getElementById('page')!;
root.replaceChildren();

onState((state, before) => {
  render(html`<${view} state=${state} />`, root);
  const newest = state.source?.plans[0]?.digest !== before.source?.plans[0]?.digest;
  if (state.form !== before.form || state.older !== before.older || newest) void evaluate(state);
  writeFragment(state);
});
addEventListener('hashchange', () => setState(readAddress()));
setState(readAddress());
source.follow((known) => {
  setState({ source: known });
  const { domain } = known;
  if (getState().form.url === '' && domain !== null)
    setState({ form: { ...getState().form, url: `https://${domain}/` } });
});
