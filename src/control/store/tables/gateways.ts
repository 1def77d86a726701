/** OpenAPI documents of gateways (semantics §15), as they were sent. */
import { integer, type RowOf, table, text, time } from './describe.ts';
import { domains } from './domains.ts';
import { rules } from './rules.ts';

/** Documents by the rule of the gateway. */
export const gatewaySchemas = table(
  'gateway_schemas',
  25,
  {
    rule_id: integer().key().references(rules, 'cascade'),
    domain_id: integer().references(domains, 'cascade'),
    /** SHA-256 of the document's UTF-8 text, lower-case hex. */
    digest: text(),
    /** Of that text. */
    octets: integer(),
    /** `openapi` of the document. */
    version: text(),
    document: text(),
    updated_at: time(),
  },
  { indexes: { gateway_schemas_by_domain: ['domain_id'] } },
);

/** The document of a gateway. */
export interface GatewaySchemaRow extends RowOf<typeof gatewaySchemas> {}
