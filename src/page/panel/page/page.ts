/**
 * The page: evaluates the request of the form in the browser, on the octets of the plan, and shows the decision with its reasons. This
 * file connects the parts: source → plans → evaluator → state → views → address.
 */
import { render } from 'preact';
import type * as Engine from './engine.ts';
import type { RequestForm } from './form.ts';
import { readAddress, writeFragment } from './fragment.ts';
import { partsOfPage } from './sources/source-of-page.ts';
import { getState, onState, type PageState, setState } from './state.ts';
import { html } from './views/html.ts';

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
