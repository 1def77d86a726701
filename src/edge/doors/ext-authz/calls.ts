/**
 * The methods that the door serves: `envoy.service.auth.v3.Authorization/Check` and `grpc.health.v1.Health/Check`. In: the
 * message of a call. Out: the message in reply, or the status that refuses the call.
 */
import type { DecideForDoor, DoorAnswer } from '../door.ts';
import { decodeCheckRequest } from './check-request.ts';
import { encodeCheckResponse } from './check-response.ts';
import { GRPC, type GrpcRefusal, refusal } from './grpc.ts';
import {
  createWriter,
  delimitedTag,
  ProtobufError,
  type ProtobufReader,
  readTag,
  readText,
  skipField,
  varintTag,
  writeNumber,
  written,
} from './protobuf.ts';
import { proxiedOf } from './to-request.ts';
import { checkResponseOf, faultResponse } from './to-response.ts';

/** Numbers of the door since its start, for metrics. */
export interface CheckCounts {
  /** Requests that the proxy forwards. */
  forwarded: number;
  /** Requests that the agent answers. */
  answered: number;
  /** Checks that ended with a fault of ours. */
  faults: number;
  /** Health checks. */
  healthChecks: number;
}

export interface CallOptions {
  readonly decide: DecideForDoor;
  readonly log: (sentence: string) => void;
  /** Whether health checks get SERVING. */
  readonly isServing: () => boolean;
  readonly counts: CheckCounts;
}

/** The reply to a call. */
export type CallReply = Buffer | GrpcRefusal;

/** Serves a method. Throws and rejects for no message. */
export type ServeCall = (message: Buffer) => CallReply | Promise<CallReply>;

/** The methods by their paths. */
export function createCalls(options: CallOptions): ReadonlyMap<string, ServeCall> {
  return new Map<string, ServeCall>([
    [`/${AUTHORIZATION}/Check`, (message) => guarded(message, { serve: check, options })],
    ['/grpc.health.v1.Health/Check', (message) => guarded(message, { serve: healthCheck, options })],
  ]);
}

interface Guarded {
  readonly serve: (message: Buffer, options: CallOptions) => CallReply | Promise<CallReply>;
  readonly options: CallOptions;
}

/** Serves a message; a malformed one is refused, and after a bug of ours the proxy gets an error. */
function guarded(message: Buffer, { serve, options }: Guarded): ReturnType<ServeCall> {
  const fail = (error: unknown): CallReply => {
    if (error instanceof ProtobufError) return refusal(GRPC.invalidArgument, error.message);
    options.counts.faults++;
    options.log(`a check of ${message.length} octets failed: ${String(error)}; the proxy gets an error`);
    return encodeCheckResponse(faultResponse(null));
  };
  try {
    const reply = serve(message, options);
    return reply instanceof Promise ? reply.catch(fail) : reply;
  } catch (error) {
    return fail(error);
  }
}

const AUTHORIZATION = 'envoy.service.auth.v3.Authorization';

/** Has the request of a message decided. */
function check(message: Buffer, { decide, counts }: CallOptions): CallReply | Promise<CallReply> {
  const request = proxiedOf(decodeCheckRequest(message));
  const reply = (answer: DoorAnswer): Buffer => {
    counts[COUNTED[answer.kind]]++;
    return encodeCheckResponse(checkResponseOf(answer, request));
  };
  const answer = decide(request);
  return answer instanceof Promise ? answer.then(reply) : reply(answer);
}

const COUNTED = { forward: 'forwarded', answer: 'answered', fault: 'faults' } as const;

// Health checks (grpc/grpc-proto, `grpc/health/v1/health.proto`). A service that does not exist is NOT_FOUND.
const HEALTH_SERVICE = delimitedTag(1);
const HEALTH_STATUS = varintTag(1);
const SERVING = 1;
const NOT_SERVING = 2;

/** Reports whether requests are decided here. */
function healthCheck(message: Buffer, { isServing, counts }: CallOptions): CallReply {
  const reader: ProtobufReader = { octets: message, at: 0, end: message.length };
  let service = '';
  for (let tag = readTag(reader); tag !== 0; tag = readTag(reader)) {
    if (tag === HEALTH_SERVICE) service = readText(reader);
    else skipField(reader, tag);
  }
  if (service !== '' && service !== AUTHORIZATION) {
    return refusal(GRPC.notFound, 'there is no service of this name');
  }
  counts.healthChecks++;
  const writer = createWriter();
  writeNumber(writer, HEALTH_STATUS, isServing() ? SERVING : NOT_SERVING);
  return written(writer);
}
