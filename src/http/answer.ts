/** A whole answer that the edge makes itself, before any platform has it. */

/** Name, value, name, value …; names in the case they came in. */
export type HeaderList = readonly string[];

export interface EdgeAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array | string | null;
}
