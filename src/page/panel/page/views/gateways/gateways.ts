/** The gateways of a domain, and one of them: its operations, its use, and operations that its traffic shows. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RuleShown } from '../../api/documents.ts';
import { type DiscoveredShown, listPath, type OperationUseShown, useReading } from '../../api/registry.ts';
import { getApi, may } from '../../api/state.ts';
import { goTo } from '../../state.ts';
import { newRuleDialog, ruleDialog } from '../api/rules.ts';
import { copyable } from '../app.ts';
import { html } from '../parts.ts';
import { type TableRow, table, timeOr, unreadLine, viewHead } from './table.ts';
import { requestsView } from './use.ts';

/** A gateway as the views read it. */
interface GatewayShown extends RuleShown {
  readonly name: string;
  readonly base_path: string;
  readonly auth: Readonly<Record<string, unknown>>;
  readonly default_plan?: string | null;
  readonly operations: readonly unknown[];
}

/** The gateways; `null`: not read yet. */
function gatewaysOf(): readonly GatewayShown[] | null {
  const { rules } = getApi();
  return rules === null ? null : (rules.filter(({ type }) => type === 'gateway') as GatewayShown[]);
}

/** Kinds of credentials in words. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  api_key: 'API keys',
  jwt: 'tokens',
  mtls: 'client certificates',
};

/** Which credentials requests need. */
function credentialsText({ auth }: GatewayShown): string {
  const kinds = Object.entries(CREDENTIALS).flatMap(([kind, words]) => (auth[kind] == null ? [] : [words]));
  const joined = kinds.join(auth['require'] === 'all' ? ' and ' : ' or ');
  return auth['require'] === 'none' ? `none needed; ${joined}` : joined;
}

/** Marks of a gateway that does not act. */
function badges({ enabled, action_mode }: GatewayShown): VNode {
  return html`${!enabled && html` <span class="badge">off</span>`}${action_mode === 'dry_run' && html` <span class="badge">dry run</span>`}`;
}

/** The list. */
export function gatewaysView(): VNode {
  const [isOpen, setOpen] = useState(false);
  const gateways = gatewaysOf();
  const editable = may('rules.edit');
  const columns = ['Gateway', 'Credentials', 'Default usage plan'].map((title) => ({ title }));
  const rows = (gateways ?? []).map((one) => ({
    key: one.id,
    cells: [
      html`<span><button type="button" class="link" onClick=${() => goTo('gateways', `gateways/${one.id}`)}>#${one.id} ${one.base_path}</button> ${one.name}${badges(one)}</span>`,
      credentialsText(one),
      one.default_plan ?? html`<span class="dim">none</span>`,
      one.operations.length === 0
        ? html`<span class="dim">every path</span>`
        : one.operations.length.toLocaleString(),
    ],
  }));
  return html`${viewHead('Gateways', 'Rules that take API requests below a base path with the credentials of consumers.', editable && html`<button type="button" class="primary" onClick=${() => setOpen(true)}>New gateway</button>`)}
    ${
      gateways === null
        ? html`<${unreadLine} refused=${null} />`
        : html`<${table} label="Gateways" columns=${[...columns, { title: 'Operations', kind: 'number' }]} rows=${rows} empty="This domain has no gateways yet." />`
    }
    ${isOpen && html`<${newRuleDialog} first="gateway" close=${() => setOpen(false)} />`}`;
}

/** The operations of a gateway with how often each is called. */
function operationsView({ path }: { readonly path: string }): VNode {
  const { body, refused } = useReading<OperationUseShown>(`${path}/operations/usage`);
  const columns = [
    { title: 'Operation' },
    { title: 'ID' },
    { title: 'In 24 hours', kind: 'number' },
    { title: 'In 30 days', kind: 'number' },
    { title: 'Last seen' },
  ] as const;
  const rowOf = (
    name: VNode | string,
    id: string,
    { requests_24h, requests_30d, last_seen_at }: OperationUseShown['unlisted'],
  ): TableRow['cells'] => [
    name,
    id,
    requests_24h.toLocaleString(),
    requests_30d.toLocaleString(),
    timeOr(last_seen_at, 'not in 30 days'),
  ];
  const rows = (body?.operations ?? []).map((one, index) => ({
    key: index,
    cells: rowOf(html`<code>${one.methods.join(', ')} ${one.path}</code>`, one.operation_id ?? '', one),
  }));
  return html`<section aria-label="Operations"><div class="part-head"><h3 class="part-title">Operations</h3></div>
    ${
      body === null
        ? html`<${unreadLine} refused=${refused} />`
        : html`<${table} label="Operations" columns=${columns} rows=${[...rows, { key: 'unlisted', cells: rowOf('requests that no operation describes', '', body.unlisted) }]} empty="" />`
    }</section>`;
}

/** `orderId: integer`. */
function parametersText({ parameters }: DiscoveredShown['operations'][number]): string {
  return parameters.map(({ name, type }) => `${name}: ${type}`).join(', ');
}

/** Operations that the traffic of 24 hours shows and the gateway does not have, and the command that drafts a document of them. */
function discoveredView({ path, id }: { readonly path: string; readonly id: number }): VNode {
  const { body, refused } = useReading<DiscoveredShown>(`${path}/operations/discovered`);
  const columns = [
    { title: 'Operation' },
    { title: 'Parameters' },
    { title: 'Requests', kind: 'number' },
  ] as const;
  const command = `edgeplan gateway draft --domain ${getApi().domain?.name} --gateway ${id} -o openapi.yaml`;
  return html`<section aria-label="Discovered operations"><div class="part-head"><h3 class="part-title">Discovered operations</h3></div>
    <p class="note">What the traffic of the last 24 hours shows and the gateway does not have.</p>
    ${
      body === null
        ? html`<${unreadLine} refused=${refused} />`
        : html`<${table} label="Discovered operations" columns=${columns} empty="The traffic shows no operation that the gateway does not have."
          rows=${body.operations.map((one) => {
            const text = `${one.methods.join(', ')} ${one.path}`;
            return {
              key: text,
              cells: [html`<code>${text}</code>`, parametersText(one), one.requests.toLocaleString()],
            };
          })} />
        ${body.operations.length > 0 && html`<${copyable} label="The command that drafts an OpenAPI document of them" text=${command} />`}`
    }</section>`;
}

/** One gateway. */
export function gatewayView({ id }: { readonly id: number }): VNode {
  const [isOpen, setOpen] = useState(false);
  const gateways = gatewaysOf();
  const gateway = gateways?.find((one) => one.id === id);
  const back = html`<button type="button" class="link back" onClick=${() => goTo('gateways')}>← All gateways</button>`;
  if (gateway === undefined)
    return html`${back}<${unreadLine} refused=${gateways === null ? null : `This domain has no gateway #${id}.`} />`;
  const path = listPath('gateways', id);
  return html`${back}
    ${viewHead(
      html`<span>${gateway.base_path} ${gateway.name}${badges(gateway)}</span>`,
      `Gateway #${id}. Credentials: ${credentialsText(gateway)}.`,
      html`<button type="button" class="quiet" onClick=${() => setOpen(true)}>${may('rules.edit') ? 'Edit' : 'Show its fields'}</button>`,
    )}
    <${operationsView} path=${path} />
    <${requestsView} path=${`${path}/usage`} divisions=${['consumer', 'operation', 'status']} />
    <${discoveredView} path=${path} id=${id} />
    ${isOpen && html`<${ruleDialog} rule=${gateway} close=${() => setOpen(false)} />`}`;
}
