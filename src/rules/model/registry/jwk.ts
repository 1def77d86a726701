/**
 * Public keys of token issuers as JSON Web Keys (RFC 7517, RFC 7518 §6, RFC 8037). In: a member of a JWKS. Out: the parts that a
 * check of signatures needs, or what is wrong. No message has a value of a key, which may be a private one.
 */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../../base/text/json-object.ts';
import {
  MAX_ENTRY_CHARACTERS,
  MAX_RSA_BITS,
  MAX_RSA_EXPONENT_BITS,
  MIN_RSA_BITS,
} from '../../../base/vocabulary/limits.ts';
import {
  type PublicJwk,
  TOKEN_ALGORITHMS,
  type TokenAlgorithm,
} from '../../../base/vocabulary/vocabulary.ts';
import { shownAs, text } from '../fields.ts';
import type { Problem } from '../report.ts';

/** Octets of a coordinate, by curve. */
const CURVES = { 'P-256': 32, 'P-384': 48, Ed25519: 32 } as const;

/** Algorithms that a key can check (RFC 7518 §3.1, RFC 8037 §3.1). */
export function algorithmsOf(key: PublicJwk): readonly TokenAlgorithm[] {
  const fitting = TOKEN_ALGORITHMS.filter((algorithm) => fits(key, algorithm));
  return key.alg === undefined ? fitting : fitting.filter((algorithm) => algorithm === key.alg);
}

function fits(key: PublicJwk, algorithm: TokenAlgorithm): boolean {
  if (key.kty === 'RSA') return algorithm.startsWith('RS') || algorithm.startsWith('PS');
  if (key.kty === 'OKP') return algorithm === 'EdDSA';
  return algorithm === (key.crv === 'P-256' ? 'ES256' : 'ES384');
}

/** Members of private and symmetric keys (RFC 7518 §6.2.2, §6.3.2, §6.4). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** A mistake of a key, and the member that has it. */
interface KeyProblem {
  readonly member: string | null;
  readonly problem: Problem;
}

/** Reads a key. Members that checks of signatures do not need, such as `x5c`, are left out (RFC 7517 §4). */
function readJwk(given: unknown): PublicJwk | KeyProblem {
  if (!isObject(given)) {
    const message = 'must be a JSON Web Key with `kty`';
    return { member: null, problem: { code: 'invalid_type', message, found: null } };
  }
  const secret = PRIVATE.find((member) => Object.hasOwn(given, member));
  if (secret !== undefined || given['kty'] === 'oct') return ofPrivate(secret ?? 'kty');
  const wrong = judgeNames(given) ?? judgeMembers(given);
  if (wrong !== null) return wrong;
  const { kty, kid, alg } = given;
  const members = MEMBERS[kty as PublicJwk['kty']];
  const parts = Object.fromEntries(members.map((member) => [member, given[member]]));
  return {
    kty,
    ...parts,
    ...(kid === undefined ? {} : { kid }),
    ...(alg === undefined ? {} : { alg }),
  } as PublicJwk;
}

function ofPrivate(member: string): KeyProblem {
  const message =
    member === 'kty'
      ? 'must be a public key, not a shared secret, with which each verifier of tokens can forge them'
      : 'must not be in a public key';
  const remedy = 'write the public key alone, and replace the private one, which was disclosed';
  return { member, problem: { code: 'private_key', message, found: null, remedy } };
}

/** Members by kind, beside `kty`, in the order of RFC 7518. */
const MEMBERS: Readonly<Record<PublicJwk['kty'], readonly string[]>> = {
  EC: ['crv', 'x', 'y'],
  RSA: ['n', 'e'],
  OKP: ['crv', 'x'],
};

function invalid(member: string, message: string, found: string | null = null): KeyProblem {
  return { member, problem: { code: 'invalid_jwk', message, found } };
}

/** The mistake of `kid`, `alg`, `use` or `key_ops`. */
function judgeNames({ kid, alg, use, key_ops: uses }: Readonly<Record<string, unknown>>): KeyProblem | null {
  if (
    kid !== undefined &&
    (typeof kid !== 'string' || kid.length > MAX_ENTRY_CHARACTERS || !kid.isWellFormed())
  )
    return invalid('kid', `must be a text of at most ${MAX_ENTRY_CHARACTERS} characters`);
  if (alg !== undefined && !(TOKEN_ALGORITHMS as readonly unknown[]).includes(alg)) {
    const names = TOKEN_ALGORITHMS.map((name) => `\`${name}\``).join(', ');
    return invalid('alg', `must be one of ${names}`, quoteValue(alg));
  }
  if (use !== undefined && use !== 'sig')
    return invalid('use', 'must be `sig`: other keys check no signatures', quoteValue(use));
  if (uses !== undefined && !(Array.isArray(uses) && uses.includes('verify')))
    return invalid('key_ops', 'must have `verify`');
  return null;
}

