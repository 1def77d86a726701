/**
 * The gateways of a domain with their use, consumers with their keys, usage plans and token issuers. A chunk of
 * its own, which loads when the section is first opened; read this file first.
 */
import type { VNode } from 'preact';
import { getApi } from '../../api/state.ts';
import { goTo, type PageState } from '../../state.ts';
import { html } from '../parts.ts';
import { tabs } from '../tabs.ts';
import { consumerView } from './consumer.ts';
import { consumersView } from './consumers.ts';
import { gatewaysView, gatewayView } from './gateways.ts';
import { tokenIssuersView } from './token-issuers.ts';
import { usagePlansView } from './usage-plans.ts';

/** The parts of the section. */
const TITLES = {
  gateways: 'Gateways',
  consumers: 'Consumers',
  'usage-plans': 'Usage plans',
  'token-issuers': 'Token issuers',
} as const;
type PartName = keyof typeof TITLES;

/** A part, and the object of it that is shown; `null`: its list. */
interface SectionPlace {
  readonly part: PartName;
  readonly id: number | null;
}

/** Reads a place such as `consumers/12`; an unknown one is the first part. */
function placeOf(text: string): SectionPlace {
  const [name, id = ''] = text.split('/');
  const part = (Object.keys(TITLES) as PartName[]).find((one) => one === name) ?? 'gateways';
  return { part, id: /^[1-9]\d{0,14}$/.test(id) ? Number(id) : null };
}

function viewOf({ part, id }: SectionPlace): VNode {
  switch (part) {
    case 'gateways':
      return id === null ? html`<${gatewaysView} />` : html`<${gatewayView} id=${id} />`;
    case 'consumers':
      return id === null ? html`<${consumersView} />` : html`<${consumerView} id=${id} />`;
    case 'usage-plans':
      return html`<${usagePlansView} />`;
    case 'token-issuers':
      return html`<${tokenIssuersView} />`;
    default:
      return part satisfies never;
  }
}

/** The section. */
export function gatewaysSection({ state }: { readonly state: PageState }): VNode {
  const place = placeOf(state.place);
  const choose = (part: PartName): void => goTo('gateways', part === 'gateways' ? '' : part);
  // Another domain or place has other views: an open dialog is about an object of the one before.
  const key = `${getApi().domain?.name}/${place.part}/${place.id}`;
  return html`<section class="list" aria-label="Gateways">
    <${tabs} label="Parts of gateways" titles=${TITLES} chosen=${place.part} choose=${choose}><div key=${key}>${viewOf(place)}</div><//>
  </section>`;
}
