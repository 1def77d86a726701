/** Templates of the page: htm's tagged templates, which make Preact's nodes and need no `eval`. */
import htm from 'htm';
import { h, type VNode } from 'preact';

/** Makes the node of a template with one root. */
type Template = (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;

// The types of htm are those of its CommonJS file; bundlers take the module.
export const html = (htm as unknown as { bind(create: typeof h): Template }).bind(h);
