/** The keys of a consumer: listed by how they begin and end, made with their text shown once, revoked. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ConsumerShown, type KeyShown, keysPath, revokeKey, useReading } from '../../api/registry.ts';
import { getApi, may } from '../../api/state.ts';
import { editor } from '../api/editor.ts';
import { confirmDialog, modal } from '../api/modal.ts';
import { copyable } from '../app.ts';
import { html } from '../parts.ts';
import { removeButton, table, timeOr, unreadLine } from './table.ts';

/** What is open above the list. */
type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'revoke'; readonly key: KeyShown }
  | { readonly kind: 'nothing' };

const NOTHING: Open = { kind: 'nothing' };

/** Keys of a consumer that are in force at once (semantics §15). */
const MOST_LIVE = 2;

const COLUMNS = [
  { title: 'Key' },
  { title: 'Name' },
  { title: 'Created' },
  { title: 'Last used' },
  { title: 'Expires' },
  { title: 'State' },
] as const;

/** Whether requests with the key are accepted now. */
function isLive({ revoked_at, expires_at }: KeyShown): boolean {
  return revoked_at === null && (expires_at === null || Date.parse(expires_at) > Date.now());
}

/** How the key begins and ends. */
function keyText({ id, prefix, last4 }: KeyShown): string {
  return prefix === '' ? `key ${id}, made elsewhere` : `${prefix}…${last4}`;
}

function stateOf(key: KeyShown): VNode {
  if (key.revoked_at !== null) return html`<span class="dim">revoked ${timeOr(key.revoked_at, '')}</span>`;
  return isLive(key) ? html`<span class="good">✔ in force</span>` : html`<span class="dim">expired</span>`;
}

/** What a revocation does. */
function effectOf({ username }: ConsumerShown, key: KeyShown, keys: readonly KeyShown[]): string {
  const others = keys.filter((one) => one.id !== key.id && isLive(one)).length;
  const rest =
    others === 0
      ? `${username} has no other key in force, and cannot call with a key until it gets a new one.`
      : `The other key of ${username} stays in force.`;
  return `Edges answer requests with this key 401 as soon as they have the next revision, within seconds. ${rest} A revoked key never comes back.`;
}

/** The keys. */
export function keysView({ consumer }: { readonly consumer: ConsumerShown }): VNode {
  const [open, setOpen] = useState<Open>(NOTHING);
  const { body: keys, refused, again } = useReading<readonly KeyShown[]>(keysPath(consumer));
  const editable = may('rules.edit');
  const close = (): void => setOpen(NOTHING);
  const full = (keys ?? []).filter(isLive).length >= MOST_LIVE;
  return html`<section aria-label="Keys"><div class="part-head"><h3 class="part-title">Keys</h3>
      ${editable && keys !== null && html`<button type="button" class="primary" disabled=${full} aria-describedby=${full ? 'keys-full' : null} onClick=${() => setOpen({ kind: 'new' })}>New key</button>`}</div>
    ${editable && full && html`<p class="note" id="keys-full">${MOST_LIVE} keys are in force, the most that a consumer may have: revoke one before the next.</p>`}
    ${
      keys === null
        ? html`<${unreadLine} refused=${refused} />`
        : html`<${table} label="Keys" columns=${editable ? [...COLUMNS, { title: 'Actions', kind: 'buttons' }] : COLUMNS} empty="This consumer has no key yet."
          rows=${keys.map((key) => ({
            key: key.id,
            cells: [
              html`<code>${keyText(key)}</code>`,
              key.name ?? '',
              timeOr(key.created_at, ''),
              timeOr(key.last_used_at, 'no use is known'),
              timeOr(key.expires_at, 'never'),
              stateOf(key),
              ...(editable
                ? [
                    isLive(key)
                      ? removeButton('Revoke', keyText(key), () => setOpen({ kind: 'revoke', key }))
                      : null,
                  ]
                : []),
            ],
          }))} />`
    }
    ${open.kind === 'new' && html`<${newKeyDialog} consumer=${consumer} close=${close} />`}
    ${
      open.kind === 'revoke' &&
      html`<${confirmDialog} title=${`Revoke ${keyText(open.key)}?`} word="Revoke the key" close=${close}
      text=${effectOf(consumer, open.key, keys ?? [])} act=${() => revokeKey(consumer, open.key).finally(again)} />`
    }</section>`;
}

/** A new key: its form, then its text, which the server does not store. */
function newKeyDialog({
  consumer,
  close,
}: {
  readonly consumer: ConsumerShown;
  readonly close: () => void;
}): VNode {
  const [value, setValue] = useState<string | null>(null);
  const [warned, setWarned] = useState(false);
  const fields = getApi().fields?.consumer_key.fields ?? [];
  const saved = (answer: unknown): void => setValue((answer as { readonly value: string }).value);
  if (value === null)
    return html`<${modal} title=${`New key of ${consumer.username}`} close=${close}>
      <${editor} path=${keysPath(consumer)} isNew=${true} groups=${[{ title: 'The key', fields }]} options=${{}} editable=${true} mayBeEmpty=${true}
        word="Create the key" done=${`${consumer.username} has a new key.`} close=${close} saved=${saved} />
    <//>`;
  // Escape must not lose what cannot be shown again.
  return html`<${modal} key="value" title=${`The key of ${consumer.username}`} close=${() => setWarned(true)}>
    <div class="dialog-part">
      <p>Copy the key now. It is shown this once: the server stores its SHA-256 alone.</p>
      <${copyable} label="API key" text=${value} />
      <p class="refused" role="alert">${warned ? 'Nobody can show this key again. Store it, then end with the button below.' : null}</p>
    </div>
    <div class="dialog-end"><button type="button" class="primary" onClick=${close}>I have stored the key</button></div>
  <//>`;
}
