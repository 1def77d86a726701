/** Orders (RFC 8555 section 7.4): names are checked as public authorities do, `replaces` as RFC 9773 section 5 says. */
import { authorize, isSpent } from './authorizations.ts';
import { type Answer, accountOf, type Call, owned } from './call.ts';
import { Problem, type Subproblem } from './problem.ts';
import { readSigningRequest, type SigningRequest } from './signing-request.ts';
import { type Account, dateText, type Issued, type Order, type State } from './state.ts';

const EXPIRES_MS = 7 * 86_400_000;
const MAX_NAMES = 100;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/** Answers newOrder. */
export function newOrder(state: State, call: Call): Answer {
  const account = accountOf(call);
  const { faults, options, records } = state;
  const { rateLimit } = faults;
  if (rateLimit !== null && rateLimit.left > 0) {
    rateLimit.left--;
    const { retryAfter } = rateLimit;
    throw new Problem('rateLimited', { detail: 'too many new orders', status: 429, retryAfter });
  }
  const names = readNames(state, call.payload?.['identifiers']);
  const replaces = readReplaced(state, { account, names, certId: call.payload?.['replaces'] });
  const now = options.clock();
  const id = String(state.orders.size + 1);
  const order: Order = {
    id,
    url: `${state.base}/order/${id}`,
    account,
    names,
    replaces,
    authorizations: names.map((name) => authorize(state, { account, name })),
    expires: now + EXPIRES_MS,
    certificateUrl: null,
    processingPolls: 0,
  };
  state.orders.set(order.url, order);
  records.orders.push({ url: order.url, at: now, names, replaces });
  return orderAnswer(state, { order, status: 201 });
}

/** Reads an order. */
export function order(state: State, call: Call): Answer {
  const found = owned(state.orders.get(call.url), call);
  const answer = orderAnswer(state, { order: found, status: 200 });
  if (found.processingPolls > 0) found.processingPolls--;
  return answer;
}

/** Issues the certificate of an order whose authorizations are valid. */
export function finalize(state: State, call: Call): Answer {
  const found = owned(state.orders.get(call.url.replace('/finalize/', '/order/')), call);
  const status = statusOf(state, found);
  if (status !== 'ready')
    throw new Problem('orderNotReady', { detail: `the order is ${status}`, status: 403 });
  const request = readRequest(call);
  if (request.names.join() !== [...found.names].sort().join())
    throw new Problem('badCSR', {
      detail: `the request is for \`${request.names.join(', ')}\`, which the order is not`,
    });
  if (request.key.equals(found.account.key))
    throw new Problem('badCSR', { detail: 'the key of an account cannot be that of a certificate' });
  issue(state, { order: found, request });
  return orderAnswer(state, { order: found, status: 200 });
}

function issue(
  state: State,
  { order, request }: { readonly order: Order; readonly request: SigningRequest },
): void {
  const { options, records } = state;
  const at = options.clock();
  // A certificate has whole seconds.
  const notBefore = Math.floor((at - 3_600_000) / 1_000) * 1_000;
  const notAfter = Math.floor((notBefore + options.lifeMs) / 1_000) * 1_000;
  const { key, keyInfo } = request;
  const { names, replaces, url: orderUrl, account } = order;
  const { serial, certId, pem } = state.issuer.issue({ names, key, keyInfo, notBefore, notAfter });
  const issued: Issued = {
    names,
    serial,
    certId,
    at,
    notBefore,
    notAfter,
    replaces,
    orderUrl,
    accountUrl: account.url,
    pem,
    revokedAt: null,
  };
  order.certificateUrl = `${state.base}/certificate/${order.id}`;
  order.processingPolls = state.faults.processingPolls;
  records.issued.push(issued);
  state.certificates.set(order.certificateUrl, issued);
  state.issuedByCertId.set(certId, issued);
  if (replaces !== null) state.replaced.add(replaces);
}

function statusOf(state: State, { certificateUrl, processingPolls, authorizations, expires }: Order): string {
  if (certificateUrl !== null) return processingPolls > 0 ? 'processing' : 'valid';
  const now = state.options.clock();
  if (expires <= now || authorizations.some((one) => isSpent(one, now))) return 'invalid';
  return authorizations.every(({ status }) => status === 'valid') ? 'ready' : 'pending';
}

