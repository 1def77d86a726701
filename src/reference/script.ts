/**
 * The script of the pages: finds entries of the navigation, opens what a link leads to, marks the current entry. It is
 * text since browsers run it; plain ECMAScript 2020.
 */
export const SCRIPT = `'use strict';
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

function filter() {
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
  found.textContent = words.length === 0 ? '' : count === 1 ? '1 entry' : count + ' entries';
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
