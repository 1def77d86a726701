/** The permissions of each role on a domain, under the names of the API document. */
import type { MemberRole } from '../store/rows.ts';

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
