/** The edge as Hono middleware, typed by the shape of Hono's context, without an import of Hono. */
import type { EdgeVerdict } from '../verdict.ts';
import type { FetchFacts, Next } from './options.ts';

/** The part of Hono's `Context` that the middleware uses. */
export interface HonoContext {
  readonly req: { raw: Request };
  get res(): Response;
  set res(response: Response | undefined);
  set(key: 'edge', value: EdgeVerdict): void;
}

/** A middleware; `undefined`: the response is in the context. */
export type HonoMiddleware<C> = (context: C, next: () => Promise<void>) => Promise<Response | undefined>;

type Serve = (request: Request, facts: FetchFacts, next: Next) => Promise<Response>;

/** @param serve decides a request and calls the application if it is forwarded */
export function honoMiddleware<C extends HonoContext>(
  factsOf: (context: C) => FetchFacts,
  serve: Serve,
): HonoMiddleware<C> {
  return async (context, next) => {
    let forwarded = false;
    const response = await serve(context.req.raw, factsOf(context), async (request, verdict) => {
      forwarded = true;
      context.req.raw = request;
      context.set('edge', verdict);
      await next();
      return context.res;
    });
    if (!forwarded) return response;
    // Hono copies the headers of the old response to a new one, also those that were dropped: the old one is removed first.
    context.res = undefined;
    context.res = response;
    return undefined;
  };
}
