/** The use of a gateway or a consumer: requests of a period by operation, consumer, status or gateway. */
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type GatewayUseShown, useReading } from '../../api/registry.ts';
import { getApi } from '../../api/state.ts';
import { html, typedIn } from '../parts.ts';
import { type TableRow, table, unreadLine } from './table.ts';

/** What requests are divided by. */
type Division = NonNullable<GatewayUseShown['by']>;

/** Periods by their days. */
const PERIODS: Readonly<Record<string, string>> = {
  '1': 'the last 24 hours',
  '7': 'the last 7 days',
  '30': 'the last 30 days',
};
const DAY_MS = 86_400_000;
/** Values that are listed; the API sums the others. */
const LISTED = 100;

/** What a request without a value has. */
const WITHOUT: Readonly<Record<Division, string>> = {
  gateway: 'no gateway',
  consumer: 'no consumer',
  operation: 'no operation',
  status: 'no status',
};
const COLUMNS: Readonly<Record<Division, string>> = {
  gateway: 'Gateway',
  consumer: 'Consumer',
  operation: 'Operation',
  status: 'Status',
};

interface UseProps {
  /** The path of the use. */
  readonly path: string;
  /** The first one is chosen at first. */
  readonly divisions: readonly Division[];
}

/** A value in words: the id of a gateway with its path. */
function valueText(by: Division, value: string | null): string {
  if (value === null) return WITHOUT[by];
  if (by !== 'gateway') return value;
  const rule = getApi().rules?.find(({ type, id }) => type === 'gateway' && String(id) === value);
  return rule === undefined ? `#${value}, deleted` : `#${value} ${String(rule['base_path'])}`;
}

/** The counts of requests of one value. */
type Sums = GatewayUseShown['totals'];

function rowOf(key: string, title: string, { requests, admitted }: Sums): TableRow {
  const counts = [requests, admitted, requests - admitted];
  return { key, cells: [title, ...counts.map((count) => count.toLocaleString())] };
}

/** The values, the rest and the sum. */
function rowsOf(by: Division, { values = [], others, totals }: GatewayUseShown): readonly TableRow[] {
  if (totals.requests === 0) return [];
  return [
    ...values.map(({ value, ...sums }) => rowOf(`of ${value}`, valueText(by, value), sums)),
    ...(others !== undefined && others.requests > 0 ? [rowOf('others', 'others', others)] : []),
    rowOf('totals', 'in all', totals),
  ];
}

/** The table with its choices. */
export function requestsView({ path, divisions }: UseProps): VNode {
  const [by, setBy] = useState(divisions[0]!);
  const [days, setDays] = useState('1');
  const [turn, setTurn] = useState(0);
  const from = useMemo(() => new Date(Date.now() - Number(days) * DAY_MS).toISOString(), [days, turn]);
  const { body, refused } = useReading<GatewayUseShown>(`${path}?by=${by}&from=${from}&limit=${LISTED}`);
  const columns = [
    { title: COLUMNS[by] },
    ...['Requests', 'Admitted', 'Refused'].map((title) => ({ title, kind: 'number' }) as const),
  ];
  return html`<section aria-label="Use"><div class="part-head"><h3 class="part-title">Use</h3>
      <div class="picks">
        <label for="use-by">by</label>
        <select id="use-by" value=${by} onChange=${(event: Event) => setBy(typedIn(event) as Division)}>
          ${divisions.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>
        <label for="use-days">in</label>
        <select id="use-days" value=${days} onChange=${(event: Event) => setDays(typedIn(event))}>
          ${Object.entries(PERIODS).map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}</select>
        <button type="button" class="quiet" onClick=${() => setTurn(turn + 1)}>Refresh</button>
      </div></div>
    ${
      body === null
        ? html`<${unreadLine} refused=${refused} />`
        : html`<${table} label=${`Requests by ${by}`} columns=${columns} rows=${rowsOf(by, body)} empty="No edge has reported a request of this period." />
          ${body.uncounted.requests > 0 && html`<p class="note">${body.uncounted.requests.toLocaleString()} more requests to gateways of the domain are in no count here, since a minute had too many different ones.</p>`}`
    }</section>`;
}
