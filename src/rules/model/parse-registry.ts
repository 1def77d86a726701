/** Parses a registry or one of its objects, as the API has them, into stored values or all mistakes. Nothing here throws. */

import { readForm } from './form.ts';
import { collect, type Parsed, type StoredOption } from './parse.ts';
import { type ConsumerSettings, consumerForm } from './registry/consumer.ts';
import { type Registry, readRegistry } from './registry/registry.ts';
import { type TokenIssuer, tokenIssuerForm } from './registry/token-issuer.ts';
import { type UsagePlan, usagePlanForm } from './registry/usage-plan.ts';

/** Reads a consumer without keys, which the API has as objects of their own. */
export function parseConsumer(
  input: unknown,
  { stored = false }: StoredOption = {},
): Parsed<'consumer', ConsumerSettings> {
  return collect('consumer', input, (plain, reading) =>
    readForm(consumerForm, plain, { ...reading, path: [], stored }),
  );
}

/** Reads a usage plan. */
export function parseUsagePlan(
  input: unknown,
  { stored = false }: StoredOption = {},
): Parsed<'plan', UsagePlan> {
  return collect('plan', input, (plain, reading) =>
    readForm(usagePlanForm, plain, { ...reading, path: [], stored }),
  );
}

/** Reads a token issuer. */
export function parseTokenIssuer(
  input: unknown,
  { stored = false }: StoredOption = {},
): Parsed<'issuer', TokenIssuer> {
  return collect('issuer', input, (plain, reading) =>
    readForm(tokenIssuerForm, plain, { ...reading, path: [], stored }),
  );
}

/** Reads the lists of a registry: `{ consumers, usage_plans, token_issuers }`. */
export function parseRegistry(input: unknown): Parsed<'registry', Registry> {
  return collect('registry', input, (plain, reading) => readRegistry(plain, { ...reading, path: [] }));
}
