/** The client's preference for Markdown in its Accept header (RFC 9110 §12.5.1). */
import { splitList } from '../../base/http/cache-control.ts';

/** Weights from 0 to 1. */
interface Weights {
  /** Of `text/markdown` by name; 0: not accepted. */
  readonly markdown: number;
  /** Of `text/html`, by the most specific range that includes it. */
  readonly html: number;
}

/** Whether Markdown is named and preferred to HTML, or equal to it. */
export function prefersMarkdown(accept: string): boolean {
  const { markdown, html } = weightsOf(accept);
  return markdown > 0 && markdown >= html;
}

/** The header for the origin: with HTML at the lowest weight if the client does not accept it. */
export function withHtml(accept: string): string {
  return weightsOf(accept).html > 0 ? accept : `${accept}, text/html;q=0.001`;
}

function weightsOf(accept: string): Weights {
  const found: Record<string, number> = Object.create(null);
  for (const element of splitList(accept.toLowerCase())) {
    const [range = '', ...parameters] = element.split(';').map((part) => part.trim());
    const weight = weightIn(parameters);
    if (weight !== null) found[range] = Math.max(found[range] ?? 0, weight);
  }
  const html = found['text/html'] ?? found['text/*'] ?? found['*/*'] ?? 0;
  return { markdown: found['text/markdown'] ?? 0, html };
}

/** The weight of a range: 1 without `q`; `null`: not a weight (§12.4.2), so that the range is ignored. */
function weightIn(parameters: readonly string[]): number | null {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const text = given.slice(2);
  const weight = Number(text);
  const [whole, ...rest] = text;
  const formed =
    (whole === '0' || whole === '1') && text.length <= 5 && (rest.length === 0 || rest[0] === '.');
  return formed && weight >= 0 && weight <= 1 ? weight : null;
}
