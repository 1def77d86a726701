/** The edge as Hono middleware, by the shape of Hono's context: nothing of Hono is imported. */
import type { EdgeVerdict } from '../verdict.ts';
import type { FetchFacts, Next } from './options.ts';

/** As much of Hono's `Context` as the middleware touches. */
export interface HonoContext {
  readonly req: { raw: Request };
  get res(): Response;
  set res(response: Response | undefined);
  set(key: 'edge', value: EdgeVerdict): void;
}

export type HonoMiddleware<C> = (context: C, next: () => Promise<void>) => Promise<Response | undefined>;

type Serve = (request: Request, facts: FetchFacts, next: Next) => Promise<Response>;

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
    // Hono puts the headers of the answer before on the one that takes its place, those that were dropped too.
    context.res = undefined;
    context.res = response;
    return undefined;
  };
}
