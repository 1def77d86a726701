/** The headers that a domain's settings add to, and remove from, responses of origins. */
import type { EdgeSettings } from '../evaluator/index.ts';
import type { HeaderList } from '../http/answer.ts';
import { TAG_HEADERS } from '../http/tag-headers.ts';
import { ID_HEADER } from './kinds.ts';

/** Headers by which an origin names its software. */
const SOFTWARE_HEADERS: ReadonlySet<string> = new Set([
  'server',
  'x-powered-by',
  'x-aspnet-version',
  'x-aspnetmvc-version',
  'x-generator',
  'x-runtime',
  'x-version',
  'x-drupal-cache',
  'x-drupal-dynamic-cache',
  'x-php-version',
  'liferay-portal',
]);

/** Headers for the edge alone. */
const EDGE_HEADERS: ReadonlySet<string> = new Set(TAG_HEADERS);

/** Whether the origin's header of this lower-case name is removed. */
export function isDropped(name: string, settings: EdgeSettings): boolean {
  if (EDGE_HEADERS.has(name)) return true;
  if (settings.stripHeaders && SOFTWARE_HEADERS.has(name)) return true;
  if (settings.noSniff && name === 'x-content-type-options') return true;
  return settings.referrerPolicy && name === 'referrer-policy';
}

/** The headers that the edge adds, the decision id among them. */
export function addedHeaders(settings: EdgeSettings, id: string): HeaderList {
  const added: string[] = [];
  if (settings.noSniff) added.push('X-Content-Type-Options', 'nosniff');
  if (settings.referrerPolicy) added.push('Referrer-Policy', 'strict-origin-when-cross-origin');
  added.push(ID_HEADER, id);
  return added;
}
