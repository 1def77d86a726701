/** Holds answers to the schemas of the route table: nothing missing, nothing more, and the one error shape. */
import { isDeepStrictEqual } from 'node:util';
import { type AnyRoute, isNodeRoute } from '../../src/control/api/operation/node-route.ts';
import { methodsAt, segmentsOf } from '../../src/control/api/operation/read-request.ts';
import { ROUTES } from '../../src/control/api/routes.ts';
import type { Answer } from './api.ts';

/** What a route answers where nothing is wrong. */
export function successOf(route: AnyRoute): 200 | 202 {
  return isNodeRoute(route) ? 200 : (route.status ?? 200);
}

/** What is wrong with an answer, or `null`. */
export function judgeAnswer(method: string, path: string, { status, body, text }: Answer): string | null {
  if (method === 'HEAD' || status === 304 || status === 204)
    return text === '' ? null : `a body with ${status}`;
  if (status !== 200 && status !== 202) {
    const named = Object.keys(body ?? {}).join(' ');
    const right =
      named === (status === 429 && 'quota' in body ? 'error quota' : 'error') &&
      typeof body.error === 'string' &&
      body.error !== '';
    return right && !body.error.includes('    at ') ? null : `no error shape with ${status}: ${text}`;
  }
  const segments = segmentsOf(path);
  // Static segments go before `{name}`, as the router has it.
  const [route] = ROUTES.filter(
    (one) => one.method === method && methodsAt([one], segments).length === 1,
  ).sort((left, right) => left.path.split('{').length - right.path.split('{').length);
  if (route === undefined || route.produces !== undefined) return null;
  if (status !== successOf(route)) return `${method} ${path}: ${status} is not the status of the route`;
  const read = route.response.safeParse(body);
  if (!read.success) return `${method} ${path}: ${read.error.message}`;
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(read.data)), body)) return null;
  return `${method} ${path}: the answer has fields its schema does not know: ${text}`;
}
