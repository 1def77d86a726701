/** Problem documents of ACME (RFC 8555 section 6.7), thrown by what answers a request. */

export interface Subproblem {
  readonly type: ProblemType;
  readonly detail: string;
  readonly name: string;
}

/** Types that this authority answers with, without `urn:ietf:params:acme:error:`. */
export type ProblemType =
  | 'accountDoesNotExist'
  | 'alreadyReplaced'
  | 'alreadyRevoked'
  | 'badCSR'
  | 'badNonce'
  | 'badPublicKey'
  | 'badSignatureAlgorithm'
  | 'caa'
  | 'connection'
  | 'dns'
  | 'malformed'
  | 'orderNotReady'
  | 'rateLimited'
  | 'rejectedIdentifier'
  | 'serverInternal'
  | 'unauthorized';

interface ProblemOptions {
  readonly status?: number;
  readonly subproblems?: readonly Subproblem[];
  /** The header Retry-After. */
  readonly retryAfter?: string | number;
}

export class Problem extends Error {
  readonly type: ProblemType;
  readonly options: ProblemOptions;

  constructor(type: ProblemType, options: ProblemOptions & { readonly detail: string }) {
    super(options.detail);
    this.type = type;
    this.options = options;
  }
}

/** The document of a problem. */
export function problemDocument(type: ProblemType, detail: string): Record<string, unknown> {
  return { type: `urn:ietf:params:acme:error:${type}`, detail };
}

/** The documents of the names that a problem is about. */
export function subproblemDocuments(subproblems: readonly Subproblem[]): readonly unknown[] {
  return subproblems.map(({ type, detail, name }) => ({
    ...problemDocument(type, detail),
    identifier: { type: 'dns', value: name },
  }));
}
