/** Builds HTML from templates, of pages and of e-mails. Every value is escaped unless it is itself made by `html`. */

/** Markup that needs no escaping. */
export interface Markup {
  readonly kind: 'markup';
  readonly text: string;
}

/** What a template may hold; lists are joined, `null` is nothing. */
export type Content = Markup | string | number | null | readonly Content[];

/** A template whose values are escaped, for text and for attributes in double quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  const parts = strings.map((text, index) => text + (index < values.length ? textOf(values[index]!) : ''));
  return { kind: 'markup', text: parts.join('') };
}

/** Text of ours that is markup already: the style and the script. */
export function trusted(text: string): Markup {
  return { kind: 'markup', text };
}

function textOf(value: Content): string {
  if (value === null) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  if (isList(value)) return value.map(textOf).join('');
  return value.text;
}

function isList(value: Content): value is readonly Content[] {
  return Array.isArray(value);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}
