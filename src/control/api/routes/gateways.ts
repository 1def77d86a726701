/**
 * The operations of a gateway and its OpenAPI document (semantics §15). A gateway is a rule: `rules.ts` and `rules-batch.ts` have
 * its other routes.
 */
import { z } from 'zod';
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { typePath } from '../../../base/vocabulary/vocabulary.ts';
import { RULE_FORMS } from '../../../rules/model/rule.ts';
import { MAX_SCHEMA_OCTETS } from '../../../rules/openapi/limits.ts';
import type { OpenApiDocument } from '../../../rules/openapi/read-openapi.ts';
import { checkFeature } from '../../accounts/entitlements.ts';
import type { GatewaySchemaHead } from '../../store/repositories/gateway-schemas.ts';
import type { RuleRow } from '../../store/tables/rules.ts';
import { USUAL_RETENTION } from '../../traffic/retention.ts';
import { DISCOVERED } from '../gateways/discovered.ts';
import {
  checkSchema,
  compareSchema,
  mistakesText,
  operationsOf,
  SCHEMA_CHECK,
  showCheck,
} from '../gateways/schema.ts';
import { YAML_TYPES } from '../operation/large-bodies.ts';
import { MAX_DOMAIN_SCHEMA_OCTETS } from '../operation/limits.ts';
import { idOf } from '../operation/read-request.ts';
import { badRequest, forbidden, notFound, Refusal } from '../operation/refusal.ts';
import {
  type ApiRoute,
  type Beside,
  type Call,
  jsonText,
  type Operation,
  ok,
  operation,
  type Writing,
} from '../operation/route.ts';
import { RULE_SHAPES } from '../rules/shapes.ts';
import { bodyOf } from '../rules/show.ts';
import { type AskedPeriod, ENDS_QUERY, readPeriod } from '../traffic/period.ts';
import { changeRule } from './rules.ts';

const ONE = `/domains/{domain}/${typePath('gateway')}/{ruleId}`;

/** The operations in answers, and in the requests that replace them. */
const ANSWERED = (RULE_SHAPES.gateway.answer as z.ZodObject).shape['operations'] as z.ZodType;
const REQUESTED = z
  .object({ operations: (RULE_SHAPES.gateway.create as z.ZodObject).shape['operations'] as z.ZodType })
  .meta({ id: 'GatewayOperations', examples: [{ operations: RULE_FORMS.gateway.example['operations'] }] });

/** What a document may be sent as. */
const DOCUMENT_BODY = {
  kind: 'large',
  schema: z.string().describe('an OpenAPI document, 3.0 or later, as YAML or JSON'),
  types: ['application/json', ...YAML_TYPES, 'text/plain'],
} as const;

/** The operations and the document of a gateway. */
// biome-ignore format: a table is read in columns
export const GATEWAY_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: `${ONE}/operations/`, permission: 'domain.view', hides: true, ...listOperations() },
  { method: 'GET', path: `${ONE}/operations/discovered`, permission: 'domain.view', hides: true, gate: checkFeature('monitoring_enabled'), ...discoverOperations() },
  { method: 'PUT', path: `${ONE}/operations/`, permission: 'rules.edit', hides: true, ...replaceOperations() },
  { method: 'GET', path: `${ONE}/schema`, permission: 'domain.view', hides: true, ...readDocument() },
  { method: 'PUT', path: `${ONE}/schema`, permission: 'rules.edit', hides: true, ...replaceDocument() },
  { method: 'DELETE', path: `${ONE}/schema`, permission: 'rules.edit', hides: true, ...removeDocument() },
  { method: 'POST', path: `${ONE}/schema/check`, permission: 'domain.view', hides: true, asks: true, ...checkDocument() },
];

/** The gateway of the path. @throws Refusal 404 */
export async function gatewayOf({ tx, domain, params }: Beside): Promise<RuleRow> {
  const row = await tx.rules.get({ domain_id: domain.id, type: 'gateway', id: idOf(params['ruleId']) });
  if (row === null) throw notFound();
  return row;
}

