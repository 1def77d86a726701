/** The state of the page in the URL's fragment: a link opens the same request in the same view. It never leaves the browser. */
import { EMPTY_FORM, FIELDS, type RequestForm } from './form.ts';
import { type PageState, SECTIONS, TABS, type TabName } from './state.ts';

/** The part of the state that a link has. */
type Linked = Pick<
  PageState,
  'form' | 'tab' | 'older' | 'rule' | 'enforced' | 'section' | 'domain' | 'revision'
>;

/** Milliseconds without a change before the address is written; browsers bound how often. */
const SETTLE_MS = 250;

/** The fragment of a state, without `#`. */
export function fragmentOf(state: Linked): string {
  const { form, tab, older, rule, enforced, section, domain, revision } = state;
  const given = FIELDS.filter((name) => form[name] !== EMPTY_FORM[name]);
  const words = new URLSearchParams(given.map((name) => [name, form[name]]));
  if (tab !== 'trace') words.set('tab', tab);
  if (older !== null) words.set('before', older);
  if (rule !== null) words.set('rule', rule);
  if (enforced) words.set('enforced', '1');
  if (section !== 'request') words.set('section', section);
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
    domain: words.get('domain'),
    revision: /^[1-9]\d{0,14}$/.test(words.get('revision') ?? '') ? Number(words.get('revision')) : null,
  };
}

let writing: ReturnType<typeof setTimeout> | undefined;
/** The fragment that the state was read from, or that was written last. */
let known = location.hash;

/** The state of the address. */
export function readAddress(): Linked {
  known = location.hash;
  return stateOfFragment(known);
}

/** Writes the state into the address once it settles. */
export function writeFragment(state: Linked): void {
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
