/**
 * Stage `respond`. In: a response as the origin or the cache pushes it. Out: the response to the client: with the headers
 * that the domain's settings add and without those they remove, or an error page in its place; then as headers rules change it.
 */
import { endToEnd, hasNoLength } from '../../../base/http/header-fields.ts';
import type {
  HeaderList,
  ResponseFault,
  ResponseHead,
  ResponseSink,
  ResponseSource,
} from '../../../base/http/response.ts';
import { addHeaders, inPlaceOf, isDropped, pageInstead } from '../../answers/answer-to.ts';
import { changedAnswer, changedList, fieldName, responseChanges } from '../../answers/header-changes.ts';
import type { Exchange } from '../../decide/exchange.ts';
import { answerOf, exchangeOf } from '../../decide/request-context.ts';
import { isPage, varyingByAccept } from '../../markdown/outcome.ts';
import type { ClientSink } from '../client-response.ts';
import { ANSWER_VIA } from '../origin-headers.ts';
import type { NodeContext } from '../request-context.ts';

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
  return new LastFilter(context);
}

/** PERF: methods instead of five closures a response. */
class LastFilter implements ResponseSink {
  readonly #context: NodeContext<ClientSink>;
  /** The edge has answered in place of the response. */
  #replaced = false;
  constructor(context: NodeContext<ClientSink>) {
    this.#context = context;
  }
  informational(status: number, headers: HeaderList): void {
    this.#context.client.informational(status, endToEnd(headers));
  }
  head(head: ResponseHead, source: ResponseSource): void {
    const { client } = this.#context;
    const exchange = exchangeOf(this.#context);
    const page = pageInstead(exchange, head);
    const finished = finishedHead(head, exchange);
    const { decision } = exchange;
    if (page === null) {
      const headers = changedList(finished.headers, responseChanges(decision), fieldName);
      client.head(headers === finished.headers ? finished : { ...finished, headers }, source);
      return;
    }
    this.#replaced = true;
    source.abort();
    client.answer(changedAnswer(inPlaceOf(finished.headers, page), decision));
  }
  data(chunk: Uint8Array): void {
    if (!this.#replaced) this.#context.client.data(chunk);
  }
  end(trailers: HeaderList): void {
    if (!this.#replaced) this.#context.client.end(trailers);
  }
  fail(fault: ResponseFault): void {
    const context = this.#context;
    const { client } = context;
    context.fault = fault.code;
    const status = STATUS_OF[fault.code];
    if (this.#replaced) return;
    if (status === null || client.started()) {
      client.fail(fault);
      return;
    }
    const exchange = exchangeOf(context);
    const page = pageInstead(exchange, { status, madeBy: 'edge' }) ?? context.page(status);
    client.answer(answerOf(context, page));
  }
}

function finishedHead(head: ResponseHead, exchange: Exchange): ResponseHead {
  const { status, madeBy, reason } = head;
  const { settings } = exchange.domain;
  // A page that is also served as Markdown varies by `Accept`, in whichever form it leaves.
  const varying = settings.markdownForAgents && isPage(head) ? varyingByAccept(head.headers) : head.headers;
  const lengthless = hasNoLength(status);
  const headers = endToEnd(
    varying,
    (name) => (lengthless && name === 'content-length') || isDropped(name, settings),
  );
  headers.push(...ANSWER_VIA);
  addHeaders(headers, exchange);
  return { status, headers, madeBy, reason };
}
