/** The routes of drafts: how a domain publishes its rules, its draft, and what becomes of it. */
import type { ApiRoute } from '../operation/route.ts';
import * as invariants from './invariants.ts';
import { discard, publish } from './publish.ts';
import * as publishing from './publishing.ts';
import { compare, show } from './read.ts';

// biome-ignore format: a table is read in columns
export const DRAFT_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: '/domains/{domain}/publishing', permission: 'domain.view', ...publishing.read },
  { method: 'PUT', path: '/domains/{domain}/publishing', permission: 'domain.settings', ...publishing.change },
  { method: 'GET', path: '/domains/{domain}/draft', permission: 'domain.view', ...show },
  { method: 'DELETE', path: '/domains/{domain}/draft', permission: 'rules.edit', ...discard },
  { method: 'GET', path: '/domains/{domain}/draft/diff', permission: 'domain.view', ...compare },
  { method: 'POST', path: '/domains/{domain}/draft/publish', permission: 'rules.edit', ...publish },
  { method: 'GET', path: '/domains/{domain}/invariants', permission: 'domain.view', ...invariants.read },
  { method: 'PUT', path: '/domains/{domain}/invariants', permission: 'domain.settings', ...invariants.change },
  { method: 'GET', path: '/domains/{domain}/invariants/proof', permission: 'domain.view', ...invariants.prove },
];
