/** How `apply` sends a change: only if its object is as it was read. */
import { CommandFault, EXIT } from '../exit.ts';
import { type ApiResponse, callApi, type ServerAccess, ServerRefusal } from '../remote/call-api.ts';
import type { ChangeSummary } from './change.ts';

/** The fault for an object that changed since planning. */
export function changedMeanwhile({ title }: Pick<ChangeSummary, 'title'>): CommandFault {
  return new CommandFault(EXIT.server, `${title} has changed since the changes were planned`, {
    remedy: 'apply --dry-run shows the current differences',
  });
}

/** The `If-Match` of an object that was read. */
export function matching(headers: Headers): { readonly ifMatch?: string } {
  const tag = headers.get('etag');
  return tag === null ? {} : { ifMatch: tag };
}

/** A server, and what takes sentences about what it did besides a change. */
export interface SendOptions extends ServerAccess {
  readonly onNote?: (sentence: string) => void;
}

/** Calls the API. A 504 means that the change is stored and its publication is late, so it is not a failure. */
export async function send(
  options: SendOptions,
  request: Parameters<typeof callApi>[1],
): Promise<ApiResponse> {
  try {
    return await callApi(options, request);
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 504) throw error;
    options.onNote?.(error.sentence);
    return { body: {}, headers: new Headers() };
  }
}
