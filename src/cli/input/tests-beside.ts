/** The name of the tests of an edge file. */

/** The default test file: `shop/edge.yaml` is tested by `shop/edge.test.yaml`. */
export function testsBeside(file: string): string {
  return `${file.replace(/\.(ya?ml|json)$/, '')}.test.yaml`;
}
