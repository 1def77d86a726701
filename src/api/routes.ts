/** Every route on one screen: method, path, permission, what else is judged before the handler, and the handler. */
import type { Route } from './route.ts';

export const ROUTES: readonly Route[] = [];
