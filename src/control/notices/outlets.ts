/** The outlets of a server: its mail relay, its SMS gateway, and webhooks; and what sends codes to new addresses. */
import type { LookupFunction } from 'node:net';
import type { SpecialJudge } from '../../base/addresses/special-addresses.ts';
import { withDeadline } from '../../base/platform/deadline.ts';
import { type ContactChannel, codeLetter, codeSms } from './contact.ts';
import type { Senders } from './deliver.ts';
import { ATTEMPT_MS } from './limits.ts';
import type { SmsGatewayOptions, SmtpOptions } from './outlet-options.ts';
import type { SendOutcome } from './send.ts';
import { createEmailSender, letterMail, sendMail } from './send-email.ts';
import { createSmsSender, sendShortMessage } from './send-sms.ts';
import { createWebhookSender } from './send-webhook.ts';

/** What an operator has configured; `null`: the server has none. */
export interface OutletOptions {
  readonly smtp: SmtpOptions | null;
  readonly sms: SmsGatewayOptions | null;
  readonly special: SpecialJudge;
  /** Resolves names that an account, or the operator, has chosen. */
  readonly lookupFor: (owner: number | 'operator') => LookupFunction;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** One code to a new address. */
export interface CodeMessage {
  readonly to: string;
  /** The name of the account. */
  readonly account: string;
  readonly code: string;
  /** Identifies the message. */
  readonly id: string;
}

/** The outlets of a server. */
export interface Outlets {
  readonly senders: Senders;
  /** The senders of codes; `null`: the server has no such outlet. */
  readonly codes: Readonly<Record<ContactChannel, ((message: CodeMessage) => Promise<SendOutcome>) | null>>;
}

/** Creates the outlets. */
export function createOutlets({ special, lookupFor, clock, ...options }: OutletOptions): Outlets {
  const lookup = lookupFor('operator');
  const smtp = options.smtp === null ? null : { ...options.smtp, lookup };
  const sms = options.sms === null ? null : { ...options.sms, lookup };
  return {
    senders: {
      email: smtp === null ? null : createEmailSender(smtp),
      sms: sms === null ? null : createSmsSender(sms),
      webhook: createWebhookSender({ special, lookupFor, clock }),
    },
    codes: {
      email:
        smtp === null
          ? null
          : ({ to, account, code, id }) => {
              const envelope = { severity: 'info', account, link: null, kind: null, id } as const;
              const mail = letterMail(codeLetter(account, code), envelope);
              return withDeadline(ATTEMPT_MS, undefined, (signal) => sendMail(smtp, to, { ...mail, signal }));
            },
      sms:
        sms === null
          ? null
          : ({ to, account, code, id }) => {
              const text = codeSms(account, code);
              return withDeadline(ATTEMPT_MS, undefined, (signal) =>
                sendShortMessage(sms, { id, to, text }, signal),
              );
            },
    },
  };
}
