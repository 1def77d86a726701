/**
 * Stage `respond`. In: a response as the origin or the cache pushes it. Out: the response to the client: with the headers
 * that the domain's settings add and without those they remove, or an error page in its place.
 */
import { pageInstead } from '../../answers/answer-to.ts';
import { addedHeaders, inPlaceOf, isDropped, ownAnswer } from '../../answers/domain-headers.ts';
import { endToEnd, hasNoLength } from '../../http/end-to-end.ts';
import type { ResponseFault, ResponseHead, ResponseSink } from '../../http/response.ts';
import { isPage } from '../../markdown/eligible.ts';
import { varyingByAccept } from '../../markdown/vary.ts';
import type { ClientSink } from '../client-response.ts';
import type { Exchange } from '../exchange.ts';
import { ANSWER_VIA } from '../loops.ts';
import { exchangeOf, type NodeContext } from '../request-context.ts';

/** The status that a client gets for a failure of the origin; `null`: the client has left and gets none. */
const STATUS_OF: Readonly<Record<ResponseFault['code'], number | null>> = {
  unresolved: 502,
  forbidden: 502,
  refused: 502,
  unreachable: 502,
  unreached: 504,
  reset: 502,
  malformed: 502,
  cut: 502,
  timeout: 504,
  body: 400,
  busy: 503,
  slow: 408,
  aborted: null,
};

/** The last response filter before the client. A failure after the head ends the client's response early. */
export function respondTo(context: NodeContext<ClientSink>): ResponseSink {
  const { client } = context;
  const exchange = exchangeOf(context);
  let replaced = false;

  return {
    informational: (status, headers) => client.informational(status, endToEnd(headers)),
    head(head, source) {
      const page = pageInstead(exchange, head);
      const finished = finishedHead(head, exchange);
      if (page === null) return client.head(finished, source);
      replaced = true;
      source.abort();
      client.answer(inPlaceOf(finished.headers, page));
    },
    data(chunk) {
      if (!replaced) client.data(chunk);
    },
    end(trailers) {
      if (!replaced) client.end(trailers);
    },
    fail(fault) {
      context.fault = fault.code;
      const status = STATUS_OF[fault.code];
      if (replaced) return;
      if (status === null || client.started()) return client.fail(fault);
      const page = pageInstead(exchange, { status, madeBy: 'edge' }) ?? context.page(status);
      client.answer(ownAnswer(page, exchange.domain.settings));
    },
  };
}

function finishedHead(head: ResponseHead, { id, domain }: Exchange): ResponseHead {
  const { status, madeBy, reason } = head;
  const { settings } = domain;
  // A page that is also served as Markdown varies by `Accept`, in whichever form it leaves.
  const varying = settings.markdownForAgents && isPage(head) ? varyingByAccept(head.headers) : head.headers;
  const lengthless = hasNoLength(status);
  const headers = endToEnd(
    varying,
    (name) => (lengthless && name === 'content-length') || isDropped(name, settings),
  );
  headers.push(...ANSWER_VIA, ...addedHeaders(settings, id));
  return { status, headers, madeBy, reason };
}
