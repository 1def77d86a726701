/** The thread that renders pages: what `renderer.ts` starts. One page after the other, each answered before the next. */
import { parentPort } from 'node:worker_threads';
import { sha256Base64Url } from '../platform/sha256.ts';
import { convert } from './convert.ts';
import { decodePage, type EncodedPage } from './decode.ts';
import type { HtmlReason } from './outcome.ts';

/** A page to render. */
export interface RenderOrder extends EncodedPage {
  /** The address a visitor asked for it by. */
  readonly address: string;
}

/** What became of it; `ready` comes once, before the first. */
export type RenderResult =
  | { readonly kind: 'ready' }
  | { readonly kind: 'kept'; readonly reason: HtmlReason }
  | {
      readonly kind: 'rendered';
      readonly markdown: Uint8Array;
      /** A strong entity tag. */
      readonly tag: string;
      /** Tokens of a language model, estimated: a quarter of the characters. */
      readonly tokens: number;
    };

function render(order: RenderOrder): RenderResult {
  const decoded = decodePage(order);
  if (!decoded.ok) return { kind: 'kept', reason: decoded.reason };
  const converted = convert(decoded.html, order.address);
  if (!converted.ok) return { kind: 'kept', reason: converted.reason };
  const markdown = new TextEncoder().encode(converted.markdown);
  const digest = sha256Base64Url(markdown);
  const tokens = Math.ceil(converted.markdown.length / 4);
  return { kind: 'rendered', markdown, tag: `"md-${digest.slice(0, 22)}"`, tokens };
}

parentPort?.on('message', (order: RenderOrder) => parentPort!.postMessage(render(order)));
parentPort?.postMessage({ kind: 'ready' } satisfies RenderResult);
