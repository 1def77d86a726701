/**
 * Renders the Markdown that descriptions of the OpenAPI document use: paragraphs, second-level headings, lists, tables,
 * fenced blocks, code in backticks. A library would have to be a dependency of the server, since a run from the sources
 * renders too; the texts are ours, and a test lists the constructs.
 */
import { type Content, html, type Markup } from '../../base/text/html.ts';

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