function listOperations(): Operation {
  return operation({
    summary: 'The operations of a gateway, of the document and others',
    response: ANSWERED,
    async handle({ domain, latest, params }) {
      return ok(operationsOf(await gatewayOf({ tx: latest, domain, params })));
    },
  });
}

/** `GET …/operations/discovered`: runs in a compute thread. */
function discoverOperations(): Operation {
  return operation({
    summary: 'Operations that the traffic of a gateway shows and that the gateway does not have',
    query: z.object(ENDS_QUERY),
    response: DISCOVERED,
    async handle({ compute, domain, latest, now, params, query, services }) {
      const row = await gatewayOf({ tx: latest, domain, params });
      const retention = services.trafficRetention ?? USUAL_RETENTION;
      const period = readPeriod(query as AskedPeriod, { now, retention, steps: ['hour', 'day'] });
      const basePath = bodyOf(row)['base_path'] as string;
      const gateway = { id: row.id, base_path: basePath, operations: operationsOf(row) };
      const job = { kind: 'discover', domainId: domain.id, period, gateway } as const;
      return jsonText(await compute('discover', async () => job));
    },
  });
}

/** `PUT …/operations/`: all or none; `If-Match` is the ETag of the list. */
function replaceOperations(): Operation {
  return operation<unknown>({
    summary: 'Replace the operations of a gateway, those of its document too',
    body: { kind: 'raw', schema: REQUESTED },
    response: ANSWERED,
    async handle({ body, params, write }) {
      return write(async (w) => {
        const before = await gatewayOf({ tx: w.tx, domain: w.domain, params });
        if (w.conditional) w.match(operationsOf(before));
        const { operations } = onlyOperations(body);
        const { body: after } = await changeRule(w, { before, input: { operations }, action: 'rule.update' });
        return ok((after as { readonly operations: unknown }).operations);
      });
    },
  });
}

/** The body with `operations` alone. @throws Refusal 400 */
function onlyOperations(body: unknown): { readonly operations: unknown } {
  const fields = typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.keys(body) : [];
  if (fields.length !== 1 || fields[0] !== 'operations')
    throw badRequest('the body must be `{ "operations": […] }`');
  return body as { readonly operations: unknown };
}

function readDocument(): Operation {
  return operation({
    summary: 'The OpenAPI document of a gateway, as it was sent',
    response: z.string(),
    produces: YAML_TYPES[0],
    async handle({ domain, read, params }) {
      return read(async (tx) => {
        const row = await gatewayOf({ tx, domain, params });
        const found = await tx.gatewaySchemas.get(row.id);
        if (found === null) throw new Refusal(404, 'the gateway has no OpenAPI document');
        return {
          body: found.document,
          type: `${typeOf(found.document)}; charset=utf-8`,
          tagged: tagged(found),
        };
      });
    },
  });
}

