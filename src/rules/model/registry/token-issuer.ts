/** The form of token issuers: whose JSON Web Tokens gateways accept, and what of them names a consumer (semantics §15). */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import {
  MAX_AUDIENCES,
  MAX_CLOCK_SKEW_SEC,
  MAX_CREDENTIAL_SOURCES,
  MAX_ENTRY_CHARACTERS,
  MAX_ISSUER_KEYS,
  MAX_METADATA_CHARACTERS,
  MAX_REGISTRY_NAME,
  MAX_REQUIRED_CLAIMS,
  MAX_VALUE_NAME_CHARACTERS,
} from '../../../base/vocabulary/limits.ts';
import { TOKEN_ALGORITHMS } from '../../../base/vocabulary/vocabulary.ts';
import { checked, filledText, integer, list, shownAs, text, textList } from '../fields.ts';
import { type CrossCheck, crossCheck, form, type Stored } from '../form.ts';
import type { Problem } from '../report.ts';
import { algorithmsOf, publicJwk } from './jwk.ts';
import { ANSWERED, credentialSource, registryName, SOURCE_FIELDS, username } from './names.ts';

/** The values that claims must have, by name. */
function requiredClaims(): z.ZodType<Record<string, string | number | boolean>> {
  const values = z.record(z.string(), z.union([text(MAX_METADATA_CHARACTERS), z.number(), z.boolean()]));
  const read = checked(values, (given) => {
    const names = Object.keys(given);
    if (names.length > MAX_REQUIRED_CLAIMS) {
      const message = `must have at most ${MAX_REQUIRED_CLAIMS} claims`;
      return { code: 'too_many', message, found: `${names.length}` };
    }
    const wrong = names.find((name) => name === '' || name.length > MAX_VALUE_NAME_CHARACTERS);
    if (wrong === undefined) return null;
    const message = `must have names of 1 to ${MAX_VALUE_NAME_CHARACTERS} characters`;
    return { code: 'invalid_name', message, found: quoteValue(wrong) };
  });
  return shownAs(read, () => values.meta({ maxProperties: MAX_REQUIRED_CLAIMS }));
}

/** The name of a claim. */
function claim(): z.ZodString {
  return filledText(MAX_VALUE_NAME_CHARACTERS);
}

/** Where tokens are by default (RFC 6750 §2.1). */
const AUTHORIZATION = { in: 'header', name: 'Authorization' } as const;

/** The fields of a token issuer, by their names in the API. */
export const TOKEN_ISSUER_FIELDS = {
  name: registryName()
    .describe('name by which gateways refer to the issuer')
    .meta({ examples: ['auth0'] }),
  issuer: filledText(MAX_METADATA_CHARACTERS)
    .describe('`iss` of its tokens, compared character by character')
    .meta({ examples: ['https://login.example.com/'] }),
  audiences: checked(textList(MAX_AUDIENCES), (given) =>
    given.length > 0 ? null : { code: 'too_few', message: 'must have at least 1 entry', found: '0' },
  )
    .describe('`aud` of a token must have one of these')
    .meta({ examples: [['https://api.example.com']] }),
  jwks_url: checked(text(MAX_ENTRY_CHARACTERS), judgeJwksUrl)
    .nullable()
    .default(null)
    .describe('where the control plane fetches the keys of the issuer (JWKS, RFC 7517), by https')
    .meta({ examples: ['https://login.example.com/.well-known/jwks.json'] }),
  keys: list(publicJwk(), MAX_ISSUER_KEYS)
    .optional()
    .describe('public keys of the issuer (JWK, RFC 7517), in place of `jwks_url`')
    .meta({
      examples: [
        [
          {
            kty: 'OKP',
            crv: 'Ed25519',
            kid: '2026-11',
            x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          },
        ],
      ],
    }),
  algorithms: checked(list(z.enum(TOKEN_ALGORITHMS)), (given) =>
    given.length > 0 ? null : { code: 'too_few', message: 'must have at least 1 entry', found: '0' },
  )
    .default(['ES256', 'RS256', 'EdDSA'])
    .describe('algorithms of signatures that are accepted (RFC 7518 §3.1)')
    .meta({ examples: [['ES256']] }),
  sources: checked(list(credentialSource(), MAX_CREDENTIAL_SOURCES), (given) =>
    given.length > 0 ? null : { code: 'too_few', message: 'must have at least 1 entry', found: '0' },
  )
    .default([AUTHORIZATION])
    .describe('where requests have a token; in the header Authorization it follows `Bearer`')
    .meta({ examples: [[AUTHORIZATION, { in: 'cookie', name: 'session' }]] }),
  required_claims: requiredClaims()
    .default({})
    .describe('values that claims of a token must have, by name')
    .meta({ examples: [{ token_use: 'access' }] }),
  clock_skew_sec: integer(0, MAX_CLOCK_SKEW_SEC)
    .default(60)
    .describe("seconds by which the issuer's clock may differ, for `exp` and `nbf`")
    .meta({ examples: [30] }),
  consumer_claim: claim()
    .default('sub')
    .describe('claim that has the `custom_id` of a consumer, or its username')
    .meta({ examples: ['client_id'] }),
  consumer_prefix: filledText(MAX_REGISTRY_NAME)
    .nullable()
    .default(null)
    .describe(
      'text before the value of `consumer_claim`; the whole is the `custom_id` or the username of a consumer. It separates the names of issuers whose subjects are assigned independently; null: no prefix',
    )
    .meta({ examples: ['partner:'] }),
  scopes_claim: claim()
    .default('scope')
    .describe('claim that has the scopes: a text divided by blanks, or a list of texts')
    .meta({ examples: ['permissions'] }),
  default_consumer: username()
    .nullable()
    .default(null)
    .describe(
      'username of the consumer as which tokens that name no consumer act; null: such tokens are refused',
    )
    .meta({ examples: ['anybody'] }),
};

