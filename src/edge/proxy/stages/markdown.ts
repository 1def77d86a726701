/** Stage `render as Markdown`. In: a forwarded request. Out: the response filter that renders its page, if any. */

import { exchangeOf } from '../../decide/request-context.ts';
import type { MarkdownOutcome } from '../../markdown/outcome.ts';
import { type MarkdownRequest, requestMarkdown, wantsMarkdown } from '../../markdown/request.ts';
import type { NodeContext } from '../request-context.ts';

/** The method by which the cache and the origin are requested for a page that is rendered as Markdown. */
export const PAGE_METHOD = 'GET';

/** `null`: the node renders no Markdown, or the client requested none. */
export function markdownRequest(context: NodeContext): MarkdownRequest | null {
  const renderer = context.services.markdown;
  const exchange = exchangeOf(context);
  if (renderer === null || !wantsMarkdown(exchange, context.body !== null)) return null;
  const note = (outcome: MarkdownOutcome): void => {
    context.markdown = outcome;
  };
  return requestMarkdown({ renderer, exchange, note });
}