/** The mistake of `kty` and the members of its kind. */
function judgeMembers(given: Readonly<Record<string, unknown>>): KeyProblem | null {
  const { kty, crv, alg } = given;
  if (kty !== 'EC' && kty !== 'RSA' && kty !== 'OKP')
    return invalid('kty', 'must be `EC`, `RSA` or `OKP`', kty === undefined ? null : quoteValue(kty));
  if (kty !== 'RSA') {
    const curves = kty === 'EC' ? ['P-256', 'P-384'] : ['Ed25519'];
    if (!curves.includes(crv as string)) {
      const names = curves.map((curve) => `\`${curve}\``).join(' or ');
      return invalid('crv', `must be ${names}`, crv === undefined ? null : quoteValue(crv));
    }
    const octets = CURVES[crv as keyof typeof CURVES];
    for (const member of kty === 'EC' ? ['x', 'y'] : ['x'])
      if (octetsOf(given[member]) !== octets) return invalid(member, `must be ${octets} octets as base64url`);
  } else {
    const wrong = judgeRsa(given);
    if (wrong !== null) return wrong;
  }
  const key = { kty, crv } as PublicJwk;
  if (alg === undefined || fits(key, alg as TokenAlgorithm)) return null;
  const names = TOKEN_ALGORITHMS.filter((name) => fits(key, name)).map((name) => `\`${name}\``);
  return invalid('alg', `must be ${names.join(', ')} with a key of this kind`, quoteValue(alg));
}

function judgeRsa({ n, e }: Readonly<Record<string, unknown>>): KeyProblem | null {
  const bits = bitsOf(n);
  if (bits < 0) return invalid('n', 'must be the modulus as base64url');
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS)
    return invalid('n', `must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`, `${bits} bits`);
  const exponent = bitsOf(e);
  if (exponent < 2 || exponent > MAX_RSA_EXPONENT_BITS)
    return invalid('e', `must be the exponent as base64url, of 2 to ${MAX_RSA_EXPONENT_BITS} bits`);
  return null;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Octets of an unpadded base64url text (RFC 4648 §5); -1 of any other value. */
function octetsOf(value: unknown): number {
  if (typeof value !== 'string' || value.length % 4 === 1 || !/^[A-Za-z0-9_-]+$/.test(value)) return -1;
  return Math.floor((value.length * 3) / 4);
}

/** Bits of a number as octets in base64url, without leading zeros; -1 of a value that is no base64url. */
function bitsOf(value: unknown): number {
  const octets = octetsOf(value);
  if (octets < 0) return -1;
  const digits = value as string;
  let zeros = 0;
  for (const digit of digits) {
    const bits = ALPHABET.indexOf(digit);
    zeros += bits === 0 ? 6 : Math.clz32(bits) - 26;
    if (bits !== 0) break;
  }
  return Math.max(0, octets * 8 - zeros);
}

/** The schema of a key. */
export function publicJwk(): z.ZodType<PublicJwk> {
  const schema = z.unknown().transform((value, context): PublicJwk => {
    const read = readJwk(value);
    if (!('problem' in read)) return read;
    context.issues.push({
      code: 'custom',
      input: value,
      message: read.problem.message,
      params: { ...read.problem },
      path: read.member === null ? [] : [read.member],
    });
    return z.NEVER;
  });
  const part = (of: string, example: string) =>
    text(MAX_ENTRY_CHARACTERS)
      .optional()
      .describe(of)
      .meta({ examples: [example] });
  const shown = z.object({
    kty: z
      .enum(['EC', 'RSA', 'OKP'])
      .describe('kind of the key')
      .meta({ examples: ['OKP'] }),
    crv: z
      .enum(['P-256', 'P-384', 'Ed25519'])
      .optional()
      .describe('curve, of kinds EC and OKP')
      .meta({ examples: ['Ed25519'] }),
    x: part('coordinate as base64url, of kinds EC and OKP', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'),
    y: part('coordinate as base64url, of kind EC', 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'),
    n: part(
      'modulus as base64url, of kind RSA, 2,048 bits or more',
      'sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri',
    ),
    e: part('exponent as base64url, of kind RSA', 'AQAB'),
    kid: part('name of the key in tokens', '2026-11'),
    alg: z
      .enum(TOKEN_ALGORITHMS)
      .optional()
      .describe('the one algorithm that the key is for')
      .meta({ examples: ['EdDSA'] }),
  });
  return shownAs(schema, () => shown) as unknown as z.ZodType<PublicJwk>;
}
