/** Stage `cache`. In: a forwarded request. Out: its response from the cache, or from the origin past or through the cache. */
import { answerSpools } from '../../../base/buffers/answer-buffer.ts';
import type { ResponseSink, ResponseSource } from '../../../base/http/response.ts';
import { variantFields } from '../../answers/header-changes.ts';
import { exchangeOf } from '../../decide/request-context.ts';
import type { MarkdownRequest } from '../../markdown/request.ts';
import { networkOf } from '../network.ts';
import type { NodeContext } from '../request-context.ts';
import { PAGE_METHOD } from './markdown.ts';
import type { OriginFetch } from './origin.ts';

export interface CachedResponse {
  readonly markdown: MarkdownRequest | null;
  readonly fetch: OriginFetch;
  readonly sink: ResponseSink;
}

/** Pushes the response into `sink`. Goes to the origin directly if no cache rule covers the request. */
export function respondFromCache(
  context: NodeContext,
  { markdown, fetch, sink }: CachedResponse,
): ResponseSource {
  const { decision, domain, request } = exchangeOf(context);
  const { cache, buffers } = context.services;
  const settings = decision.cache;
  if (settings === null || cache === null) return fetch(null, sink);
  return cache.answer(
    {
      domain,
      settings,
      method: markdown === null ? request.method : PAGE_METHOD,
      headers: variantFields(markdown?.headers ?? request.headers ?? {}, decision.requestHeaders),
      now: context.startedAt,
      note: (result) => {
        context.cacheResult = result;
      },
      openSpool: answerSpools(buffers.space, networkOf(context.incoming.visitor.ip)),
    },
    sink,
    fetch,
  );
}
