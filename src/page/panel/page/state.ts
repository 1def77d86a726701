/** The state of the page: one value, replaced as a whole. Views read it; handlers replace parts of it with `setState`. */
import type { SimulationSubject } from '../../../workbench/simulation/simulate.ts';
import type { FindingDocument } from '../documents.ts';
import type { ApiState } from './api/documents.ts';
import type { Answer, FormConditions } from './engine.ts';
import { EMPTY_FORM, type RequestForm } from './form.ts';
import type { SourceState } from './source.ts';

/** The tabs of the result, in order. */
export const TABS = ['trace', 'rules', 'json', 'curl', 'test'] as const;
export type TabName = (typeof TABS)[number];

/** The sections of the page over the API, in order. */
export const SECTIONS = ['request', 'rules', 'gateways', 'draft', 'records', 'history', 'nodes'] as const;
export type SectionName = (typeof SECTIONS)[number];

/** The whole state. */
export interface PageState {
  readonly form: RequestForm;
  readonly tab: TabName;
  /** The digest of the plan that is shown beside the newest one; `null`: none. */
  readonly older: string | null;
  /** The rule that was chosen in a list: `<type>/<id>`; `null`: none. */
  readonly rule: string | null;
  /** What the source last reported; `null`: nothing yet. */
  readonly source: SourceState | null;
  /** The answer of the newest plan; `null`: there is no plan, or no URL was typed. */
  readonly answer: Answer | null;
  /** The answer of the plan beside it. */
  readonly olderAnswer: Answer | null;
  /** The newest plan, ready for evaluations; `null`: not loaded yet. */
  readonly subject: SimulationSubject | null;
  /** What may be assumed of it. */
  readonly conditions: FormConditions | null;
  /** Whether the trace lists every rule. */
  readonly all: boolean;
  /** What a pasted curl line lacks; `null`: nothing was pasted, or it was read. */
  readonly pasteError: string | null;
  /** Whether the decision is shown as if every `dry_run` rule were enforced. */
  readonly enforced: boolean;
  /** What is known over the management API; `null`: the page is about a file. */
  readonly api: ApiState | null;
  /** The section that is shown over the API. */
  readonly section: SectionName;
  /** What of the section is shown, such as `consumers/12`; empty: what it begins with. */
  readonly place: string;
  /** The domain that was chosen over the API; `null`: none was. */
  readonly domain: string | null;
  /** The revision that was chosen; `null`: the newest. */
  readonly revision: number | null;
  /** Why the page cannot work, in a sentence; `null`: it does. */
  readonly fault: string | null;
}

let state: PageState = {
  form: EMPTY_FORM,
  tab: 'trace',
  older: null,
  rule: null,
  source: null,
  answer: null,
  olderAnswer: null,
  subject: null,
  conditions: null,
  all: false,
  pasteError: null,
  enforced: false,
  api: null,
  section: 'request',
  place: '',
  domain: null,
  revision: null,
  fault: null,
};

type Listener = (state: PageState, before: PageState) => void;
const listeners = new Set<Listener>();

/** The state now. */
export function getState(): PageState {
  return state;
}

/** Replaces parts of the state and calls the listeners. */
export function setState(change: Partial<PageState>): void {
  const before = state;
  state = { ...state, ...change };
  for (const listener of listeners) listener(state, before);
}

/** Shows a section, or a place in it. */
export function goTo(section: SectionName, place = ''): void {
  setState({ section, place });
}

/** Replaces fields of the form. */
export function setForm(change: Partial<RequestForm>): void {
  setState({ form: { ...state.form, ...change } });
}

/** Calls a listener after each change. */
export function onState(listener: Listener): void {
  listeners.add(listener);
}

/** The findings about each rule, by its id. */
export function findingsByRule(state: PageState): ReadonlyMap<number, readonly FindingDocument[]> {
  const byRule = new Map<number, FindingDocument[]>();
  for (const finding of state.source?.findings ?? []) {
    if (finding.rule === null) continue;
    byRule.set(finding.rule, [...(byRule.get(finding.rule) ?? []), finding]);
  }
  return byRule;
}
