/** Chooses a rule: shows it in the trace with its checks, in view and with the focus. */
import { setState } from './state.ts';

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
