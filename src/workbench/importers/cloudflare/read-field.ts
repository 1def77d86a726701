/** Reads what an expression compares: a field with its key and index, and the functions around it. */
import type { CloudflareValue } from './parse-expression.ts';

/** A field as it is compared. */
export interface ReadField {
  /** Without key and index. */
  readonly name: string;
  /** `x` of `http.request.headers["x"]`. */
  readonly key: string | null;
  readonly index: number | 'each' | null;
  /** Letters are converted by `lower` or `upper`. */
  readonly folding: 'lower' | 'upper' | null;
  /** `url_decode` is around it. */
  readonly isDecoded: boolean;
  /** `len` is around it. */
  readonly isLength: boolean;
}

/** The field of a value; `null`: it is no field, or has other functions around it. */
export function readField(value: CloudflareValue): ReadField | null {
  if (value.kind === 'field') return plainField(value.name);
  if (value.kind !== 'call' || value.args.length !== 1) return null;
  const inner = readField(value.args[0]!);
  if (inner === null || inner.isLength) return null;
  if (value.name === 'len') return { ...inner, isLength: true };
  if ((value.name === 'lower' || value.name === 'upper') && inner.folding === null)
    return { ...inner, folding: value.name };
  // Escapes of letters are decoded after the conversion then.
  return value.name === 'url_decode' && inner.folding === null && !inner.isDecoded
    ? { ...inner, isDecoded: true }
    : null;
}

/** Name, key and index of a field as written. */
function plainField(text: string): ReadField | null {
  const [, name = '', , key, index] =
    /^([a-z_][a-z0-9_]*(?:\.[a-z0-9_]+)*)(\["((?:[^"\\]|\\.)*)"\])?(?:\[(\d{1,6}|\*)\])?$/i.exec(text) ?? [];
  if (name === '') return null;
  return {
    name,
    key: key === undefined ? null : key.replace(/\\(.)/g, '$1'),
    index: index === undefined ? null : index === '*' ? 'each' : Number(index),
    folding: null,
    isDecoded: false,
    isLength: false,
  };
}
