/**
 * One request as the embedder saw it. Nothing is normalised yet; what is absent is unknown. `evaluate` accepts any
 * value in any field and still answers with a decision.
 */
import { utf8Bytes } from '../../base/octets/octets.ts';
import type { CredentialKind, IdentityFailure } from '../../base/vocabulary/vocabulary.ts';

/** Whose request it is, as the embedder has verified its credentials (semantics §15). */
export interface RequestIdentity {
  /** The username of the consumer that the valid credentials name; `null`: they name none. */
  readonly consumer: string | null;
  /** Which kinds of credentials are valid; absent: those that the gateway demands. */
  readonly verified?: readonly CredentialKind[] | undefined;
  /** The API key that is valid: the first 8 hex digits of its hash. Absent: none is. No rule reads it. */
  readonly keyId?: string | undefined;
  /** Claims of the token; absent: it has none. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** Scopes that the token has; those of the consumer itself come from the plan. Absent: none. */
  readonly scopes?: readonly string[] | undefined;
  /** Why a credential is refused, or that the request has none. Absent, `null`: all that it carries are valid. */
  readonly failure?: IdentityFailure | null | undefined;
  /**
   * Until when the quota of the consumer's usage plan is exhausted, in milliseconds since the epoch; `null`: it is not. Absent: as the
   * registry says.
   */
  readonly exhaustedUntil?: number | null | undefined;
}

export interface EdgeRequest {
  /** `http` or `https`, also with the colon of `new URL(…).protocol`; anything else is read as `https`. */
  readonly scheme: string;
  readonly method: string;
  /** The id of the request, which headers rules may insert. */
  readonly id?: string | undefined;
  /** `:authority` or the Host header, as sent; an array when it was sent more than once. */
  readonly host: string | readonly string[];
  /** Path and query as sent (origin-form or absolute-form). Octets above 0x7F as UTF-8 text, not as Latin-1. */
  readonly target: string;
  /**
   * The listener's port; absent: the scheme's default. Not the port of the Host header: if that were forwarded, a client
   * could choose what the origin answers under one cache key.
   */
  readonly port?: number | undefined;
  /** `HTTP/1.1`, `HTTP/2`; absent: `HTTP/1.1`. Inspected by signatures. */
  readonly protocol?: string | undefined;
  /** A plain object with lower-case names; of a `Headers` object, `Object.fromEntries(headers)`, since it has no own fields. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  /** The visitor's address as text. */
  readonly ip?: string | null | undefined;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string | null | undefined;
  /** The number of the autonomous system that announces the visitor's address (RFC 6793). */
  readonly asn?: number | null | undefined;
  /** Absent: classified from the User-Agent. `null`: not a bot. */
  readonly bot?: { readonly kind: string; readonly verified: boolean } | null | undefined;
  readonly ja4?: string | null | undefined;
  readonly ja4h?: string | null | undefined;
  /**
   * The first `bodyWanted` octets of the request body, already inflated; `null` without a body. If the field is absent
   * and the head announces a body (Content-Length, Transfer-Encoding), a waf rule that would inspect it finds it `unread`.
   */
  readonly body?: Uint8Array | string | null | undefined;
  /**
   * Why `body` could not be decoded, such as `content-encoding: \`zstd\` is not known`; absent, `null`: it was decoded. Reported
   * in the decision, and to signatures as REQBODY_ERROR.
   */
  readonly bodyError?: string | null | undefined;
  /**
   * `body` is the start of a longer body, of which a proxy passed no more on; if it is `null`, nothing of it. Absent: it is as long as
   * `bodyWanted` asks.
   */
  readonly bodyTruncated?: boolean | undefined;
  /** Milliseconds since the epoch. Absent: the evaluator's own clock. */
  readonly now?: number | undefined;
  /**
   * Challenges that this visitor has solved: `<type>/<id>` of the rule, `record/<id>` of a record's own; with the key in
   * place of the id if the rule or record has one.
   */
  readonly cleared?: readonly string[] | undefined;
  /** Absent, `null`: no credentials were verified; a gateway that demands some refuses the request. */
  readonly identity?: RequestIdentity | null | undefined;
}

// The body of a request as waf rules inspect it.

/** Returns the octets of the body, `null` without one, `unread` if the caller gave neither text nor octets of it. */
export function bodyOf({ body, headers }: EdgeRequest): Uint8Array | null | 'unread' {
  if (typeof body === 'string') return utf8Bytes(body);
  if (body instanceof Uint8Array || body === null) return body;
  return body !== undefined || announcesBody(headers) ? 'unread' : null;
}

/** Whether the headers announce a body (RFC 9112 §6.3). In HTTP/2 a body can follow without such a header. */
export function announcesBody(headers: EdgeRequest['headers']): boolean {
  if (headers?.['transfer-encoding'] !== undefined) return true;
  const length = headers?.['content-length'];
  return length !== undefined && Number(length) !== 0;
}
