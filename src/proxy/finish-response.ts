/**
 * The last filter before the client: what the domain's settings add to an answer or take from it, and the customer's
 * or the service's page where the status calls for one.
 */
import { pageInstead } from '../answers/answer-to.ts';
import { addedHeaders, isDropped } from '../answers/domain-headers.ts';
import { endToEnd, hasNoLength } from '../http/end-to-end.ts';
import type { EdgeAnswer, ResponseFault, ResponseHead, ResponseSink } from '../http/response.ts';
import { isPage } from '../markdown/eligible.ts';
import { varyingByAccept } from '../markdown/vary.ts';
import type { ClientSink } from './client-response.ts';
import type { Exchange } from './exchange.ts';
import { ANSWER_VIA } from './loops.ts';

export interface FinishOptions {
  readonly exchange: Exchange;
  readonly client: ClientSink;
  /** The service's page for a status, in the form this client reads. */
  readonly page: (status: number) => EdgeAnswer;
  /** Told why an origin failed. */
  readonly note: (fault: string) => void;
}

/** What an origin's failure is called towards the client; `null`: there is nobody to tell. */
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

export function createFinishFilter({ exchange, client, page, note }: FinishOptions): ResponseSink {
  let replaced = false;

  return {
    informational: (status, headers) => client.informational(status, endToEnd(headers)),
    head(head, source) {
      const instead = pageInstead(exchange, head);
      if (instead === null) return client.head(finished(head, exchange), source);
      replaced = true;
      source.abort();
      client.answer(instead);
    },
    data(chunk) {
      if (!replaced) client.data(chunk);
    },
    end(trailers) {
      if (!replaced) client.end(trailers);
    },
    fail(fault) {
      note(fault.code);
      const status = STATUS_OF[fault.code];
      if (replaced) return;
      if (status === null || client.started()) return client.fail(fault);
      client.answer(pageInstead(exchange, { status, madeBy: 'edge' }) ?? page(status));
    },
  };
}

function finished(head: ResponseHead, { id, domain }: Exchange): ResponseHead {
  const { status, madeBy } = head;
  const { settings } = domain;
  const forms = settings.markdownForAgents && isPage(head) ? varyingByAccept(head.headers) : head.headers;
  const lengthless = hasNoLength(status);
  const answer = endToEnd(
    forms,
    (name) => (lengthless && name === 'content-length') || isDropped(name, settings),
  );
  answer.push(...ANSWER_VIA, ...addedHeaders(settings, id));
  return { status, headers: answer, madeBy };
}
