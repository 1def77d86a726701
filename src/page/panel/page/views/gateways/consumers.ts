/** The consumers of a domain, page by page: who calls its gateways. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { nextOf } from '../../api/call.ts';
import {
  type ConsumerShown,
  deleteConsumer,
  listPath,
  toggleConsumer,
  type UsagePlanShown,
  useReading,
} from '../../api/registry.ts';
import { getApi, may } from '../../api/state.ts';
import { goTo } from '../../state.ts';
import { editor } from '../api/editor.ts';
import { confirmDialog, modal } from '../api/modal.ts';
import { html, typedIn } from '../parts.ts';
import { removeButton, table, unreadLine, viewHead } from './table.ts';

/** Consumers of a page. */
const PAGE = 50;

/** What is open above the list. */
type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'delete'; readonly consumer: ConsumerShown }
  | { readonly kind: 'nothing' };

const NOTHING: Open = { kind: 'nothing' };

const COLUMNS = [
  { title: 'Username' },
  { title: 'Enabled' },
  { title: 'Usage plan' },
  { title: 'Group' },
  { title: 'Labels' },
] as const;

/** Whether the consumer may call: a switch, or a word for those who may not change it. */
export function enabledSwitch({
  consumer,
  again,
}: {
  readonly consumer: ConsumerShown;
  readonly again: () => void;
}): VNode {
  const [busy, setBusy] = useState(false);
  const { username, enabled, expires_at } = consumer;
  const expired = expires_at !== null && Date.parse(expires_at) <= Date.now();
  const note = expired && html` <span class="badge">expired</span>`;
  if (!may('rules.edit')) return html`<span>${enabled ? 'yes' : 'no'}${note}</span>`;
  const toggle = (event: Event): void => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    void toggleConsumer(consumer)
      .finally(() => setBusy(false))
      .then(again);
  };
  return html`<label class="enabled"><input type="checkbox" role="switch" aria-label=${`${username} enabled`} checked=${enabled} aria-disabled=${busy} onClick=${toggle} />${note}</label>`;
}

/** The form of a consumer. */
export function consumerDialog({
  consumer,
  close,
}: {
  readonly consumer: ConsumerShown | null;
  readonly close: () => void;
}): VNode {
  const plans = useReading<readonly UsagePlanShown[]>(listPath('usage-plans'));
  const isNew = consumer === null;
  const fields = getApi().fields?.consumer.fields ?? [];
  const limits: ReadonlySet<string> = new Set(['usage_plan', 'acl', 'scopes', 'enabled', 'expires_at']);
  const groups = [
    { title: 'Who it is', fields: fields.filter(({ name }) => !limits.has(name)) },
    { title: 'What it may do', fields: fields.filter(({ name }) => limits.has(name)) },
  ];
  const usage_plan = [
    { value: '', label: 'that of the gateway' },
    ...(plans.body ?? []).map(({ name }) => ({ value: name, label: name })),
  ];
  const title = isNew ? 'New consumer' : `Consumer ${consumer.username}`;
  return html`<${modal} title=${title} close=${close} wide>
    ${
      plans.body === null
        ? html`<${unreadLine} refused=${plans.refused} />`
        : html`<${editor} path=${listPath('consumers', consumer?.id)} isNew=${isNew} groups=${groups} options=${{ usage_plan }} editable=${may('rules.edit')}
      done=${isNew ? 'The consumer is added.' : `${title} is saved.`} close=${close} />`
    }
  <//>`;
}

/** The question before a consumer is deleted. */
export function deleteConsumerDialog({
  consumer,
  close,
  remove,
}: {
  readonly consumer: ConsumerShown;
  readonly close: () => void;
  readonly remove: () => Promise<void>;
}): VNode {
  return html`<${confirmDialog} title=${`Delete ${consumer.username}?`} word="Delete the consumer" close=${close} act=${remove}
    text="Its keys go with it: edges answer them 401 as soon as they have the next revision, and tokens that name it are refused. To stop it for a while, turn it off." />`;
}

/** Where the list is: the paths of its pages from the first one to the one that is shown, and the username that is sought. */
interface ListPlace {
  readonly trail: readonly string[];
  readonly sought: string;
}

function firstPage(): ListPlace {
  return { trail: [`${listPath('consumers')}?limit=${PAGE}`], sought: '' };
}

