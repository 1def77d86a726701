/** A member of a collection: an argument, a header, a cookie, a TX variable. */

/** A name and its value, both Latin-1. Several members of a collection may have the same name. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}
