/** Tabs (WAI-ARIA APG, "Tabs"): arrow keys move among them, and the panel has the content of the chosen one. */
import type { ComponentChildren, VNode } from 'preact';
import { html } from './parts.ts';

/** The tabs of a page, which has one row of them at a time. */
export interface TabsProps<Name extends string> {
  readonly label: string;
  /** The title of each tab, in order. */
  readonly titles: Readonly<Record<Name, string>>;
  readonly chosen: Name;
  readonly choose: (name: Name) => void;
  readonly children?: ComponentChildren;
}

/** The place of the tab that a key moves the focus to; `null`: the key moves it nowhere. */
function placeOfKey(key: string, at: number, last: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: at === last ? 0 : at + 1,
    ArrowLeft: at === 0 ? last : at - 1,
    Home: 0,
    End: last,
  };
  return steps[key] ?? null;
}

/** The row and the panel. */
export function tabs<Name extends string>({
  label,
  titles,
  chosen,
  choose,
  children,
}: TabsProps<Name>): VNode {
  const names = Object.keys(titles) as Name[];
  const press = (event: KeyboardEvent): void => {
    const place = placeOfKey(event.key, names.indexOf(chosen), names.length - 1);
    if (place === null) return;
    event.preventDefault();
    choose(names[place]!);
    document.getElementById(`tab-${names[place]}`)?.focus();
  };
  return html`<div class="tabs">
    <div role="tablist" aria-label=${label} onKeyDown=${press}>
      ${names.map(
        (
          name,
        ) => html`<button type="button" role="tab" id=${`tab-${name}`} key=${name} aria-selected=${name === chosen} aria-controls="tab-panel"
          tabindex=${name === chosen ? 0 : -1} onClick=${() => choose(name)}>${titles[name]}</button>`,
      )}
    </div>
    <div role="tabpanel" id="tab-panel" aria-labelledby=${`tab-${chosen}`}>${children}</div>
  </div>`;
}
