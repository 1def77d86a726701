/** A whole response that the edge makes itself, in a form for any platform: Node, a Worker, a browser. */

/** Headers as a flat list: name, value, name, value, …; names in the case that was received. */
export type HeaderList = readonly string[];

/** A response of the edge's own. */
export interface EdgeAnswer {
  readonly status: number;
  /** Without `Content-Length`, which the platform adds. */
  readonly headers: HeaderList;
  /** Text is sent as UTF-8; `null`: no body. */
  readonly body: Uint8Array | string | null;
}
