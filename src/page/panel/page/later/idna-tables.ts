/** `tr46` as a chunk with named exports; the package is a CommonJS one, which has none. */
export { toASCII } from 'tr46';
