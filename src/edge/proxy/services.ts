/** The services that the stages of a request use: one interface for each room. */
import type { RateBounds } from '../../base/buffers/limits.ts';
import type { BufferSpace } from '../../base/buffers/space.ts';
import type { SpanSource } from '../../base/telemetry/spans.ts';
import type { Challenges } from '../answers/challenge/challenge.ts';
import type { HttpCache } from '../cache/request.ts';
import type { CredentialVerifier } from '../credentials/verify.ts';
import type { Classifier } from '../decide/request-context.ts';
import type { Unserved } from '../decide/unserved.ts';
import type { Plans } from '../following/served-domain.ts';
import type { MarkdownRenderer } from '../markdown/renderer.ts';
import type { RequestLog } from './log/request-log.ts';
import type { Origins } from './origin/request.ts';

export type { Challenges } from '../answers/challenge/challenge.ts';

/** The storage of bodies for slow clients, and their minimum rate. */
export interface Buffers {
  readonly space: BufferSpace;
  /** Octets of a request's body that are read before its origin is contacted. */
  readonly bodyOctets: number;
  readonly rate: RateBounds;
}

/** The key authorizations of the node's own ACME challenges, by token (RFC 8555 §8.1). */
export type OwnTokens = Pick<ReadonlyMap<string, string>, 'get'>;

/** The key authorizations of the challenges that the control plane has for a domain. */
export interface DomainTokens {
  get(domain: string, token: string): string | undefined;
}

/** Everything that a node shares among its requests. */
export interface ProxyServices {
  readonly plans: Plans;
  readonly origins: Origins;
  /** `null`: cache rules have no effect. */
  readonly cache: HttpCache | null;
  /** `null`: pages are not rendered as Markdown. */
  readonly markdown: MarkdownRenderer | null;
  readonly challenges: Challenges;
  readonly credentials: CredentialVerifier;
  readonly classifier: Classifier;
  readonly requestLog: RequestLog;
  /** Where spans of requests start; `null`: no collector gets any. */
  readonly spans: SpanSource | null;
  readonly buffers: Buffers;
  /** Whether origins get headers with `_` in their names. */
  readonly keepUnderscores: boolean;
  /** Hosts that are not served. */
  readonly unserved: Unserved;
  /** The node's own answers to a certificate authority; `null`: it requests no certificates. */
  readonly ownTokens: OwnTokens | null;
  /** The control plane's answers to one; `null`: the node follows none. */
  readonly domainTokens: DomainTokens | null;
}
