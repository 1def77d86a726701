/**
 * What keys are allowed: the permissions of each role on a domain, under the names of the API document, and the paths
 * that are closed to every key.
 */
import type { MemberRole } from '../store/tables/domains.ts';

export const PERMISSIONS = [
  'domain.view',
  'records.edit',
  'rules.edit',
  'domain.settings',
  'domain.delete',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The roles, the one with the fewest permissions first. */
export const ROLES = ['viewer', 'editor', 'admin', 'owner'] as const satisfies readonly (
  | MemberRole
  | 'owner'
)[];
export type Role = (typeof ROLES)[number];

const GRANTED: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['domain.view'],
  editor: ['domain.view', 'records.edit', 'rules.edit'],
  admin: ['domain.view', 'records.edit', 'rules.edit', 'domain.settings'],
  owner: PERMISSIONS,
};

/** The permissions of a role, in the order of `PERMISSIONS`. */
export function permissionsOf(role: Role): readonly Permission[] {
  return GRANTED[role];
}

/** Whether a role has a permission. */
export function mayDo(role: Role, permission: Permission): boolean {
  return GRANTED[role].includes(permission);
}

// Paths that are closed to every API key, full access included (API document, "Authentication", 7).

interface BlockedSurface {
  /** `null`: every method. */
  readonly method: string | null;
  /** Segments; `*` matches one segment, a final `**` all that follow. */
  readonly path: string;
  readonly reason: string;
}

const MONEY = 'no key may move money';

const BLOCKED: readonly BlockedSurface[] = [
  { method: null, path: '/users/**', reason: 'no key may reach profiles, sessions or keys' },
  { method: null, path: '/auth/**', reason: 'no key may reach login and registration' },
  { method: null, path: '/billing/**', reason: 'no key may reach the plan catalogue and billing settings' },
  { method: null, path: '/admin/**', reason: 'no key may reach administration' },
  { method: 'POST', path: '/wallet/topup', reason: MONEY },
  { method: 'POST', path: '/subscriptions/purchase', reason: MONEY },
  { method: 'POST', path: '/subscriptions/switch', reason: MONEY },
  { method: 'POST', path: '/subscriptions/auto-renew', reason: MONEY },
  { method: 'POST', path: '/domains/*/subscriptions/purchase', reason: MONEY },
  { method: 'POST', path: '/domains/*/subscriptions/switch', reason: MONEY },
  { method: 'POST', path: '/domains/*/subscriptions/auto-renew', reason: MONEY },
];

/**
 * Why requests with an API key get a 403 for this method and path (percent-decoded segments); `null` if keys are
 * allowed.
 */
export function blockedSurface(method: string, segments: readonly string[]): string | null {
  for (const surface of BLOCKED) {
    if (surface.method !== null && surface.method !== method) continue;
    if (covers(surface.path.split('/').slice(1), segments)) return surface.reason;
  }
  return null;
}

/** Whether a pattern of segments matches a path. */
function covers(pattern: readonly string[], segments: readonly string[]): boolean {
  const open = pattern.at(-1) === '**';
  if (open ? segments.length < pattern.length - 1 : segments.length !== pattern.length) return false;
  return pattern.every((part, at) => part === '**' || part === '*' || part === segments[at]);
}
