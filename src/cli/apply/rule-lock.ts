/**
 * The lock of one domain while it is applied: which rules of the server its keys mean, before the changes and after each of
 * them. The file is written after every change that adds or removes an id, so that it is true whenever the command ends.
 */
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import type { Rule } from '../../rules/model/types.ts';
import { note } from '../output.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import type { DesiredState } from './desired-state.ts';
import {
  type FoundSection,
  findSection,
  type LockSection,
  type LockSections,
  lockText,
  readLock,
  writeLock,
} from './lock-file.ts';
import type { ChangePlan, PlannedChange } from './plan-changes.ts';

/** What a lock is about. */
export interface LockSubject {
  readonly path: string;
  /** The address of the server. */
  readonly server: string;
  readonly desired: DesiredState;
  readonly remote: RemoteDomain;
}

/** A lock in use. */
export interface RuleLock {
  /** The id of the server's rule that a rule of the file is; `null`: the lock has none that exists. */
  idOf(rule: Rule): number | null;
  /** Takes the rules that planning has paired, and writes the lock. @throws CommandFault */
  begin(plan: ChangePlan): Promise<void>;
  /** Takes a change that was made; `id` is that of a created rule. @throws CommandFault */
  done(change: PlannedChange, id: number | null): Promise<void>;
}

/** Opens the lock of a domain; notes what of it is no longer true. @throws CommandFault */
export async function openRuleLock({ path, server, desired, remote }: LockSubject): Promise<RuleLock> {
  const sections = await readLock(path);
  const { domain } = desired;
  const found = findSection(sections, { server, domain, createdAt: remote.createdAt });
  const before = found.section;
  const renewed = before !== null && before.createdAt !== null && before.createdAt !== remote.createdAt;
  if (renewed) note(`\`${path}\` is about an earlier ${desired.domain} of the server: it is not used`);
  const existing = new Set(remote.rules.map(({ type, id }) => `${type}/${id}`));
  const ids = new Map<string, number>();
  const names = new Set(desired.rules.map((rule) => nameOf(rule, desired)));
  for (const [name, id] of renewed ? [] : (before?.ids ?? [])) {
    if (existing.has(`${typeOf(name)}/${id}`)) ids.set(name, id);
    else if (names.has(name))
      note(`the server has no rule ${typeOf(name)}/${id}, which was ${name}: taken as new`);
  }
  let written = before === null ? '' : lockText(sections);

  /** Writes the lock if it differs from the file. */
  async function save(): Promise<void> {
    if (ids.size === 0 && before === null) return;
    const next = withSection(sections, found, {
      domain: desired.domain,
      section: { createdAt: remote.createdAt, ids },
    });
    const text = lockText(next);
    if (text === written) return;
    await writeLock(path, next);
    written = text;
  }

  /** Takes the id of a rule that has a key; another name of that rule is removed. */
  function take(rule: Rule, id: number): void {
    for (const [name, known] of ids) if (known === id && typeOf(name) === rule.type) ids.delete(name);
    const name = nameOf(rule, desired);
    if (name !== null) ids.set(name, id);
  }

  return {
    idOf: (rule) => ids.get(nameOf(rule, desired) ?? '') ?? null,
    async begin({ ruleIds }) {
      for (const rule of desired.rules) {
        const id = ruleIds.get(rule.id);
        if (id !== undefined) take(rule, id);
      }
      await save();
    },
    async done(change, id) {
      if (change.noun !== 'rule') return;
      if (change.verb === 'create' && id !== null) take(change.after, id);
      if (change.verb === 'delete') {
        const { type } = change.before;
        for (const [name, known] of ids)
          if (known === change.before.id && typeOf(name) === type) ids.delete(name);
      }
      await save();
    },
  };
}

/** `drop/office-only`; `null`: the rule has no key. */
function nameOf(rule: Rule, { sources }: DesiredState): string | null {
  const key = sources.rules.get(rule.id)?.key ?? null;
  return key === null ? null : `${rule.type}/${key}`;
}

/** The type in such a name; a type that this version does not have stays as it is. */
function typeOf(name: string): string {
  return RULE_TYPES.find((type) => name.startsWith(`${type}/`)) ?? name;
}

/** The sections with another one for a domain of a server, which replaces those under other addresses of its store. */
function withSection(
  sections: LockSections,
  { server, others }: FoundSection,
  { domain, section }: { readonly domain: string; readonly section: LockSection },
): LockSections {
  const next = new Map(sections).set(server, new Map(sections.get(server)).set(domain, section));
  for (const address of others) {
    const domains = new Map(next.get(address));
    domains.delete(domain);
    if (domains.size === 0) next.delete(address);
    else next.set(address, domains);
  }
  return next;
}
