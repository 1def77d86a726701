/** Reads, publishes and discards the draft of a domain over the API. */
import type { PublishMode } from '../../control/store/rows.ts';
import type { ApiResponse, ServerAccess } from './call-api.ts';
import { callDomainApi, domainPath } from './remote-domain.ts';

/** The draft as the API answers it; of a long one the first changes. */
export interface RemoteDraft {
  readonly publish_mode: PublishMode;
  readonly edit: number;
  readonly since: string | null;
  readonly published_revision: number | null;
  readonly rolled_back: boolean;
  readonly changed: number;
  readonly changes: readonly {
    readonly rule: string;
    readonly change: string;
    readonly at: string | null;
    readonly account_id: number | null;
    readonly account: string | null;
  }[];
}

/** A draft with its ETag, which a publication of this very draft names. */
export interface TaggedDraft {
  readonly draft: RemoteDraft;
  readonly tag: string | null;
}

/** Reads the draft. */
export async function readDraft(domain: string, access: ServerAccess): Promise<TaggedDraft> {
  // As many changes as a page has.
  const path = domainPath(domain, '/draft?limit=1000');
  const { body, headers } = await callDomainApi(domain, access, { method: 'GET', path });
  return { draft: body as RemoteDraft, tag: headers.get('etag') };
}

/** Publishes the draft with this tag, and waits until its revision is out. */
export async function publishDraft(
  domain: string,
  access: ServerAccess,
  tag: string | null,
): Promise<ApiResponse> {
  const path = domainPath(domain, '/draft/publish?wait=published');
  const condition = tag === null ? {} : { ifMatch: tag };
  return callDomainApi(domain, access, { method: 'POST', path, ...condition });
}
