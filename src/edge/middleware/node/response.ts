/**
 * Finishes the application's response: adds and removes header fields by the domain's settings, and replaces an error by
 * the page of a rule. The response is the application's object, so its methods are replaced: every response passes through
 * `writeHead`, which Node calls if the application does not.
 */
import type { ServerResponse } from 'node:http';
import { type EdgeAnswer, endToEnd } from '../../../base/http/header-fields.ts';
import { pageInstead } from '../../answers/answer-to.ts';
import { addedHeaders, inPlaceOf, isDropped } from '../../answers/domain-headers.ts';
import type { Exchange } from '../../proxy/exchange.ts';

type Callback = (error?: Error | null) => void;

/** Replaces the response's methods. `answer` sends a whole answer on it. */
export function takeOver(
  response: ServerResponse,
  exchange: Exchange,
  answer: (instead: EdgeAnswer) => void,
): void {
  const { writeHead, write, end, flushHeaders } = response;
  let begun = false;
  let replaced = false;

  /** Sends the error page of a rule, if one matches; the application's body is dropped then. */
  function replace(status: number, headers?: WrittenHeaders): boolean {
    if (begun || response.headersSent) return replaced;
    const page = pageInstead(exchange, { status, madeBy: 'origin' });
    if (page === null) return false;
    begun = true;
    replaced = true;
    setHeaders(response, headers);
    finishHeaders(response, exchange);
    const instead = inPlaceOf(endToEnd(headersOf(response)), page);
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    Object.assign(response, { writeHead, write, end });
    answer(instead);
    Object.assign(response, { write: drop, end: dropEnd, writeHead: () => response });
    return true;
  }

  /** Accepts and drops writes after a replacement, so that the application writes to its end. */
  function drop(...written: unknown[]): boolean {
    const callback = written.at(-1);
    if (typeof callback === 'function') process.nextTick(callback as Callback);
    return true;
  }

  function dropEnd(...written: unknown[]): ServerResponse {
    drop(...written);
    return response;
  }

  Object.assign(response, {
    writeHead(status: number, ...rest: unknown[]): ServerResponse {
      const reason = typeof rest[0] === 'string' ? rest[0] : null;
      const headers = (reason === null ? (rest[0] ?? rest[1]) : rest[1]) as WrittenHeaders;
      if (replace(status, headers)) return response;
      if (!begun) {
        begun = true;
        setHeaders(response, headers);
        finishHeaders(response, exchange);
      }
      return Reflect.apply(writeHead, response, reason === null ? [status] : [status, reason]);
    },
    write(...written: unknown[]): boolean {
      if (replace(response.statusCode)) return drop(...written);
      return Reflect.apply(write, response, written);
    },
    end(...written: unknown[]): ServerResponse {
      if (replace(response.statusCode)) return dropEnd(...written);
      return Reflect.apply(end, response, written);
    },
    flushHeaders(): void {
      if (!replace(response.statusCode)) flushHeaders.call(response);
    },
  });
}

type WrittenHeaders =
  | Readonly<Record<string, string | number | readonly string[]>>
  | readonly string[]
  | undefined;

/** Headers handed to `writeHead`: an object, or names and values in turn. */
function setHeaders(response: ServerResponse, headers: WrittenHeaders): void {
  if (headers === undefined || headers === null) return;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return;
  }
  const given = new Set<string>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = String(headers[at]);
    const value = headers[at + 1] as string;
    if (given.has(name.toLowerCase())) response.appendHeader(name, value);
    else response.setHeader(name, value);
    given.add(name.toLowerCase());
  }
}

/** The headers set so far, as a flat list. */
function headersOf(response: ServerResponse): string[] {
  const list: string[] = [];
  for (const name of response.getHeaderNames()) {
    const value = response.getHeader(name);
    for (const one of Array.isArray(value) ? value : [value]) list.push(name, String(one));
  }
  return list;
}

function finishHeaders(response: ServerResponse, { id, domain: { settings } }: Exchange): void {
  for (const name of response.getHeaderNames()) {
    if (isDropped(name, settings)) response.removeHeader(name);
  }
  const added = addedHeaders(settings, id);
  for (let at = 0; at < added.length; at += 2) response.setHeader(added[at]!, added[at + 1]!);
}
