/** The options of `edgeplan serve` for certificates that it obtains by ACME. */
import { InvalidArgumentError, Option } from 'commander';
import { USUAL_ORDERS } from '../control/certificates/issuance/limits.ts';
import { usageFault } from './exit.ts';
import { isHttpUrl } from './node-settings.ts';

/** The flags, as commander parses them. */
export interface IssuerFlags {
  readonly acme?: string;
  readonly acmeEmail?: string;
  readonly acmeOrders?: number;
}

/** The CA of a server. */
export interface IssuerSettings {
  /** The address of the directory (RFC 8555 §7.1.1). */
  readonly directory: string;
  /** The account's address for mail of the CA; `null`: none. */
  readonly email: string | null;
  /** Orders in three hours, at most. */
  readonly orders: number;
}

/** Orders in three hours, at most, that the option takes. */
const MOST_ORDERS = 1_000_000;

/** The options, for the help's heading `Certificates:`. */
export function issuerOptions(): readonly Option[] {
  return [
    new Option(
      '--acme <url>',
      'obtain certificates for proxied names by ACME from this directory; accepts the terms of its CA',
    ).env('EDGEPLAN_ACME'),
    new Option('--acme-email <address>', 'contact address for the CA').env('EDGEPLAN_ACME_EMAIL'),
    new Option('--acme-orders <number>', `orders in three hours, at most (default: ${USUAL_ORDERS})`)
      .argParser(readOrders)
      .env('EDGEPLAN_ACME_ORDERS'),
  ];
}

/** The CA that the flags name; `undefined`: none. @throws CommandFault for flags that do not go together */
export function readIssuer({ acme, acmeEmail, acmeOrders }: IssuerFlags): IssuerSettings | undefined {
  if (acme === undefined) {
    if (acmeEmail === undefined && acmeOrders === undefined) return undefined;
    const flag = acmeEmail === undefined ? '--acme-orders' : '--acme-email';
    throw usageFault(`${flag} has no effect without --acme`, 'name the directory of the CA');
  }
  if (!isHttpUrl(acme)) throw usageFault(`--acme: a directory is an address of http(s), found \`${acme}\``);
  return { directory: acme, email: acmeEmail ?? null, orders: acmeOrders ?? USUAL_ORDERS };
}

function readOrders(text: string): number {
  const orders = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (orders >= 1 && orders <= MOST_ORDERS) return orders;
  throw new InvalidArgumentError(`a whole number from 1 to ${MOST_ORDERS}.`);
}
