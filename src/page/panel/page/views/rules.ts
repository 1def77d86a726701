/** The rules of the plan: what each looks at, what became of it in this request, and what lint has to say about it. */
import type { VNode } from 'preact';
import type { Rule, ValueCondition } from '../../../../rules/model/types.ts';
import { type RuleNote, refOf, type TraceDocument } from '../../../../workbench/simulation/document.ts';
import { idOf, verdictOf } from '../../../../workbench/simulation/render-rule.ts';
import { findingsByRule, type PageState, setState } from '../state.ts';
import { findingLine, html, marks } from './parts.ts';

/** Fields of a rule that say what it looks at, with their words. */
const FILTERS: Readonly<Record<string, string>> = {
  host_includes: 'hosts',
  host_pattern: 'hosts',
  path_includes: 'paths',
  countries: 'countries',
  ips: 'addresses',
  bot_kinds: 'bots',
  match_ja4: 'JA4',
  match_ja4h: 'JA4H',
  codes: 'statuses',
};

/** Entries of a list that are named. */
const MOST_ENTRIES = 3;

/** `paths /admin/*, /admin · not from addresses 198.51.100.0/24`. */
export function filtersOf(rule: Rule): string {
  const fields = rule as unknown as Readonly<Record<string, unknown>>;
  const parts = Object.entries(FILTERS).flatMap(([name, word]) => {
    const value = fields[name];
    const entries = Array.isArray(value)
      ? value.map(String)
      : typeof value === 'string' && value !== ''
        ? [value]
        : [];
    if (entries.length === 0 || (name === 'path_includes' && entries.join() === '/*')) return [];
    const kind =
      name === 'ips'
        ? fields['ip_match_type']
        : name === 'countries'
          ? fields['country_match_type']
          : 'include';
    return [`${kind === 'exclude' ? 'not ' : ''}${word} ${entriesText(entries)}`];
  });
  const all = [...parts, ...conditionsOf(rule)];
  return all.length === 0 ? 'every request' : all.join(' · ');
}

/** Members of conditions, with their words. */
const MEMBERS: Readonly<Record<string, string>> = {
  methods: 'methods',
  except_methods: 'not methods',
  schemes: 'schemes',
  ips: 'addresses',
  countries: 'countries',
  asns: 'AS numbers',
  bot_kinds: 'bots',
  ja4: 'JA4',
  user_agents: 'User-Agents',
  tags: 'tags',
  headers: 'header',
  query: 'query parameter',
  cookies: 'cookie',
};

/** `methods POST`, `not AS numbers 64496`, `header accept contains json`. */
function conditionsOf({ conditions = {} }: Rule): readonly string[] {
  return Object.entries(conditions).flatMap(([member, value]): readonly string[] => {
    if (typeof value === 'boolean') return [value ? 'verified bots' : 'not verified bots'];
    const word = MEMBERS[member]!;
    if (!Array.isArray(value)) {
      const { includes, excludes } = value as Readonly<Record<string, readonly unknown[] | undefined>>;
      return [
        ...(includes === undefined ? [] : [`${word} ${entriesText(includes)}`]),
        ...(excludes === undefined ? [] : [`not ${word} ${entriesText(excludes)}`]),
      ];
    }
    if (['methods', 'except_methods', 'schemes'].includes(member)) return [`${word} ${entriesText(value)}`];
    return (value as readonly ValueCondition[]).map(({ name, op, values }) =>
      `${word} ${name} ${op.replaceAll('_', ' ')} ${entriesText(values)}`.trimEnd(),
    );
  });
}

/** The first entries of a list, and how many more there are. */
function entriesText(entries: readonly unknown[]): string {
  const left = entries.length - MOST_ENTRIES;
  return `${entries.slice(0, MOST_ENTRIES).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** One rule of the list. */
function ruleItem({
  note,
  rule,
  state,
}: {
  readonly note: RuleNote;
  readonly rule: Rule | undefined;
  readonly state: PageState;
}): VNode {
  const findings = findingsByRule(state).get(note.id) ?? [];
  const { symbol, word, tone } = verdictOf(note);
  return html`<li key=${refOf(note)} class=${rule?.enabled === false ? 'item off' : 'item'}>
    <button type="button" onClick=${() => chooseRule(refOf(note))}>
      <span class="item-name">${idOf(note)}${note.mode === 'dry_run' && html` <span class="badge">dry run</span>`}${rule?.enabled === false && html` <span class="badge">disabled</span>`}<${marks} findings=${findings} /></span>
      <span class="item-filters">${rule === undefined ? '' : filtersOf(rule)}</span>
      <span class="item-word ${tone}"><span aria-hidden="true">${symbol}</span> ${word}</span>
    </button>
    ${findings.map((finding) => html`<${findingLine} finding=${finding} />`)}
  </li>`;
}

/** What lint found, in one sentence. */
function lintText({ source }: PageState): string {
  const findings = source?.findings;
  if (findings == null) return 'Lint is running…';
  const about = findings.filter(({ rule }) => rule !== null).length;
  return about === 0 ? 'Lint has no findings.' : `Lint has ${about} ${about === 1 ? 'finding' : 'findings'}.`;
}

/** The list, by type in the order of evaluation. */
export function rulesView({
  state,
  document,
}: {
  readonly state: PageState;
  readonly document: TraceDocument;
}): VNode {
  const byRef = new Map(state.subject?.ruleSet?.rules.map((rule) => [refOf(rule), rule]));
  const phases = document.phases.filter(({ rules }) => rules.length > 0);
  return html`<div class="rules">
    <p class="rules-head">${lintText(state)} A rule opens where it is in the trace.</p>
    ${phases.map(
      ({ name, rules }) => html`<section key=${name} aria-label=${name}><h3>${name}</h3>
        <ul>${rules.map((note) => html`<${ruleItem} key=${refOf(note)} note=${note} rule=${byRef.get(refOf(note))} state=${state} />`)}</ul></section>`,
    )}
    ${phases.length === 0 && html`<p class="note">The request was refused before any rule.</p>`}
  </div>`;
}

/** The id of a rule's element. @param rule `<type>/<id>` */
export function elementOf(rule: string): string {
  return `rule-${rule.replace('/', '-')}`;
}

/** Opens the trace at a rule. @param rule `<type>/<id>` */
export function chooseRule(rule: string): void {
  setState({ tab: 'trace', rule });
  requestAnimationFrame(() => revealRule(rule));
}

/** Opens every fold around a rule, and the rule itself. */
export function revealRule(rule: string): void {
  const element = document.getElementById(elementOf(rule));
  if (!(element instanceof HTMLDetailsElement)) return;
  for (let at: Element | null = element; at !== null; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  element.scrollIntoView({ block: 'center' });
  element.querySelector('summary')?.focus({ preventScroll: true });
}
