/** Accounts: created once for each key (RFC 8555 section 7.3), updated and deactivated. */
import { type Answer, accountOf, type Call } from './call.ts';
import { Problem } from './problem.ts';
import type { Account, State } from './state.ts';

/** Answers newAccount: 201, or 200 with the account that the key has. */
export function newAccount(state: State, call: Call): Answer {
  const { signer, payload } = call;
  if (signer === null || signer.account !== null || payload === null)
    throw new Problem('malformed', { detail: 'a new account is signed with its key' });
  const found = state.accountsByThumbprint.get(signer.thumbprint);
  if (found?.status === 'deactivated')
    throw new Problem('unauthorized', { detail: 'the account is deactivated', status: 401 });
  if (found !== undefined) return accountAnswer(found, 200);
  if (payload['onlyReturnExisting'] === true)
    throw new Problem('accountDoesNotExist', { detail: 'the key has no account' });
  if (payload['termsOfServiceAgreed'] !== true)
    throw new Problem('malformed', { detail: 'the terms of service must be agreed to' });
  const account: Account = {
    url: `${state.base}/account/${state.accounts.size + 1}`,
    key: signer.key,
    thumbprint: signer.thumbprint,
    contact: readContact(payload['contact']),
    status: 'valid',
  };
  state.accounts.set(account.url, account);
  state.accountsByThumbprint.set(account.thumbprint, account);
  state.records.accounts.push({ url: account.url, at: state.options.clock(), contact: account.contact });
  return accountAnswer(account, 201);
}

/** Reads or updates the account that signed. */
export function account(_state: State, call: Call): Answer {
  const found = accountOf(call);
  if (found.url !== call.url)
    throw new Problem('unauthorized', { detail: 'the account is another', status: 403 });
  if (call.payload?.['contact'] !== undefined) found.contact = readContact(call.payload['contact']);
  if (call.payload?.['status'] === 'deactivated') found.status = 'deactivated';
  return accountAnswer(found, 200);
}

function accountAnswer({ url, status, contact }: Account, code: number): Answer {
  return { status: code, headers: { location: url }, body: { status, contact, orders: `${url}/orders` } };
}

function readContact(contact: unknown): readonly string[] {
  if (contact === undefined) return [];
  if (Array.isArray(contact) && contact.every((one) => typeof one === 'string' && one.startsWith('mailto:')))
    return contact;
  throw new Problem('malformed', { detail: 'contact must be addresses that start with `mailto:`' });
}