/** The content type of a document: JSON, or else YAML. */
function typeOf(document: string): string {
  return /^\s*\{/.test(document) ? 'application/json' : YAML_TYPES[0];
}

/** What the ETag of a document is computed from. */
function tagged({ digest }: Pick<GatewaySchemaHead, 'digest'>): object {
  return { digest };
}

/** `PUT …/schema`: replaces the operations of the earlier document; those of other sources stay. */
function replaceDocument(): Operation {
  return operation<Buffer>({
    summary: 'Replace the OpenAPI document of a gateway, and the operations that it describes',
    body: DOCUMENT_BODY,
    response: SCHEMA_CHECK,
    statuses: [503],
    async handle(call) {
      const { domain, latest, params } = call;
      await gatewayOf({ tx: latest, domain, params });
      const read = await readDocumentOf(call);
      if (!read.ok) throw badRequest(mistakesText(read.diagnostics));
      return call.write((w) => storeDocument(w, { read, octets: call.body, params }));
    },
  });
}

/** Reads the body in a compute thread. @throws Refusal 400 for a long one */
async function readDocumentOf({ body, compute }: Call<Buffer>): Promise<OpenApiDocument> {
  if (body.length > MAX_SCHEMA_OCTETS) {
    throw badRequest(`the document must be at most ${MAX_SCHEMA_OCTETS} octets, found ${body.length}`);
  }
  return compute('schema', async () => ({ kind: 'schema', octets: body }));
}

/** A document to store. */
interface SentDocument {
  readonly read: Extract<OpenApiDocument, { readonly ok: true }>;
  readonly octets: Buffer;
  readonly params: Beside['params'];
}

/** Stores a document and its operations. @throws Refusal 400, 403, 404, 412 */
async function storeDocument(w: Writing, { read, octets, params }: SentDocument) {
  const { tx, domain, now } = w;
  const before = await gatewayOf({ tx, domain, params });
  const earlier = await tx.gatewaySchemas.head(before.id);
  // Without a document no `If-Match` is true, not even `*` (RFC 9110 §13.1.1): a condition that is not compared is a 412.
  if (earlier !== null) w.match(tagged(earlier));
  const others = await tx.gatewaySchemas.octetsOfOthers({ domain_id: domain.id, rule_id: before.id });
  if (others + octets.length > MAX_DOMAIN_SCHEMA_OCTETS) {
    const most = `the documents of a domain hold at most ${MAX_DOMAIN_SCHEMA_OCTETS} octets together`;
    throw forbidden(`${most}, and with this one there were ${others + octets.length}`);
  }
  const changes = compareSchema(operationsOf(before), read.operations);
  const input = { operations: changes.operations };
  await changeRule(w, { before, input, action: 'rule.update' });
  const after = {
    rule_id: before.id,
    domain_id: domain.id,
    digest: sha256Hex(octets),
    octets: octets.length,
    version: read.version,
    document: octets.toString(),
    updated_at: now,
  };
  if (earlier?.digest !== after.digest) {
    await tx.gatewaySchemas.put(after);
    const shown = earlier === null ? {} : { before: showHead(earlier) };
    await w.audit({
      action: 'gateway.schema',
      subject: `gateway/${before.id}`,
      ...shown,
      after: showHead(after),
    });
  }
  return { ...ok(showCheck(read, changes)), tagged: tagged(after) };
}

/**
 * `DELETE …/schema`: the operations of the document stay, as ones written by hand. Without operations a gateway takes every path, and
 * the removal of a document must not open one.
 */
function removeDocument(): Operation {
  return operation({
    summary: 'Delete the OpenAPI document of a gateway; its operations stay, with the source `manual`',
    response: z.object({ message: z.string() }),
    async handle({ params, write }) {
      return write(async (w) => {
        const before = await gatewayOf({ tx: w.tx, domain: w.domain, params });
        const earlier = await w.tx.gatewaySchemas.head(before.id);
        if (earlier === null) throw new Refusal(404, 'the gateway has no OpenAPI document');
        w.match(tagged(earlier));
        const operations = operationsOf(before).map(({ source, ...one }) =>
          source === 'schema' || source === undefined ? one : { ...one, source },
        );
        await changeRule(w, { before, input: { operations }, action: 'rule.update' });
        await w.tx.gatewaySchemas.remove({ rule_id: before.id, domain_id: w.domain.id });
        const subject = `gateway/${before.id}`;
        await w.audit({ action: 'gateway.schema', subject, before: showHead(earlier) });
        return ok({ message: `the OpenAPI document of ${subject} deleted` });
      });
    },
  });
}

/** A document in the audit log. */
function showHead({
  digest,
  octets,
  version,
}: Pick<GatewaySchemaHead, 'digest' | 'octets' | 'version'>): object {
  return { openapi: version, octets, digest };
}

/** `POST …/schema/check`: stores nothing. */
function checkDocument(): Operation {
  return operation<Buffer>({
    summary: 'Check an OpenAPI document: its mistakes, and which operations of the gateway it would change',
    body: DOCUMENT_BODY,
    response: SCHEMA_CHECK,
    async handle(call) {
      const { domain, latest, params } = call;
      const row = await gatewayOf({ tx: latest, domain, params });
      return ok(checkSchema(row, await readDocumentOf(call)));
    },
  });
}