function orderAnswer(
  state: State,
  { order, status }: { readonly order: Order; readonly status: number },
): Answer {
  const found = statusOf(state, order);
  const body = {
    status: found,
    expires: dateText(order.expires),
    identifiers: order.names.map((value) => ({ type: 'dns', value })),
    authorizations: order.authorizations.map(({ url }) => url),
    finalize: `${state.base}/finalize/${order.id}`,
    ...(found === 'valid' ? { certificate: order.certificateUrl } : {}),
    ...(order.replaces === null ? {} : { replaces: order.replaces }),
  };
  const retry = found === 'processing' ? { 'retry-after': 1 } : {};
  return { status, headers: { location: order.url, ...retry }, body };
}

function readRequest({ payload }: Call): SigningRequest {
  const csr = payload?.['csr'];
  if (typeof csr !== 'string') throw new Problem('badCSR', { detail: 'the signing request is missing' });
  try {
    return readSigningRequest(Buffer.from(csr, 'base64url'));
  } catch (error) {
    throw new Problem('badCSR', { detail: (error as Error).message });
  }
}

/** The names of an order, each once; throws if one is refused, with a subproblem for each that is. */
function readNames(state: State, identifiers: unknown): readonly string[] {
  const { maxNames = MAX_NAMES } = state.options;
  if (!Array.isArray(identifiers) || identifiers.length === 0)
    throw new Problem('malformed', { detail: 'the order has no identifiers' });
  if (identifiers.some((one) => one?.type !== 'dns' || typeof one.value !== 'string'))
    throw new Problem('malformed', { detail: 'an identifier is no DNS name' });
  const names: readonly string[] = [...new Set<string>(identifiers.map(({ value }) => value))];
  if (names.length > maxNames)
    throw new Problem('malformed', { detail: `the order has ${names.length} names, more than ${maxNames}` });
  const redundant = names.find(
    (name) => names.includes(`*${name.slice(name.indexOf('.'))}`) && !name.startsWith('*'),
  );
  if (redundant !== undefined)
    throw new Problem('malformed', { detail: `\`${redundant}\` is redundant with a wildcard of the order` });
  const refused = names.flatMap((name) => refusalOf(state, name) ?? []);
  const [first] = refused;
  if (first === undefined) return names;
  const detail = refused.length === 1 ? first.detail : `${refused.length} names are refused`;
  throw new Problem(first.type, { detail, subproblems: refused, status: 400 });
}

function refusalOf(state: State, name: string): Subproblem | null {
  const bare = name.startsWith('*.') ? name.slice(2) : name;
  const labels = bare.split('.');
  const isName = bare.length <= 253 && labels.length >= 2 && labels.every((label) => LABEL.test(label));
  if (!isName || /^\d+$/.test(labels.at(-1) ?? ''))
    return { name, type: 'rejectedIdentifier', detail: `\`${name}\` is no name that can have a certificate` };
  const refusal = state.faults.refuse?.(name) ?? null;
  if (refusal?.at !== 'order') return null;
  return { name, type: refusal.type ?? 'rejectedIdentifier', detail: refusal.detail };
}

interface Replacement {
  readonly account: Account;
  readonly names: readonly string[];
  readonly certId: unknown;
}

/** The certificate that the order replaces: of the same account, sharing a name, and not replaced before. */
function readReplaced(state: State, { account, names, certId }: Replacement): string | null {
  if (certId === undefined) return null;
  const found = state.issuedByCertId.get(String(certId));
  if (found === undefined || found.accountUrl !== account.url)
    throw new Problem('malformed', { detail: `no certificate of the account is \`${certId}\`` });
  if (!found.names.some((name) => names.includes(name)))
    throw new Problem('malformed', {
      detail: 'the order shares no name with the certificate that it replaces',
    });
  if (state.replaced.has(found.certId))
    throw new Problem('alreadyReplaced', { detail: `\`${certId}\` is replaced already`, status: 409 });
  return found.certId;
}
