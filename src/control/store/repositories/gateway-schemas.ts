/** The OpenAPI documents of gateways. */
import { lockDomain } from '../database/lock-domain.ts';
import { int, one, type Session, statement } from '../database/statement.ts';
import type { GatewaySchemaRow } from '../tables/gateways.ts';

/** A document without its text. */
export type GatewaySchemaHead = Omit<GatewaySchemaRow, 'document'>;

const HEAD = ['rule_id', 'domain_id', 'digest', 'octets', 'version', 'updated_at'] as const;

const head = statement((builder, p: { rule_id: number }) =>
  builder.selectFrom('gateway_schemas').select(HEAD).where('rule_id', '=', p.rule_id),
);

const whole = statement((builder, p: { rule_id: number }) =>
  builder.selectFrom('gateway_schemas').selectAll().where('rule_id', '=', p.rule_id),
);

const others = statement((builder, p: { domain_id: number; rule_id: number }) =>
  builder
    .selectFrom('gateway_schemas')
    .select('octets')
    .where('domain_id', '=', p.domain_id)
    .where('rule_id', '<>', p.rule_id),
);

const put = statement((builder, p: GatewaySchemaRow) =>
  builder
    .insertInto('gateway_schemas')
    .values({
      rule_id: p.rule_id,
      domain_id: p.domain_id,
      digest: p.digest,
      octets: int(p.octets),
      version: p.version,
      document: p.document,
      updated_at: p.updated_at,
    })
    .onConflict((conflict) =>
      conflict.column('rule_id').doUpdateSet((row) => ({
        digest: row.ref('excluded.digest'),
        octets: row.ref('excluded.octets'),
        version: row.ref('excluded.version'),
        document: row.ref('excluded.document'),
        updated_at: row.ref('excluded.updated_at'),
      })),
    ),
);

const remove = statement((builder, p: { rule_id: number }) =>
  builder.deleteFrom('gateway_schemas').where('rule_id', '=', p.rule_id),
);

/** Documents of gateways. The caller has found the rule in its domain. */
export function gatewaySchemaReads(session: Session) {
  return {
    /** The document without its text; `null`: the gateway has none. */
    async head(ruleId: number): Promise<GatewaySchemaHead | null> {
      return one(session, head, { rule_id: ruleId });
    },
    /** The document; `null`: the gateway has none. */
    async get(ruleId: number): Promise<GatewaySchemaRow | null> {
      return one(session, whole, { rule_id: ruleId });
    },
    /** Octets of the documents of all gateways of a domain but one. */
    async octetsOfOthers({
      domain_id,
      rule_id,
    }: Pick<GatewaySchemaRow, 'domain_id' | 'rule_id'>): Promise<number> {
      await lockDomain(session, domain_id);
      return (await others(session, { domain_id, rule_id })).reduce((sum, { octets }) => sum + octets, 0);
    },
  };
}

/** Changes of documents; a gateway that is deleted loses its document. */
export function gatewaySchemaWrites(session: Session) {
  return {
    /** Stores the document of a gateway in the place of its earlier one. */
    async put(row: GatewaySchemaRow): Promise<void> {
      await lockDomain(session, row.domain_id);
      await put(session, row);
    },
    /** Removes the document of a gateway, which has one. */
    async remove({ rule_id, domain_id }: Pick<GatewaySchemaRow, 'rule_id' | 'domain_id'>): Promise<void> {
      await lockDomain(session, domain_id);
      await remove(session, { rule_id });
    },
  };
}
