/** Entry of the thread that renders pages, which `renderer.ts` starts: renders one page per message. */
import { parentPort } from 'node:worker_threads';
import { sha256Base64Url } from '../../base/platform/cryptography.ts';
import { convert, decodePage, type EncodedPage } from './convert.ts';
import type { HtmlReason } from './outcome.ts';

/** A page to render. */
export interface RenderOrder extends EncodedPage {
  /** The visitor's URL of the page. */
  readonly address: string;
}

/** A message of the thread: `ready` once at its start, then one per page; `html`: the page cannot be Markdown. */
export type RenderResult =
  | { readonly kind: 'ready' }
  | { readonly kind: 'html'; readonly reason: HtmlReason }
  | {
      readonly kind: 'rendered';
      readonly markdown: Uint8Array;
      /** A strong entity tag. */
      readonly tag: string;
      /** Estimated tokens of a language model: a quarter of the characters. */
      readonly tokens: number;
    };

/** Decodes and converts a page; the tag is made of the Markdown, so that equal pages have equal tags. */
function render(order: RenderOrder): RenderResult {
  const decoded = decodePage(order);
  if (!decoded.ok) return { kind: 'html', reason: decoded.reason };
  const converted = convert(decoded.html, order.address);
  if (!converted.ok) return { kind: 'html', reason: converted.reason };
  const markdown = new TextEncoder().encode(converted.markdown);
  const digest = sha256Base64Url(markdown);
  const tokens = Math.ceil(converted.markdown.length / 4);
  return { kind: 'rendered', markdown, tag: `"md-${digest.slice(0, 22)}"`, tokens };
}

parentPort?.on('message', (order: RenderOrder) => parentPort!.postMessage(render(order)));
parentPort?.postMessage({ kind: 'ready' } satisfies RenderResult);
