/** Names in registries, and places of credentials: the fields that consumers, usage plans, token issuers and gateways share. */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { LOGGED_HEADERS } from '../../../base/http/secret-names.ts';
import { MAX_REGISTRY_NAME, MAX_VALUE_NAME_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { CREDENTIAL_PLACES } from '../../../base/vocabulary/vocabulary.ts';
import { checked, filledText, TOKEN, text } from '../fields.ts';
import type { Problem } from '../report.ts';

/** The name of a usage plan or a token issuer, by which others refer to it. */
export function registryName(): z.ZodString {
  return checked(text(), judgeRegistryName).meta({
    pattern: '^[a-z0-9][a-z0-9_-]*$',
    maxLength: MAX_REGISTRY_NAME,
  });
}

/** What is wrong with the name of a usage plan or a token issuer; `null`: nothing. */
export function judgeRegistryName(name: string): Problem | null {
  if (name.length <= MAX_REGISTRY_NAME && /^[a-z0-9][a-z0-9_-]*$/.test(name)) return null;
  const message = `must be at most ${MAX_REGISTRY_NAME} lower-case letters, digits, \`-\` and \`_\`, the first a letter or digit`;
  return { code: 'invalid_name', message };
}

/** The username of a consumer. */
export function username(): z.ZodString {
  return checked(text(), judgeUsername).meta({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._@-]*$',
    maxLength: MAX_REGISTRY_NAME,
  });
}

/** What is wrong with a username; `null`: nothing. */
export function judgeUsername(name: string): Problem | null {
  if (name.length <= MAX_REGISTRY_NAME && /^[A-Za-z0-9][A-Za-z0-9._@-]*$/.test(name)) return null;
  const message = `must be at most ${MAX_REGISTRY_NAME} ASCII letters, digits, \`.\`, \`_\`, \`@\` and \`-\`, the first a letter or digit`;
  return { code: 'invalid_name', message };
}

/** Fields of a place of a credential. */
const SOURCE = {
  in: z
    .enum(CREDENTIAL_PLACES)
    .describe('part of the request that has the credential')
    .meta({ examples: ['header'] }),
  name: filledText(MAX_VALUE_NAME_CHARACTERS)
    .describe('name of the header, query parameter or cookie')
    .meta({ examples: ['Authorization'] }),
};

/** Names of these fields, for suggestions. */
export const SOURCE_FIELDS: readonly string[] = Object.keys(SOURCE);

/** Where a request has a credential. */
export function credentialSource(): z.ZodObject<typeof SOURCE, z.core.$strict> {
  return checked(z.strictObject(SOURCE), (source) => {
    if (source.in === 'query') return null;
    const reserved = source.in === 'header' ? judgeCredentialHeader(source.name) : null;
    if (reserved !== null) return { ...reserved, found: quoteValue(source.name) };
    if (TOKEN.test(source.name)) return null;
    const kind = source.in === 'header' ? 'header' : 'cookie';
    return { code: 'invalid_token', message: `must have the name of a ${kind}`, found: null };
  });
}

/** Headers that frame and route a message, or that have several credentials. */
const RESERVED = /^(?:host|cookie|connection|content-length|transfer-encoding)$/i;

/** The problem of a header as the place of a credential, of a gateway or a token issuer; `null`: it has none. */
export function judgeCredentialHeader(name: string): Problem | null {
  const remedy = 'use a name such as `X-Api-Key`, or `in: cookie`';
  if (RESERVED.test(name)) return { code: 'reserved_header', message: 'is no header of credentials', remedy };
  if (!LOGGED_HEADERS.has(name.toLowerCase())) return null;
  const message = 'is a header whose values are logged, which credentials must not be';
  return { code: 'reserved_header', message, remedy };
}

/** Fields of the objects of a registry that only answers of the API carry; a request and a file may have them. */
export const ANSWERED = ['id', 'domain_id', 'created_at', 'updated_at'] as const;
