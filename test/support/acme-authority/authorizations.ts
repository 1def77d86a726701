/** Authorizations and their challenges (RFC 8555 sections 7.5 and 8): http-01 and dns-01, checked by the test's function. */
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, type Call, owned } from './call.ts';
import { problemDocument } from './problem.ts';
import {
  type Account,
  type Authorization,
  type Challenge,
  type ChallengeType,
  dateText,
  type State,
} from './state.ts';

/** How long an authorization can be tried. */
const PENDING_MS = 7 * 86_400_000;

/** An authorization of a name (with `*.`) for an order: one that is valid still, if they are reused, or a new one. */
export function authorize(
  state: State,
  { account, name }: { readonly account: Account; readonly name: string },
): Authorization {
  const isWildcard = name.startsWith('*.');
  const base = isWildcard ? name.slice(2) : name;
  const now = state.options.clock();
  if ((state.options.reuseMs ?? 0) > 0) {
    for (const one of state.authorizations.values()) {
      const isSame = one.account === account && one.name === base && one.isWildcard === isWildcard;
      if (isSame && one.status === 'valid' && one.expires > now) return one;
    }
  }
  const authorization: Authorization = {
    url: `${state.base}/authorization/${state.authorizations.size + 1}`,
    account,
    name: base,
    isWildcard,
    challenges: [],
    status: 'pending',
    expires: now + PENDING_MS,
  };
  const types: readonly ChallengeType[] = isWildcard ? ['dns-01'] : ['http-01', 'dns-01'];
  authorization.challenges = types.map((type) => createChallenge(state, { authorization, type }));
  state.authorizations.set(authorization.url, authorization);
  return authorization;
}

function createChallenge(
  state: State,
  { authorization, type }: Pick<Challenge, 'authorization' | 'type'>,
): Challenge {
  const challenge: Challenge = {
    url: `${state.base}/challenge/${state.challenges.size + 1}`,
    type,
    token: randomBytes(32).toString('base64url'),
    authorization,
    status: 'pending',
    validatedAt: null,
    error: null,
  };
  state.challenges.set(challenge.url, challenge);
  return challenge;
}

/** Whether an authorization can no longer become or remain valid. */
export function isSpent(authorization: Authorization, now: number): boolean {
  return (
    authorization.status === 'invalid' ||
    authorization.status === 'deactivated' ||
    authorization.expires <= now
  );
}

/** Reads an authorization, or deactivates it. */
export function authorization(state: State, call: Call): Answer {
  const found = owned(state.authorizations.get(call.url), call);
  if (call.payload?.['status'] === 'deactivated' && !isSpent(found, state.options.clock()))
    found.status = 'deactivated';
  const isExpired = found.expires <= state.options.clock() && found.status !== 'invalid';
  const body = {
    identifier: { type: 'dns', value: found.name },
    status: isExpired ? 'expired' : found.status,
    expires: dateText(found.expires),
    challenges: found.challenges.map(challengeDocument),
    ...(found.isWildcard ? { wildcard: true } : {}),
  };
  return { status: 200, body, headers: found.status === 'pending' ? { 'retry-after': 1 } : {} };
}

/** Reads a challenge, or starts its validation if there is a payload. */
export function challenge(state: State, call: Call): Answer {
  const found = state.challenges.get(call.url);
  const { url, status } = owned(found?.authorization, call);
  if (found === undefined) throw new Error('a challenge without an authorization');
  const isOpen = status === 'pending' && !isSpent(found.authorization, state.options.clock());
  if (call.payload !== null && isOpen && found.status === 'pending') {
    found.status = 'processing';
    const work = validate(state, found).finally(() => state.validating.delete(work));
    state.validating.add(work);
  }
  return { status: 200, body: challengeDocument(found), headers: { link: `<${url}>;rel="up"` } };
}

async function validate(state: State, found: Challenge): Promise<void> {
  const { authorization, type, token } = found;
  const { name, account } = authorization;
  const keyAuthorization = `${token}.${account.thumbprint}`;
  const digest = createHash('sha256').update(keyAuthorization).digest('base64url');
  const refused = state.faults.refuse?.(name) ?? null;
  const refusal = refused?.at === 'validation' ? refused : null;
  const reason =
    refusal !== null
      ? refusal.detail
      : await state.options.resolve({ type, name, token, keyAuthorization, digest }).catch(String);
  const at = state.options.clock();
  if (authorization.status !== 'pending') return;
  if (reason === null) {
    found.status = 'valid';
    found.validatedAt = at;
    authorization.status = 'valid';
    authorization.expires = at + (state.options.reuseMs || PENDING_MS);
    return;
  }
  found.status = 'invalid';
  found.error = problemDocument(refusal?.type ?? 'unauthorized', reason);
  authorization.status = 'invalid';
  state.records.failedValidations.push({ name, type, at, reason });
}

function challengeDocument({
  url,
  type,
  token,
  status,
  validatedAt,
  error,
}: Challenge): Record<string, unknown> {
  return {
    url,
    type,
    token,
    status,
    ...(validatedAt === null ? {} : { validated: dateText(validatedAt) }),
    ...(error === null ? {} : { error }),
  };
}
