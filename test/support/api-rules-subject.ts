/** What the journeys through rules and records start from: an API, its owner, a domain. */
import { type Answer, addMember, type Person, type TestApi } from './api.ts';

export interface Subject {
  readonly api: TestApi;
  readonly owner: Person;
  readonly domain: { readonly id: number; readonly name: string };
  /** A path below the domain's. */
  at(path: string): string;
  /** A request of the owner below the domain. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Gives the domain a plan with these overrides. */
  allow(overrides: object): Promise<void>;
  /** Reasons of the outbox, oldest first. */
  outbox(): Promise<readonly string[]>;
  /** `<action> <subject>` of the audit log, newest first. */
  audited(): Promise<readonly string[]>;
  /** Adds a member and answers them. */
  member(name: string, role: 'viewer' | 'editor' | 'admin'): Promise<Person>;
}

let made = 0;

/** A fresh owner with one active domain, beside whatever the API holds already. */
export async function addSubject(
  api: TestApi,
  options: { readonly mode?: 'managed' | 'external' } = {},
): Promise<Subject> {
  const number = ++made;
  const owner = await api.person(`owner${number}`);
  const name = `shop${number}.example`;
  const answer = await owner.call('POST', '/domains/', { name, dns_mode: options.mode ?? 'managed' });
  if (answer.status !== 200) throw new Error(answer.text);
  const id: number = answer.body.id;
  await api.store.write((tx) => tx.domains.update(id, { status: 'active', ever_active: true }));
  const at = (path: string): string => `/domains/${name}${path}`;
  return {
    api,
    owner,
    domain: { id, name },
    at,
    ask: (method, path, body, headers) => owner.call(method, at(path), body, headers),
    async allow(overrides) {
      await api.store.write((tx) =>
        tx.subscriptions.put({
          domain_id: id,
          plan_slug: 'business',
          plan_term_id: null,
          active: true,
          started_at: api.now(),
          ends_at: null,
          overrides_json: JSON.stringify(overrides),
        }),
      );
    },
    async outbox() {
      return (await api.store.latest.outbox.list(id)).map((row) => row.reason);
    },
    async audited() {
      const rows = await api.store.latest.audit.list(id, { limit: 1_000 });
      return rows.map((row) => `${row.action} ${row.subject}`.trim());
    },
    async member(memberName, role) {
      const person = await api.person(`${memberName}${number}`);
      await addMember(owner, { member: person, domain: name, role });
      return person;
    },
  };
}
