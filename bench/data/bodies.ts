/** Orders of some 2 KB with 30 objects each, and the schema of their operation. */

const ITEM = {
  type: 'object',
  required: ['sku', 'quantity', 'price'],
  properties: {
    sku: { type: 'string', minLength: 1, maxLength: 32 },
    quantity: { type: 'integer', minimum: 1, maximum: 1_000 },
    price: { type: 'number', minimum: 0 },
    gift: { type: 'boolean' },
    kind: { enum: ['book', 'toy', 'food'] },
  },
  additionalProperties: false,
};

/** The schema of an order. */
export const ORDER_SCHEMA = {
  type: 'object',
  required: ['id', 'customer', 'items'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 64 },
    customer: {
      type: 'object',
      required: ['name', 'email'],
      properties: { name: { type: 'string' }, email: { type: 'string', maxLength: 254 } },
      additionalProperties: false,
    },
    note: { type: ['string', 'null'] },
    items: { type: 'array', minItems: 1, maxItems: 100, items: { $ref: '#/$defs/item' } },
  },
  additionalProperties: false,
  $defs: { item: ITEM },
};

const ITEMS = 28;
const KINDS = ['book', 'toy', 'food'];

/** So many orders as JSON; those of `isValid: false` have one mistake each, at the end. */
export function orders(count: number, isValid: boolean): readonly string[] {
  return Array.from({ length: count }, (_, at) => JSON.stringify(orderOf(at, isValid)));
}

function orderOf(at: number, isValid: boolean) {
  const items = Array.from({ length: ITEMS }, (_, index) => ({
    ...{ sku: `sku-${1_000 + at + index}`, quantity: 1 + index, price: (at + index) * 1.25 },
    ...{ gift: (at + index) % 2 === 0, kind: KINDS[index % KINDS.length] },
  }));
  if (!isValid) items.at(-1)!.quantity = 0;
  const customer = { name: 'Ada Lovelace', email: `ada.${at}@example.com` };
  return { id: `order-${at}`, customer, note: at % 2 === 0 ? null : 'ring twice', items };
}
