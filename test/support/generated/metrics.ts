/** The tables of all metrics, from their declarations. */
import { METRICS, type MetricDeclaration } from '../../../src/base/telemetry/metrics/declared.ts';
import { formatted } from './sections.ts';

export const METRICS_FILE = 'src/base/telemetry/metrics/METRICS.md';

const HEADER = `<!-- Generated from src/base/telemetry/metrics/declared.ts: \`npm run generate\` writes this file, and a test compares it. -->

# Metrics

\`edgeplan serve --ops-port\` and \`edgeplan node --ops-port\` serve \`/metrics\` on loopback, in Prometheus'
text format. Names have base units (seconds, bytes); counters end in \`_total\`, and a histogram has \`_bucket\`, \`_sum\` and
\`_count\`. Both have the metrics of the process and of Node as well: \`process_*\` and \`nodejs_*\`, as the package prom-client
documents them. No label has a value that a visitor can choose. A counter whose labels have known values has a series for each of
them from the start, at 0, so that \`rate()\` sees the first event.
`;

const PARTS = [
  { at: 'server', title: 'Server' },
  { at: 'node', title: 'Node' },
  { at: 'workers', title: 'Node with `--workers`, besides those of a node' },
  { at: 'agent', title: 'Agent, besides those of a node' },
] as const;

/** A table for each kind of process: name, type, labels, meaning. */
export function metricTables(): string {
  const rows = Object.entries<MetricDeclaration>(METRICS);
  return PARTS.map(({ at, title }) => {
    const own = rows.filter(([, metric]) => metric.at.includes(at));
    return [
      `## ${title}`,
      '',
      ...table([['name', 'type', 'labels', 'meaning'], ...own.map(([name, metric]) => row(name, metric))]),
      '',
    ].join('\n');
  }).join('\n');
}

/** The whole of `METRICS.md`. */
export function metricsFile(): string {
  return formatted(METRICS_FILE, `${HEADER}\n${metricTables()}`);
}

function row(name: string, { type, labels, needs, help }: MetricDeclaration): readonly string[] {
  const meaning = needs === undefined ? help : `${help}; only with \`${needs}\``;
  return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), meaning];
}

/** A Markdown table with aligned columns; the first row is its head. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((one) => one[column]!.length)));
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [lineOf(head!), lineOf(widths.map((width) => '-'.repeat(width))), ...body.map(lineOf)];
}
