/**
 * How the messages of Node's servers are read for a decision: one reader for a node, which passes the read octets on to an
 * origin, and one for a server in front of an application, which puts them back.
 */
import { RATE, type RateBounds } from '../../base/buffers/limits.ts';
import type { ClientRequest } from '../../base/http/client-messages.ts';
import type { MessageReader } from '../decide/request-context.ts';
import { readRequest } from './read-request.ts';
import { inspectBody, peekBody, readBody } from './request-body.ts';
import type { OutgoingBody } from './request-context.ts';

/** The parts that both have. */
const HEAD = {
  head: readRequest,
  header: ({ headers }: ClientRequest, name: string): string => String(headers[name] ?? ''),
  whole: (message: ClientRequest): ClientRequest => message,
} as const;

/** The reader of a node. @param rate the minimum rate of clients */
export function createMessageReader(rate: RateBounds): MessageReader<ClientRequest, OutgoingBody> {
  return {
    ...HEAD,
    async inspect(message, wanted) {
      const body = await inspectBody(message, wanted, rate);
      return { ...body, taken: body.outgoing.read.length };
    },
    read: (message, most) => readBody(message, most, RATE),
  };
}

/** The reader before an application, which reads the whole body itself. */
export const APPLICATION_READER: MessageReader<ClientRequest, ClientRequest> = {
  ...HEAD,
  inspect: peekBody,
  read: (message, most) => readBody(message, most, RATE),
};
