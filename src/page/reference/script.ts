/**
 * The script of the pages: finds entries of the navigation by name, field, parameter and status, opens what a link leads to, marks the current entry. It is
 * text since browsers run it; plain ECMAScript 2020.
 */
export const SCRIPT = `'use strict';
const NOTHING = 'Nothing of this name. The search of your browser (Ctrl-F) covers the descriptions too.';
const find = document.getElementById('find');
const found = document.getElementById('found');
const headings = [...document.querySelectorAll('.contents h2')];
const groups = [...document.querySelectorAll('.contents details')];
const entries = [...document.querySelectorAll('.contents li a')].map((link) => ({
  link,
  item: link.parentElement,
  group: link.closest('details'),
  text: (link.textContent + ' ' + (link.dataset.find || '') + ' ' + (link.closest('details')?.firstChild.textContent || '')).toLowerCase(),
}));
let current = null;
let isComplete = false;

/** Adds to each entry the names of its fields and parameters, its statuses, and the fields of the objects that it refers to. */
function complete() {
  if (isComplete) return;
  isComplete = true;
  const byId = (hash) => document.getElementById(decodeURIComponent(hash.slice(1)));
  for (const entry of entries) {
    const section = entry.link.hash === '' ? null : byId(entry.link.hash);
    if (section === null) continue;
    const objects = [...section.querySelectorAll('a.schema')].map(({ hash }) => byId(hash)).filter((one) => one !== null);
    const names = [section, ...objects].flatMap((part) => [...part.querySelectorAll('.name, .status')]);
    const texts = section.matches('.prose') ? [section] : names;
    entry.text += ' ' + [...new Set(texts.map(({ textContent }) => textContent.toLowerCase()))].join(' ');
  }
}

function filter() {
  complete();
  const words = find.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const shown = new Map();
  let count = 0;
  for (const { item, group, text } of entries) {
    const matches = words.every((word) => text.includes(word));
    item.hidden = !matches;
    if (!matches) continue;
    count++;
    shown.set(group, true);
  }
  for (const heading of headings) heading.hidden = words.length > 0;
  for (const group of groups) {
    group.hidden = !shown.has(group);
    group.open = words.length > 0 ? shown.has(group) : group.contains(current);
  }
  const result = count === 0 ? NOTHING : count === 1 ? '1 entry' : count + ' entries';
  found.textContent = words.length === 0 ? '' : result;
}

function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target === null) return;
  for (let at = target; at !== null; at = at.parentElement) if (at.localName === 'details') at.open = true;
  target.scrollIntoView();
  mark(target);
}

function mark(target) {
  const section = target.closest('section[id]');
  const entry = entries.find(({ link }) => section !== null && link.hash === '#' + section.id);
  if (entry === undefined) return;
  current?.removeAttribute('aria-current');
  current = entry.link;
  current.setAttribute('aria-current', 'true');
  if (entry.group !== null) entry.group.open = true;
}

if (find !== null) {
  find.parentElement.classList.add('usable');
  find.addEventListener('input', filter);
  find.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') { find.value = ''; filter(); }
    if (event.key === 'Enter') entries.find(({ item, link }) => !item.hidden && link.offsetParent !== null)?.link.click();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(?:input|textarea)$/.test(document.activeElement.localName)) return;
    event.preventDefault();
    document.getElementById('menu').checked = true;
    find.focus();
  });
}
document.querySelector('.contents').addEventListener('click', (event) => {
  if (event.target.closest('a') !== null) document.getElementById('menu').checked = false;
});
addEventListener('hashchange', follow);
if (location.hash !== '') follow();
`;