/** `51 to 100 of 10,000`. */
function rangeText({ trail, sought }: ListPlace, shown: number, total: number): string {
  if (sought !== '') return `${shown} with this username`;
  const before = (trail.length - 1) * PAGE;
  return shown === 0
    ? ''
    : `${(before + 1).toLocaleString()} to ${(before + shown).toLocaleString()} of ${total.toLocaleString()}`;
}

/** The search for one username: the API finds whole names. */
function searchForm({
  sought,
  seek,
}: {
  readonly sought: string;
  readonly seek: (name: string) => void;
}): VNode {
  const [text, setText] = useState(sought);
  const submit = (event: Event): void => {
    event.preventDefault();
    seek(text.trim());
  };
  return html`<form class="picks" role="search" onSubmit=${submit}>
    <label for="seek">Username</label>
    <input id="seek" type="text" value=${text} placeholder="the whole name" autocomplete="off" autocapitalize="off" spellcheck=${false} onInput=${(event: Event) => setText(typedIn(event))} />
    <button type="submit" class="quiet">Find</button>
    ${
      sought !== '' &&
      html`<button type="button" class="quiet" onClick=${() => {
        setText('');
        seek('');
        document.getElementById('seek')?.focus();
      }}>Show all</button>`
    }
  </form>`;
}

/** A button of the paging; one without effect at an end of the list can have the focus all the same. */
function step(word: string, go: (() => void) | null): VNode {
  return html`<button type="button" class="quiet" aria-disabled=${go === null} onClick=${() => go?.()}>${word}</button>`;
}

/** The list. */
export function consumersView(): VNode {
  const [open, setOpen] = useState<Open>(NOTHING);
  const [place, setPlace] = useState(firstPage);
  const { body, headers, refused, again } = useReading<readonly ConsumerShown[]>(place.trail.at(-1)!);
  const editable = may('rules.edit');
  const close = (): void => setOpen(NOTHING);
  const seek = (sought: string): void =>
    setPlace(
      sought === ''
        ? firstPage()
        : { sought, trail: [`${listPath('consumers')}?username=${encodeURIComponent(sought)}`] },
    );
  const next = nextOf(headers);
  const { trail } = place;
  const rows = (body ?? []).map((consumer) => ({
    key: consumer.id,
    cells: [
      html`<button type="button" class="link" onClick=${() => goTo('gateways', `consumers/${consumer.id}`)}>${consumer.username}</button>`,
      html`<${enabledSwitch} consumer=${consumer} again=${again} />`,
      consumer.usage_plan ?? html`<span class="dim">that of the gateway</span>`,
      consumer.group ?? '',
      consumer.labels.join(', '),
      ...(editable
        ? [removeButton('Delete', consumer.username, () => setOpen({ kind: 'delete', consumer }))]
        : []),
    ],
  }));
  return html`${viewHead('Consumers', 'Who calls the gateways of this domain. Each has keys, or is named by tokens or client certificates.', editable && html`<button type="button" class="primary" onClick=${() => setOpen({ kind: 'new' })}>New consumer</button>`)}
    <div class="part-head"><${searchForm} sought=${place.sought} seek=${seek} />
      <div class="picks"><span role="status" class="dim">${body !== null && rangeText(place, body.length, Number(headers.get('x-total-count')))}</span>
        ${
          (next !== null || trail.length > 1) &&
          html`${step('Previous', trail.length > 1 ? () => setPlace({ ...place, trail: trail.slice(0, -1) }) : null)}${' '}
        ${step('Next', next === null ? null : () => setPlace({ ...place, trail: [...trail, next] }))}`
        }</div></div>
    ${
      body === null
        ? html`<${unreadLine} refused=${refused} />`
        : html`<${table} key=${trail.at(-1)} label="Consumers" columns=${editable ? [...COLUMNS, { title: 'Actions', kind: 'buttons' }] : COLUMNS} rows=${rows}
      empty=${place.sought === '' ? 'This domain has no consumers yet.' : `No consumer has the username ${place.sought}.`} />`
    }
    ${open.kind === 'new' && html`<${consumerDialog} consumer=${null} close=${close} />`}
    ${open.kind === 'delete' && html`<${deleteConsumerDialog} consumer=${open.consumer} close=${close} remove=${() => deleteConsumer(open.consumer).finally(again)} />`}`;
}
