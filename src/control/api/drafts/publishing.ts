/** `/domains/{domain}/publishing`: whether changes of rules are published at once, or collected in a draft. */
import { z } from 'zod';
import { form } from '../../../rules/model/form.ts';
import { PUBLISH_MODES, type PublishMode } from '../../store/tables/domains.ts';
import { formBody } from '../operation/read-request.ts';
import { conflict } from '../operation/refusal.ts';
import { ok, operation, type Response, type Writing } from '../operation/route.ts';
import { amountOfRules } from './representation.ts';

const modeShape = z
  .enum(PUBLISH_MODES)
  .describe('`automatic`: every change of rules is published; `manual`: changes wait in the draft')
  .meta({ examples: ['manual'] });

/** The mode as a GET answers it. */
const publishingShape = z.object({ publish_mode: modeShape }).meta({ id: 'Publishing' });

const publishingForm = form({
  fields: { publish_mode: modeShape },
  ignored: [],
  finish: (values): { readonly publish_mode: PublishMode } => values,
});

/** `GET /domains/{domain}/publishing`. */
export const read = operation({
  summary: 'How changes of rules are published: each at once, or together as a draft',
  response: publishingShape,
  handle: async ({ domain }) => ok({ publish_mode: domain.publish_mode }),
});

/**
 * `PUT /domains/{domain}/publishing`. Back to `automatic` publishes nothing: while the draft has changes, the answer is 409, since
 * the mode exists so that rules are published by a decision of their own.
 */
export const change = operation<{ readonly publish_mode: PublishMode }>({
  summary: 'Publish changes of rules each at once, or collect them in a draft; 409 while a draft has changes',
  body: formBody(publishingForm),
  response: publishingShape,
  handle: ({ body, write }) => write((w) => setMode(w, body.publish_mode)),
});

/** Changes the mode. @throws Refusal 409 where changes of a draft would be left over, 412 */
async function setMode(w: Writing, wanted: PublishMode): Promise<Response> {
  const { domain, tx } = w;
  const before = { publish_mode: domain.publish_mode };
  w.match(before);
  const after = { publish_mode: wanted };
  if (wanted === domain.publish_mode) return ok(after);
  if (wanted === 'manual') await tx.drafts.begin(domain.id);
  else {
    const changed = await tx.drafts.count(domain.id);
    if (changed > 0) throw conflict(waitingChanges(domain.name, changed));
    const required = await tx.invariants.get(domain.id);
    if (required !== null && required.body !== '[]') throw conflict(requiredInvariants(domain.name));
    // Rules that were changed and changed back are stored beside the draft still.
    await tx.drafts.publish(domain.id);
  }
  await tx.domains.update(domain.id, after);
  await w.audit({ action: 'domain.publishing', before, after });
  return ok(after);
}

function waitingChanges(domain: string, changed: number): string {
  const draft = `/domains/${domain}/draft`;
  return (
    `the draft changes ${amountOfRules(changed)}, which nobody has published; ` +
    `POST ${draft}/publish publishes them, DELETE ${draft} throws them away`
  );
}

function requiredInvariants(domain: string): string {
  return (
    'the domain requires invariants, which are proved when a draft is published; ' +
    `PUT /domains/${domain}/invariants with \`{ "invariants": [] }\` first`
  );
}