function judgeJwksUrl(value: string): Problem | null {
  const problem: Problem = {
    code: 'jwks_url',
    message: 'must be an address that starts with `https://`, without user name and fragment',
  };
  if (!/^https:\/\/[^\s\\]+$/i.test(value)) return problem;
  // A password in the address must not be in a message.
  if (/^https:\/\/[^/?#]*@/i.test(value)) return { ...problem, found: null };
  return URL.canParse(value) && !value.includes('#') ? null : problem;
}

/** A token issuer as it is stored. */
export type TokenIssuer = Stored<typeof TOKEN_ISSUER_FIELDS>;

/** Refuses an issuer without keys, and one with keys from two places. */
const keySources: CrossCheck = {
  ofAbsence: true,
  ...crossCheck<Pick<TokenIssuer, 'jwks_url' | 'keys'>>(['jwks_url', 'keys'], ({ jwks_url, keys }, scope) => {
    const listed = keys !== undefined && keys.length > 0;
    if (listed !== (jwks_url !== null)) return;
    const message = listed
      ? 'must not be beside `keys`'
      : 'is missing; it must be a list, unless there is `jwks_url`';
    const remedy = listed ? 'write one of the two' : 'list the public keys of the issuer in `keys`';
    scope.error([listed ? 'jwks_url' : 'keys'], { code: 'key_sources', message, found: null, remedy });
  }),
};

/** Refuses a key that none of the algorithms can use. */
const fittingKeys: CrossCheck = crossCheck<Pick<TokenIssuer, 'algorithms' | 'keys'>>(
  ['algorithms', 'keys'],
  ({ algorithms, keys = [] }, scope) => {
    for (const [index, key] of keys.entries()) {
      const fitting = algorithmsOf(key);
      if (fitting.some((algorithm) => algorithms.includes(algorithm))) continue;
      const names = fitting.map((name) => `\`${name}\``).join(', ');
      const message = 'is of a kind that none of `algorithms` uses';
      const remedy = `add one of ${names} to \`algorithms\`, or leave the key out`;
      scope.error(['keys', index], { code: 'invalid_jwk', message, found: null, remedy });
    }
  },
);

/** The form of a token issuer. */
export const tokenIssuerForm = form({
  fields: TOKEN_ISSUER_FIELDS,
  ignored: ANSWERED,
  nested: { sources: SOURCE_FIELDS },
  checks: [keySources, fittingKeys],
  finish: (values): TokenIssuer => values,
});
