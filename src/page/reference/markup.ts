/**
 * Renders texts of the reference as HTML: the Markdown of descriptions, examples as JSON with its parts marked for
 * colours, requests as curl commands.
 */
import { type Content, html, type Markup } from '../../base/text/html.ts';
import type { Json } from '../../base/text/json-object.ts';
import { type ApiOperation, isForNodes, type Parameter } from './document.ts';

/** A part of a text under one heading of the second level; the part before the first has none. */
export interface MarkdownPart {
  readonly heading: string | null;
  readonly body: Markup;
}

/** A whole text, divided at its headings. */
export function markdownParts(text: string): readonly MarkdownPart[] {
  const [before = '', ...parts] = text.split(/^## /m);
  const rest = parts.map((part) => {
    const end = part.indexOf('\n');
    return { heading: part.slice(0, end).trim(), body: blocks(part.slice(end)) };
  });
  return [{ heading: null, body: blocks(before) }, ...rest];
}

/** A sentence with code in backticks. */
export function inline(text: string): Content {
  return text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

/** Blocks separated by blank lines. */
function blocks(text: string): Markup {
  return html`${text
    .trim()
    .split(/\n{2,}/)
    .filter((block) => block !== '')
    .map(block)}`;
}

function block(text: string): Markup {
  if (text.startsWith('```'))
    return html`<pre><code>${text.split('\n').slice(1, -1).join('\n')}</code></pre>`;
  if (text.startsWith('- ')) {
    const items = text.slice(2).split(/\n- /);
    return html`<ul>${items.map((item) => html`<li>${inline(joined(item))}</li>`)}</ul>`;
  }
  if (text.startsWith('|')) return table(text.split('\n'));
  return html`<p>${inline(joined(text))}</p>`;
}

/** The lines of a wrapped paragraph as one. */
function joined(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

function table([head = '', , ...rows]: readonly string[]): Markup {
  const cells = (row: string): readonly string[] =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  return html`<table><thead><tr>${cells(head).map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row).map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody></table>`;
}

// Renders examples: JSON with its parts marked for colours, and requests as curl commands.

/** Values of parameters in paths; other ones are ids. */
const IN_PATH: Readonly<Record<string, string>> = {
  domain: 'example.com',
  revision: '12',
  other: '11',
  digest: '5f0f9d1f0c6c4e0a8f7c2d1b3a4e5d6c7b8a9f0e1d2c3b4a5f6e7d8c9b0a1f2e',
};
const ID = '7';

/** A block of code; it can be scrolled with the keyboard, so it has a name. */
export function codeBlock(title: string, code: Content): Markup {
  return html`<figure class="code"><figcaption>${title}</figcaption><pre tabindex="0" aria-label="${title}"><code>${code}</code></pre></figure>`;
}

/** JSON with names, texts and other values marked. */
export function json(value: Json): Content {
  const text = JSON.stringify(value, null, 2);
  return text.split(/("(?:[^"\\]|\\.)*"(?:\s*:)?)/).map((part, index) => {
    if (index % 2 === 0) return part;
    return part.endsWith(':') ? html`<b>${part.slice(0, -1)}</b>:` : html`<i>${part}</i>`;
  });
}

/** The request as a command for a shell; server and key are in the environment, as for `edgeplan` itself. */
export function curl(operation: ApiOperation, body: Json | null): Content {
  const { method, path, requestBody } = operation;
  const url = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => IN_PATH[name] ?? ID);
  const token = isForNodes(operation) ? 'EDGEPLAN_NODE_TOKEN' : 'EDGEPLAN_KEY';
  const start = method === 'GET' ? 'curl' : `curl -X ${method}`;
  const lines = [`-H "Authorization: Bearer $${token}"`];
  const type = Object.keys(requestBody?.content ?? {})[0];
  if (type !== undefined) lines.push(`-H 'Content-Type: ${type}'`, bodyArgument(type, body));
  const address = breakable(`"$EDGEPLAN_SERVER${url}${queryOf(operation.parameters ?? [])}"`);
  return [start, NEXT_LINE, address, lines.map((line) => [NEXT_LINE, line])];
}

/** What continues a command on the next line. */
const NEXT_LINE = ' \\\n  ';

/** An address that a narrow box breaks before a `/`, `?` or `&`. */
function breakable(address: string): Content {
  return address.split(/(?=[/?&])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`));
}

function queryOf(parameters: readonly Parameter[]): string {
  const needed = parameters.filter((one) => one.in === 'query' && one.required === true);
  const pairs = needed.map(({ name, schema }) => `${name}=${schema.enum?.[0] ?? schema.minimum ?? 1}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function bodyArgument(type: string, body: Json | null): string {
  if (!type.endsWith('json')) return '--data-binary @example.com.zone';
  return `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`;
}
