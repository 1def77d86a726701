/** The request form: its fields, and their form in the URL's fragment, from which a link opens the same view. */

/** The fields as typed; empty: not given. */
export interface RequestForm {
  readonly method: string;
  readonly url: string;
  readonly ip: string;
  readonly country: string;
  readonly asn: string;
  readonly agent: string;
  readonly bot: string;
  readonly ja4: string;
  readonly ja4h: string;
  /** `Name: value` on each line. */
  readonly headers: string;
  readonly body: string;
  /** The clock. */
  readonly at: string;
  /** The status that the origin answers with; `502:edge`: that the edge answers with. */
  readonly status: string;
  readonly node: string;
  /** Solved challenges, with spaces: `captcha/9`. */
  readonly cleared: string;
  /** Requests that rate limits have counted before, with spaces: `rate_limit/9=100`. */
  readonly counted: string;
  /** Origins that are down, with spaces: `80/0`. */
  readonly down: string;
}

export const EMPTY_FORM: RequestForm = {
  method: 'GET',
  url: '',
  ip: '',
  country: '',
  asn: '',
  agent: '',
  bot: '',
  ja4: '',
  ja4h: '',
  headers: '',
  body: '',
  at: '',
  status: '',
  node: '',
  cleared: '',
  counted: '',
  down: '',
};

/** The names of the fields. */
export const FIELDS = Object.keys(EMPTY_FORM) as readonly (keyof RequestForm)[];

/** The words of a field that lists several. */
export function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
