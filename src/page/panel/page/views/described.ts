/** Texts of messages and references: what is between backticks is code. */
import type { VNode } from 'preact';
import { html } from './html.ts';

/** The text, with its values in monospace. */
export function described(text: string): readonly (string | VNode)[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
